/* Owns what handlers look up in a request. */
#include "http/request.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>

#include "http/internal.h"

const char *request_param(const struct request *r, const char *name)
{
    int at = router_param(r->route, name);
    return at < 0 ? NULL : r->params[at];
}

const char *request_query(const struct request *r, const char *name)
{
    for (size_t i = 0; i < r->query.n; i++)
        if (!strcmp(r->query.at[i].name, name))
            return r->query.at[i].value;
    return NULL;
}

static const char *look_up(const struct request *r, enum MHD_ValueKind kind, const char *name)
{
    const struct conn *c = (const struct conn *)((const char *)r - offsetof(struct conn, request));
    return c->mhd ? MHD_lookup_connection_value(c->mhd, kind, name) : NULL;
}

const char *request_header(const struct request *r, const char *name)
{
    return look_up(r, MHD_HEADER_KIND, name);
}

const char *request_cookie(const struct request *r, const char *name)
{
    return look_up(r, MHD_COOKIE_KIND, name);
}

/* "application/json", "application/merge-patch+json; charset=utf-8", ... */
static bool is_json(const char *type)
{
    size_t n = strcspn(type, "; \t");
    return (n == 16 && !strncasecmp(type, "application/json", n)) ||
           (n > 5 && !strncasecmp(type + n - 5, "+json", 5));
}

/* Values, as far as commas and brackets tell. A value takes up to some hundred bytes of memory,
 * whatever it takes in the body. */
static size_t count_values(const char *text, size_t n)
{
    size_t values = 1;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\\' && quoted)
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && (text[i] == ',' || text[i] == '[' || text[i] == '{'))
            values++;
    }
    return values;
}

int request_json(const struct request *r, json_t **out, struct err *err)
{
    const char *type = request_header(r, "Content-Type");
    json_error_t error;
    if (!r->body_n)
        return err_set(err, ERR_INVALID, "the request needs a JSON body");
    /* Web pages of other origins can send forms and plain text, but not JSON. */
    if (!type || !is_json(type))
        return err_set(err, ERR_INVALID,
                       "the body has the type '%.64s'; send JSON with "
                       "'Content-Type: application/json'",
                       type ? type : "");
    if (count_values(r->body, r->body_n) > REQUEST_VALUES_MAX)
        return err_set(err, ERR_LIMIT, "the body has more than %d values; send less at once",
                       REQUEST_VALUES_MAX);
    json_t *root = json_loadb(r->body, r->body_n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!root)
        return err_set(err, ERR_INVALID, "the body is not valid JSON: line %d, column %d: %s",
                       error.line, error.column, error.text);
    *out = root;
    return 0;
}
