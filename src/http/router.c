/* Owns the syntax and the matching of patterns. A table has a few dozen routes and is searched
 * for each request, which takes about a microsecond; an index would not be worth its code. */
#include "http/router.h"

#include <string.h>

/* The segment of a pattern at *at without its '/', and its length; *at advances. */
static const char *next_segment(const char **at, size_t *n)
{
    const char *segment = *at + 1;
    *n = strcspn(segment, "/");
    *at = segment + *n;
    return segment;
}

static bool is_param(const char *segment, size_t n)
{
    return n > 2 && segment[0] == '{' && segment[n - 1] == '}';
}

static int check_route(const struct route *route, struct err *err)
{
    size_t params = 0, segments = 0, n;
    if (!route->method || !route->handle || !route->name || route->pattern[0] != '/')
        return err_set(err, ERR_INTERNAL,
                       "a route needs a method, a pattern that starts with "
                       "'/', a handler and a name");
    for (const char *p = route->pattern; *p; segments++) {
        const char *segment = next_segment(&p, &n);
        if (is_param(segment, n))
            params++;
        else if (memchr(segment, '{', n) || memchr(segment, '}', n))
            return err_set(err, ERR_INTERNAL, "a parameter must be a whole segment");
    }
    if (params > ROUTE_PARAMS || segments > ROUTE_SEGMENTS)
        return err_set(err, ERR_INTERNAL, "at most %d parameters and %d segments", ROUTE_PARAMS,
                       ROUTE_SEGMENTS);
    return 0;
}

int router_check(const struct route *routes, struct err *err)
{
    for (const struct route *r = routes; r->pattern; r++)
        if (check_route(r, err) < 0)
            return err_prefix(err, "route %s", r->pattern);
    return 0;
}

static bool path_fits(const struct route *route, char *const *segments, size_t n,
                      const char **params)
{
    const char *p = route->pattern;
    size_t length, found = 0;
    for (size_t i = 0; i < n; i++) {
        if (!*p)
            return false;
        const char *segment = next_segment(&p, &length);
        if (is_param(segment, length)) {
            if (!*segments[i])
                return false;
            params[found++] = segments[i];
        } else if (strlen(segments[i]) != length || memcmp(segments[i], segment, length) != 0) {
            return false;
        }
    }
    return !*p;
}

static bool method_fits(const struct route *route, const char *method)
{
    return !strcmp(route->method, method) ||
           (!strcmp(method, "HEAD") && !strcmp(route->method, "GET"));
}

struct route_match router_find(const struct route *routes, const char *method,
                               char *const *segments, size_t n)
{
    struct route_match match = {0};
    for (const struct route *r = routes; r->pattern; r++) {
        const char *params[ROUTE_PARAMS] = {0};
        if (n > ROUTE_SEGMENTS || !path_fits(r, segments, n, params))
            continue;
        if (method_fits(r, method)) {
            match = (struct route_match){.route = r};
            memcpy(match.params, params, sizeof params);
            return match;
        }
        match.other_method = true;
    }
    return match;
}

/* There are few methods, so the text itself is searched for the name. */
static void add_method(struct str *out, size_t from, const char *method)
{
    size_t n = strlen(method);
    for (const char *p = out->at ? out->at + from : ""; (p = strstr(p, method)); p += n)
        if (p[n] == ',' || !p[n])
            return;
    if (out->n > from)
        str_add(out, ", ");
    str_add(out, method);
}

void router_add_methods(const struct route *routes, char *const *segments, size_t n,
                        struct str *out)
{
    const char *params[ROUTE_PARAMS];
    size_t from = out->n;
    for (const struct route *r = routes; r->pattern; r++) {
        if (n && !path_fits(r, segments, n, params))
            continue;
        add_method(out, from, r->method);
        if (!strcmp(r->method, "GET"))
            add_method(out, from, "HEAD");
    }
    add_method(out, from, "OPTIONS");
}

int router_param(const struct route *route, const char *name)
{
    size_t length = strlen(name), n;
    int at = 0;
    for (const char *p = route->pattern; *p;) {
        const char *segment = next_segment(&p, &n);
        if (!is_param(segment, n))
            continue;
        if (n - 2 == length && !memcmp(segment + 1, name, length))
            return at;
        at++;
    }
    return -1;
}
