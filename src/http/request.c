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

int request_query_int(const struct request *r, const char *name, int64_t lo, int64_t hi,
                      int64_t *value, struct err *err)
{
    const char *text = request_query(r, name);
    if (!text)
        return 0;
    return str_parse_int(text, lo, hi, value, err) < 0 ? err_prefix(err, "%s", name) : 0;
}

static const char *name_at(const void *ctx, size_t i)
{
    return ((const char *const *)ctx)[i];
}

int request_check_query(const struct request *r, const char *const *names, struct err *err)
{
    size_t n = 0;
    while (names[n])
        n++;
    for (size_t i = 0; i < r->query.n; i++) {
        const char *given = r->query.at[i].name;
        bool known = false;
        for (size_t k = 0; k < n; k++)
            known |= !strcmp(given, names[k]);
        if (known)
            continue;
        const char *meant = str_nearest(given, n, name_at, names);
        return err_set(err, ERR_INVALID, "unknown parameter '%.64s'%s%s%s", given,
                       meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
    }
    return 0;
}

const char *request_header(const struct request *r, const char *name)
{
    const struct conn *c = (const struct conn *)((const char *)r - offsetof(struct conn, request));
    return c->mhd ? MHD_lookup_connection_value(c->mhd, MHD_HEADER_KIND, name) : NULL;
}

/* "application/json", "application/merge-patch+json; charset=utf-8", ... */
static bool is_json(const char *type)
{
    size_t n = strcspn(type, "; \t");
    return (n == 16 && !strncasecmp(type, "application/json", n)) ||
           (n > 5 && !strncasecmp(type + n - 5, "+json", 5));
}

int request_json(const struct request *r, json_t **out, struct err *err)
{
    const char *type = request_header(r, "Content-Type");
    json_error_t error;
    if (!r->body_n)
        return err_set(err, ERR_INVALID, "the request needs a body, a JSON value");
    /* Pages of other origins can send forms and plain text, but no JSON. */
    if (!type || !is_json(type))
        return err_set(err, ERR_INVALID,
                       "the body has the type '%.64s'; send JSON, with "
                       "'Content-Type: application/json'",
                       type ? type : "");
    json_t *root = json_loadb(r->body, r->body_n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!root)
        return err_set(err, ERR_INVALID, "the body is not JSON: line %d, column %d: %s", error.line,
                       error.column, error.text);
    *out = root;
    return 0;
}
