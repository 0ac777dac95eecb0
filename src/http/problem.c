/* Owns the mapping between errors and problem objects, in both directions. */
#include "http/problem.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

void problem_add_json(const struct problem *p, const char *title, struct str *out)
{
    str_add(out, "{\"type\":\"about:blank\",\"title\":");
    str_add_json(out, title);
    str_addf(out, ",\"status\":%d,\"code\":", p->status);
    str_add_json(out, p->code);
    str_add(out, ",\"detail\":");
    str_add_json(out, p->detail);
    if (p->field) {
        str_add(out, ",\"field\":");
        str_add_json(out, p->field);
    }
    str_add(out, "}\n");
}

static enum err_code code_of_status(int status)
{
    switch (status) {
    case 401:
    case 403:
        return ERR_DENIED;
    case 404:
    case 410:
        return ERR_NOT_FOUND;
    case 409:
    case 412:
        return ERR_CONFLICT;
    case 413:
    case 414:
    case 429:
    case 431:
        return ERR_LIMIT;
    case 502:
    case 503:
    case 504:
        return ERR_UNREACHABLE;
    default:
        return status >= 500 ? ERR_INTERNAL : ERR_INVALID;
    }
}

static enum err_code code_of_name(const char *name, int status)
{
    for (enum err_code code = ERR_INVALID; name && code <= ERR_UNREACHABLE; code++)
        if (!strcmp(err_name(code), name))
            return code;
    return code_of_status(status);
}

int problem_to_err(int status, const char *body, size_t n, struct err *err)
{
    json_t *root = body ? json_loadb(body, n, 0, NULL) : NULL;
    const char *code = json_string_value(json_object_get(root, "code"));
    const char *detail = json_string_value(json_object_get(root, "detail"));
    if (detail && *detail)
        err_set(err, code_of_name(code, status), "%s", detail);
    else
        err_set(err, code_of_status(status), "the server answered with HTTP status %d", status);
    json_decref(root);
    return -1;
}
