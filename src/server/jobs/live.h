/* A job that has not ended, in the server's memory: what the engine needs, its current
 * attempt, and its latest reports. The rest (earlier attempts, samples) is in the store. */
#ifndef SERVER_JOBS_LIVE_H
#define SERVER_JOBS_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/record.h"
#include "model/plateau.h"
#include "model/task.h"
#include "runtime/runtime.h"
#include "server/jobs/backoffs.h"
#include "server/jobs/estimate.h"
#include "server/jobs/probe.h"
#include "server/jobs/submission.h"
#include "server/jobs/terms.h"
#include "server/jobs/ties.h"
#include "store/job_state.h"
#include "store/jobs.h"

/* Why an attempt is being stopped. */
#define STOP_CODES(X)                                                                              \
    X(NONE, "")                                                                                    \
    X(PREEMPT, "preempt")                                                                          \
    X(CANCEL, "cancel")                                                                            \
    X(REQUEUE, "requeue")                                                                          \
    X(MOVE, "move")                                                                                \
    X(TIMEOUT, "timeout")                                                                          \
    X(PART, "part")           /* another part of it failed */                                      \
    X(PART_LOST, "part-lost") /* another part of it was lost, or not started */                    \
    X(SHUTDOWN, "shutdown")                                                                        \
    X(DIVERGED, "diverged")                                                                        \
    X(EARLY, "early")                                                                              \
    X(RESIZE, "resize")

enum stop_why {
#define X(name, text) STOP_##name,
    STOP_CODES(X)
#undef X
        STOP_COUNT
};

const char *stop_why_name(enum stop_why why);
enum stop_why stop_why_parse(const char *text);
/* Whether the job's next attempt follows at once: on another node, or with other GPUs. */
static inline bool stop_goes_on(enum stop_why why)
{
    return why == STOP_MOVE || why == STOP_RESIZE;
}

/* One run of a job's command. */
struct ending;
struct attempt {
    int64_t job;
    uint32_t n;
    uint32_t part;             /* of the attempt; see jobs/gang.h */
    struct attempt *next_part; /* NULL = it is the last */
    struct ending *done;       /* part 0 has ended so, and others have not; NULL = it has not */
    char *cause;               /* part 0: why parts are being stopped; NULL = they are not */
    enum job_state state;      /* starting, running, stopping, or how it ended */
    char token[33];
    struct runtime_link *link; /* to its conductor; NULL = not connected */
    int64_t pid;               /* of its conductor; 0 = unknown */
    size_t at;                 /* index in the yard's attempts */
    bool queued;               /* in the turn's list of attempts to look at */
    bool changed;              /* its row must be saved before the turn ends */
    bool paused;
    enum stop_why stop;
    usec_t grace;       /* of the stop */
    int64_t stopped_by; /* job that it made room for, or was last paused for; 0 = none */
    usec_t frozen_at;   /* when it was last paused for a job; wall clock; 0 = never */
    usec_t lost;        /* running time to repeat after its stop; -1 = unknown */
    usec_t created, started, ended; /* wall clock; 0 = not yet */
    usec_t before;                  /* the job's running time when the attempt began */
    usec_t ran;                     /* the same when it last began to run without a break, */
    usec_t since;                   /* and the wall clock then; 0 = at its start */
    int code, signal;
    char *reason;       /* why it ended, for users; NULL = none */
    char *error;        /* what it printed when it failed; NULL = nothing */
    char *left_running; /* processes that it left running; NULL = none */
    char *notice;       /* a problem that its user should know; NULL = none */
    char *waits;        /* what its start waits for, for users; NULL = nothing */
    units_t cpus, gpus; /* granted */
    usec_t resumed; /* engine time of its last restart for a size; 0 = none, or its cost is known */
    usec_t pause;   /* duration of this restart */
    bool late;      /* its threads have not followed its size */
    bool complained;  /* logged a warning about a message that cannot be decoded */
    uint32_t threads; /* its current number of threads; 0 = unknown */
    usec_t shrink_by; /* engine time until which to wait for its threads; 0 = not waiting */
    units_t cpu_limit;
    double cpu_weight;
    units_t share;  /* CPUs that it gets next to its neighbours, by limit and weight */
    uint32_t parts; /* threads for this share, if it differs from its CPUs; 0 = unknown */
    uint8_t pool;
    uint32_t node;
    double cpu_seconds, memory_max_mb;
    bool fetch;      /* its log is elsewhere and not copied completely */
    int64_t log_end; /* bytes of the copy; -1 = unknown */
    int64_t seq;     /* of the newest stored progress report */
    usec_t lease;    /* of its conductor; 0 = none */
    usec_t leased;   /* engine time at which the lease began at the latest */
    bool fenced;     /* given up while its node was lost: kill what is left of it */
    usec_t unheard;  /* engine time at which it was last connected; 0 = it is connected */

    /* The observed state; jobs/pursue.c brings it to the desired one above. */
    struct runtime_op op;
    bool busy;    /* the operation is in progress */
    bool begun;   /* it was started, or found running */
    bool adopted; /* from an earlier server, and not settled yet */
    bool leaves;  /* it has ended: clean it up, then free it */
    struct {
        units_t cpus, cpu_limit;
        double cpu_weight;
        bool frozen;
    } set;           /* what is in force on its node */
    unsigned unsure; /* bits of operations that failed and may have had their effect */
    struct {
        units_t cpus;    /* 0 = unknown */
        int64_t threads; /* 0 = unknown */
        enum stop_why stop;
        usec_t grace;
        usec_t limit;  /* of time; -1 = not known */
    } told;            /* what its conductor was told */
    bool again;        /* the last operation failed: retry it at the next look */
    usec_t look_at;    /* engine time of the next look, while it is not connected */
    uint32_t refused;  /* failed starts in a row */
    bool impossible;   /* it can never start: its job fails */
    char trouble[160]; /* why the last start failed */
    char boot[40];     /* boot id of the machine that it was started on */
};

static inline struct attempt_id attempt_id_of(const struct attempt *a)
{
    return (struct attempt_id){.job = a->job, .n = a->n, .part = a->part};
}

/* The last progress report of a job; NAN and "" are unknown. */
struct progress_seen {
    bool known;
    usec_t at; /* wall clock */
    double step, total, epoch, epochs, loss, value, rate;
    char metric[32], source[16], total_from[64];
    bool diverged; /* the last loss was not a number */
    bool weak;     /* step and total may not be those of the training: only shown */
    /* When `value` last changed, how long the previous value lasted, and until when the
     * present one counts as current. */
    usec_t value_at, value_every, value_known;
};

/* The last usage report of a job. */
struct usage_seen {
    bool known;
    usec_t at; /* wall clock */
    double cpu_s, memory_mb, block_bytes, net_bytes, throttled_s;
    double cpus;                /* used on average between the last two reports */
    int64_t processes, threads; /* 0 = not known */
};

/* How far a job had come when it was preempted, until it reports where it continues. */
struct redo {
    uint32_t attempt; /* 0 = none */
    int64_t by;       /* job that it made room for; 0 = none */
    usec_t at;        /* wall clock */
    double step, per_step;
};

struct live_dep {
    enum spec_dep_kind kind;
    int64_t on; /* 0 for singleton */
    bool met;
};

/* Why a job is not offered to the engine. */
enum block {
    BLOCK_HOLD = 1 << 0,
    BLOCK_DEPS = 1 << 1,
    BLOCK_SINGLETON = 1 << 2,
    BLOCK_ARRAY = 1 << 3,
    BLOCK_BACKOFF = 1 << 4,
    BLOCK_NODES = 1 << 5, /* no node could hold it */
};

/* A move to another node that is under way. */
struct moving {
    uint32_t attempt; /* that was stopped for it; 0 = none */
    usec_t asked;     /* engine time; 0 = not known */
    usec_t stopped;   /* when it had ended; 0 = not yet */
    bool reports;     /* it reports progress: the next report ends the pause */
};

/* What an earlier run of the same program tells about this one, scaled to its arguments. */
struct past {
    bool known;
    double step, work; /* step: NAN = it told none */
};

/* What is known about a job's silence (server/notices/alarms.h). */
struct alarms {
    uint32_t attempt;
    usec_t progress, gap; /* engine time of the last report, 0 = none; longest time without one */
    bool stalled;         /* told */
};

struct live_job {
    struct job_row row; /* its texts are owned */
    struct submission *submission;
    struct terms terms;
    struct arena arena[2];     /* of what these point to */
    struct job job[2];         /* for the engine: the current terms and the previous ones */
    unsigned job_now;          /* index of the current ones */
    uint32_t task;             /* of the engine; TASK_NONE if the engine does not know it */
    unsigned blocks;           /* bits of enum block */
    VEC(struct live_dep) deps; /* ordered once it is among the live jobs, see live_dep_on() */
    uint32_t unmet;            /* of them; without singletons */
    VEC(int64_t) dependents;   /* live jobs that depend on it, by id */
    struct tied ties;
    uint32_t backoff;        /* its place among the backoffs; 0 = none */
    struct attempt *attempt; /* the current one; NULL = none */
    usec_t recorded_end;     /* wall time of the end that is being handled; 0 = now */
    struct progress_seen progress;
    struct field_numbers *metrics; /* see metric_list.h; NULL = none */
    double first_step;             /* of this attempt; NAN = none yet */
    struct redo redo;
    struct moving moving;
    struct job_estimate estimate;
    struct probe probe;
    struct past past;
    struct plateau plateau; /* of its metric */
    bool outdone;           /* it was stopped because others of its group were better */
    uint32_t rungs;         /* of its group that it has passed, see model/halving.h */
    struct usage_seen usage;
    struct alarms alarms;
    usec_t sampled;   /* wall clock of the newest sample */
    bool changed;     /* the row must be saved before the turn ends */
    uint64_t by_hand; /* number of the decision that follows a user's resize; 0 = none */
    struct live_job *prev, *next; /* by id */
};

/* Does not drop its submission. */
void live_job_free(struct live_job *j);
void attempt_free(struct attempt *a);

/* Jobs by id, and in a list ordered by id. A loop over the list may remove the current job if
 * it has read `next` before. */
struct live_jobs {
    struct live_job *first, *last;
    struct idmap by_id;
    struct ties ties;
    struct backoffs backoffs;
};

struct live_job *live_find(const struct live_jobs *jobs, int64_t id);
void live_add(struct live_jobs *jobs, struct live_job *j);
/* Its dependencies are complete: orders and counts them, and adds the job to the dependents of
 * the live jobs that it depends on. */
void live_depend(struct live_jobs *jobs, struct live_job *j);
/* The first of the job's dependencies on this job; others on it follow. NULL = none. */
struct live_dep *live_dep_on(struct live_job *j, int64_t on);
/* Removes the job; the caller owns it then. */
void live_remove(struct live_jobs *jobs, struct live_job *j);
void live_done(struct live_jobs *jobs);

#endif
