/* Owns what the server counts about itself. */
#include "server/metrics.h"

#include <string.h>

#include "store/jobs.h"

/* Of what the server does itself. */
static const double short_bounds[METRICS_BUCKETS] = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5};
/* Of jobs: from a second to a week. */
static const double long_bounds[METRICS_BUCKETS] = {1,    5,     15,    60,    300,    900,   3600,
                                                    7200, 14400, 43200, 86400, 259200, 604800};

static const char *const kinds[] = {
#define X(kind, name, help) kind,
    METRICS_EVENTS(X)
#undef X
};

void metrics_init(struct metrics *m, usec_t now)
{
    *m = (struct metrics){
        .started = now,
        .wait = {.bounds = long_bounds},
        .completion = {.bounds = long_bounds},
        .decision = {.bounds = short_bounds},
        .commit = {.bounds = short_bounds},
        .request = {.bounds = short_bounds},
        .busy = {.bounds = short_bounds},
    };
}

void metrics_done(struct metrics *m)
{
    VEC_DONE(&m->http);
}

void metrics_observe(struct histogram *h, usec_t took)
{
    double seconds = time_seconds(took);
    size_t i = 0;
    while (h->bounds[i] > 0 && seconds > h->bounds[i])
        i++;
    h->buckets[i]++;
    h->sum += seconds;
}

uint64_t metrics_count(const struct histogram *h)
{
    uint64_t n = 0;
    for (size_t i = 0; i < METRICS_BUCKETS; i++)
        n += h->buckets[i];
    return n;
}

void metrics_event(struct metrics *m, const char *kind)
{
    for (size_t i = 0; i < METRICS_EVENT_COUNT; i++)
        if (!strcmp(kinds[i], kind))
            m->events[i]++;
}

void metrics_ended(struct metrics *m, const struct job_row *row)
{
    m->ended[row->state]++;
    metrics_observe(&m->wait, row->wait_time);
    metrics_observe(&m->completion, row->ended - row->submitted);
    if (row->deadline && row->state == JOB_DONE && row->ended <= row->deadline)
        m->deadlines_met++;
    else if (row->deadline && row->state != JOB_CANCELLED)
        m->deadlines_missed++;
}

void metrics_request(struct metrics *m, const char *route, int status, usec_t took)
{
    struct http_count *found = NULL;
    if (!route)
        route = "";
    for (size_t i = 0; i < m->http.n && !found; i++)
        if (m->http.at[i].status == status / 100 && !strcmp(m->http.at[i].route, route))
            found = &m->http.at[i];
    if (!found) {
        VEC_PUSH(&m->http, (struct http_count){route, status / 100, 0});
        found = &m->http.at[m->http.n - 1];
    }
    found->n++;
    metrics_observe(&m->request, took);
}
