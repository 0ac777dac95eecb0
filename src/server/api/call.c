/* Owns the checks that all requests pass before their handler runs, and the answers that
 * several handlers share. */
#include "server/api/call.h"

#include <string.h>

#include "base/str.h"
#include "server/api/api.h"
#include "server/api/job_view.h"
#include "wire/value.h"

static bool refuse(const struct api_call *c, const struct err *err, const char *field)
{
    char shown[VALUE_SHOWN];
    reply_problem(c->reply, err, field ? value_show(field, shown) : NULL);
    return false;
}

void api_refuse(const struct api_call *c, const char *field, const char *text)
{
    struct err err;
    err_set(&err, ERR_INVALID, "%s: %s", field, text);
    refuse(c, &err, field);
}

/* ---- the query ------------------------------------------------------------- */

static const char *query_name(const void *ctx, size_t i)
{
    return ((const struct api_query *)ctx)[i].name;
}

/* The parameter's place in the table; fails when it is unknown. */
static int find_parameter(const struct endpoint *e, const char *name, size_t *out, struct err *err)
{
    size_t n = 0;
    for (; e->query && e->query[n].name; n++)
        if (!strcmp(e->query[n].name, name)) {
            *out = n;
            return 0;
        }
    return api_refuse_unknown("parameter", name, n, query_name, e->query, err);
}

static const char *word_at(const void *ctx, size_t i)
{
    return ((const char *const *)ctx)[i];
}

/* Refuses a word that is none of "first|second|third", and suggests the nearest. */
static int refuse_word(const char *words, const char *word, struct err *err)
{
    char shown[VALUE_SHOWN], text[256], *at[32];
    size_t n = 0;
    snprintf(text, sizeof text, "%s", words);
    for (char *rest = text, *p; n < COUNT_OF(at) && (p = strsep(&rest, "|"));)
        at[n++] = p;
    const char *near = str_nearest(word, n, word_at, at);
    value_show(word, shown);
    if (near)
        return err_set(err, ERR_INVALID, "unknown value '%s'; did you mean '%s'?", shown, near);
    return err_set(err, ERR_INVALID, "unknown value '%s'; expected one of %s", shown, words);
}

static int read_word(const char *words, const char *word, int64_t *out, struct err *err)
{
    unsigned index;
    if (value_choice(words, word, &index, NULL) < 0)
        return refuse_word(words, word, err);
    *out = index;
    return 0;
}

static int read_set(const char *words, const char *text, int64_t *out, struct err *err)
{
    int64_t bits = 0, index = 0;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, ",");
        AUTO_FREE char *word = xstrndup(p, n);
        if (read_word(words, word, &index, err) < 0)
            return -1;
        bits |= INT64_C(1) << index;
        p += n + (p[n] == ',');
    }
    if (!bits)
        return err_set(err, ERR_INVALID, "must not be empty; expected some of %s", words);
    *out = bits;
    return 0;
}

static int read_flag(const char *text, int64_t *out, struct err *err)
{
    bool flag;
    if (value_flag(text, &flag, err) < 0)
        return -1;
    *out = flag;
    return 0;
}

static int read_value(struct yard *y, const struct api_query *q, struct api_value *v,
                      struct err *err)
{
    switch (q->type) {
    case QUERY_INTEGER:
        return str_parse_int(v->text, q->min, q->max, &v->number, err);
    case QUERY_FLAG:
        return read_flag(v->text, &v->number, err);
    case QUERY_CHOICE:
        return read_word(q->words, v->text, &v->number, err);
    case QUERY_SET:
        return read_set(q->words, v->text, &v->number, err);
    case QUERY_JOB:
        return yard_find(y, v->text, &v->number, err);
    case QUERY_TEXT:
        break;
    }
    return 0;
}

/* Reads one parameter of the query into its place. */
static int read_parameter(const struct endpoint *e, struct api_call *c, const struct url_pair *pair,
                          struct err *err)
{
    size_t at = 0;
    if (find_parameter(e, pair->name, &at, err) < 0)
        return -1;
    const struct api_query *q = &e->query[at];
    struct api_value *v = &c->query[at];
    if (v->given)
        return err_set(err, ERR_INVALID, "%s: given more than once", q->name);
    v->given = true;
    v->text = pair->value;
    if (read_value(c->yard, q, v, err) == 0)
        return 0;
    /* yard_find() names the job. */
    return q->type == QUERY_JOB ? -1 : err_prefix(err, "%s", q->name);
}

static bool read_query(const struct endpoint *e, struct api_call *c)
{
    struct err err;
    for (size_t i = 0; e->query && e->query[i].name; i++)
        c->query[i].number = e->query[i].fallback;
    for (size_t i = 0; i < c->request->query.n; i++) {
        const struct url_pair *pair = &c->request->query.at[i];
        if (read_parameter(e, c, pair, &err) < 0)
            return refuse(c, &err, pair->name);
    }
    return true;
}

/* ---- the body -------------------------------------------------------------- */

static bool read_body(const struct endpoint *e, struct api_call *c)
{
    struct err err;
    const char *field = NULL;
    if (!e->body)
        return true;
    if (!c->request->body_n && e->body_optional) {
        c->body = json_object();
        return true;
    }
    if (request_json(c->request, &c->body, &err) < 0)
        return refuse(c, &err, NULL);
    if (!json_is_object(c->body)) {
        err_set(&err, ERR_INVALID, "the body must be a JSON object");
        return refuse(c, &err, NULL);
    }
    /* What a job request may hold is checked where it is read, in wire/. */
    const struct api_schema *schema = api_schema_find(e->body);
    if (schema && api_check_object(schema, c->body, &field, &err) < 0)
        return refuse(c, &err, field);
    return true;
}

/* ---- the path -------------------------------------------------------------- */

static bool read_path(struct api_call *c)
{
    const char *job = request_param(c->request, "id"), *node = request_param(c->request, "name");
    struct err err;
    if (job && yard_find(c->yard, job, &c->job, &err) < 0)
        return refuse(c, &err, "id");
    if (node && yard_find_node(c->yard, node, &c->node, &err) < 0)
        return refuse(c, &err, "name");
    return true;
}

bool api_call_read(const struct endpoint *e, struct api_call *c)
{
    return read_query(e, c) && read_body(e, c) && read_path(c);
}

/* ---- answers --------------------------------------------------------------- */

void api_reply_job(const struct api_call *c, int status)
{
    struct err err;
    json_t *job = NULL;
    if (job_view_show(c->yard, c->job, &job, &err) < 0)
        reply_problem(c->reply, &err, NULL);
    else
        turn_reply(c->yard, c->reply, status, job);
}

void api_reply_changed(const struct api_call *c, int rc, const struct err *err)
{
    if (rc < 0)
        reply_problem(c->reply, err, NULL);
    else
        api_reply_job(c, 200);
}
