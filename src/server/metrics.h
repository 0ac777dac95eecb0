/* What the server counts about itself, for monitoring. Counters start at zero with the server;
 * what can be looked up (jobs, nodes) is not counted here. server/api/metrics.c writes them. */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include <stdint.h>

#include "base/mem.h"
#include "base/time.h"
#include "store/job_state.h"

struct job_row;

/* Observations by size: buckets[i] counts those up to the i-th bound, and above the one before;
 * the last counts those above all bounds. */
enum { METRICS_BUCKETS = 14 };

struct histogram {
    const double *bounds; /* in seconds; ends with 0 */
    uint64_t buckets[METRICS_BUCKETS];
    double sum; /* seconds */
};

/* Events that are counted: kind, name of the metric, help. */
#define METRICS_EVENTS(X)                                                                          \
    X("job.submitted", "trainyard_jobs_submitted_total", "Jobs that were submitted")               \
    X("job.started", "trainyard_job_starts_total", "Attempts that were started")                   \
    X("job.resized", "trainyard_job_resizes_total", "Changes of the size of running jobs")         \
    X("job.restarted", "trainyard_job_restarts_total", "Resizes by a restart from a checkpoint")   \
    X("job.preempted", "trainyard_job_preemptions_total", "Jobs that were stopped for others")     \
    X("job.paused", "trainyard_job_pauses_total", "Jobs that were frozen for others")              \
    X("job.retried", "trainyard_job_retries_total", "Failed attempts that are tried again")        \
    X("job.moving", "trainyard_job_moves_total", "Moves of running jobs to other nodes")           \
    X("job.requeued", "trainyard_job_requeues_total", "Jobs that users queued again")              \
    X("node.lost", "trainyard_node_losses_total", "Nodes that stopped responding")                 \
    X("node.refused", "trainyard_node_refusals_total", "Starts that failed on a node")

enum {
#define X(kind, name, help) +1
    METRICS_EVENT_COUNT = 0 METRICS_EVENTS(X)
#undef X
};

struct http_count {
    const char *route; /* a name of the table of routes; "" = no such address */
    int status;        /* first digit of the status */
    uint64_t n;
};

struct metrics {
    usec_t started; /* wall clock */
    uint64_t events[METRICS_EVENT_COUNT];
    uint64_t ended[JOB_STATE_COUNT];
    uint64_t deadlines_met, deadlines_missed;
    uint64_t commit_failures, decision_failures;
    struct histogram wait, completion;          /* of jobs that have ended */
    struct histogram decision, commit, request; /* how long they took */
    struct histogram busy;                      /* of a turn of the event loop, without waiting */
    struct {
        VEC(struct http_count);
    } http;
};

void metrics_init(struct metrics *m, usec_t now);
void metrics_done(struct metrics *m);

void metrics_observe(struct histogram *h, usec_t took);
/* All observations so far. */
uint64_t metrics_count(const struct histogram *h);

/* An event was added. */
void metrics_event(struct metrics *m, const char *kind);
/* A job has ended; its row is complete. */
void metrics_ended(struct metrics *m, const struct job_row *row);
/* A request was answered; `route` is NULL if there is none, and otherwise static. */
void metrics_request(struct metrics *m, const char *route, int status, usec_t took);

#endif
