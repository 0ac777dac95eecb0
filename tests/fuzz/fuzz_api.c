/* Fuzzes what the API checks before a handler runs: the parameters of a query against the table
 * of each endpoint, and the members of a body against the schema of each. Whatever the input, it
 * is accepted with values within the bounds, or refused with the part at fault. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "http/url.h"
#include "server/api/api.h"
#include "server/api/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth)
{
    if (!truth)
        abort();
}

/* Jobs are looked up in a yard, which there is none of here. */
static bool names_job(const struct endpoint *e)
{
    for (const struct api_query *q = e->query; q && q->name; q++)
        if (q->type == QUERY_JOB)
            return true;
    return false;
}

static void check_values(const struct endpoint *e, const struct api_value *values)
{
    for (size_t i = 0; e->query && e->query[i].name; i++) {
        const struct api_query *q = &e->query[i];
        const struct api_value *v = &values[i];
        require(v->given == (v->text != NULL));
        if (!v->given)
            require(v->number == q->fallback);
        else if (q->type == QUERY_INTEGER)
            require(v->number >= q->min && v->number <= q->max);
        else if (q->type == QUERY_SET)
            require(v->number > 0);
    }
}

static void try_query(const struct endpoint *e, const struct url_query *query)
{
    struct api_value values[API_QUERIES];
    const char *field = NULL;
    struct err err = {0};
    if (!names_job(e) && api_query_read(e, NULL, query, values, &field, &err) == 0)
        check_values(e, values);
    else if (!names_job(e))
        require(field && err.code == ERR_INVALID && err.text[0]);
}

static void try_body(const struct endpoint *e, const json_t *body)
{
    const struct api_schema *schema = e->body ? api_schema_find(e->body) : NULL;
    const char *field = NULL;
    struct err err = {0};
    if (!schema || schema->kind == API_JOB_REQUEST)
        return;
    if (api_check_object(schema, body, &field, &err) < 0) {
        require(field && err.code == ERR_INVALID && err.text[0]);
        return;
    }
    for (const struct api_member *m = schema->members; m->name; m++)
        require(api_member_optional(m) || json_object_get(body, m->name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct url_query query = {0};
    struct err err;
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    json_t *body = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    bool parsed = strlen(text) == size && url_parse_query(text, &query, &err) == 0;
    for (const struct api_part *const *p = api_parts; *p; p++)
        for (const struct endpoint *e = (*p)->endpoints; e && e->name; e++) {
            if (parsed)
                try_query(e, &query);
            if (json_is_object(body))
                try_body(e, body);
        }
    json_decref(body);
    VEC_DONE(&query);
    free(text);
    return 0;
}
