/* Owns the list of the API's parts, and passes each request to its endpoint. */
#include "server/api/api.h"

#include <string.h>

#include "server/api/call.h"
#include "server/api/pages.h"
#include "server/api/parts.h"

const struct api_part *const api_parts[] = {
    &api_part_submit,      &api_part_job_list, &api_part_jobs,        &api_part_actions,
    &api_part_best,        &api_part_logs,     &api_part_estimate,    &api_part_job_view,
    &api_part_job_history, &api_part_growth,   &api_part_nodes,       &api_part_load,
    &api_part_policy,      &api_part_policies, &api_part_whatif,      &api_part_events,
    &api_part_about,       &api_part_metrics,  &api_part_session,     &api_part_tokens,
    &api_part_uploads,     &api_part_notify,   &api_part_sim_reports, NULL,
};

const struct api_schema *api_schema_find(const char *name)
{
    for (const struct api_part *const *p = api_parts; *p; p++)
        for (const struct api_schema *const *s = (*p)->schemas; s && *s; s++)
            if (!strcmp((*s)->name, name))
                return *s;
    return NULL;
}

static void serve_request(const struct request *q, struct reply *r, void *ctx)
{
    const struct api *api = ctx;
    const struct endpoint *e = api->endpoints[q->route - api->routes];
    struct api_call c = {.yard = api->yard, .request = q, .reply = r};
    turn_save(c.yard); /* handlers read the store */
    c.yard->turn.reading = !strcmp(e->method, "GET");
    if (api_call_read(e, &c))
        e->handle(&c);
    json_decref(c.body);
}

bool api_identify(void *ctx, const struct request *q, struct caller *caller)
{
    const struct api *api = ctx;
    return access_identify(api->yard, q, caller);
}

void api_served(void *ctx, const struct request *q, int status, usec_t took)
{
    const struct api *api = ctx;
    metrics_request(&api->yard->metrics, q->route ? q->route->name : NULL, status, took);
}

static void add_route(struct api *api, size_t *n, const struct route *route,
                      const struct endpoint *e)
{
    api->routes = xreallocarray(api->routes, *n + 2, sizeof *api->routes);
    api->endpoints = xreallocarray(api->endpoints, *n + 1, sizeof *api->endpoints);
    api->routes[*n] = *route;
    api->endpoints[*n] = e;
    api->routes[++*n] = (struct route){0};
}

static void add_endpoint(struct api *api, size_t *n, const struct endpoint *e, const char *path)
{
    add_route(api, n, &(struct route){e->method, path, serve_request, e->name, e->open}, e);
}

static void add_part(struct api *api, size_t *n, const struct api_part *p)
{
    for (const struct endpoint *e = p->endpoints; e && e->name; e++) {
        add_endpoint(api, n, e, e->path);
        if (e->also)
            add_endpoint(api, n, e, e->also);
    }
}

struct api *api_create(struct yard *y)
{
    struct api *api = xcalloc(1, sizeof *api);
    size_t n = 0;
    api->yard = y;
    for (const struct api_part *const *p = api_parts; *p; p++)
        add_part(api, &n, *p);
    if (y && y->config.schedulearn)
        add_part(api, &n, &api_part_schedulearn);
    for (const struct route *r = page_routes; r->method; r++)
        add_route(api, &n, r, NULL);
    return api;
}

void api_free(struct api *api)
{
    if (!api)
        return;
    free(api->routes);
    free((void *)api->endpoints);
    free(api);
}
