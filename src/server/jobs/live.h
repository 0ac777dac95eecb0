/* A job that is not over, as the server holds it in memory: what the engine needs,
 * its present attempt and the newest that was heard of it. What else is known (the
 * whole request, earlier attempts, samples) is in the store. */
#ifndef SERVER_JOBS_LIVE_H
#define SERVER_JOBS_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "model/task.h"
#include "runtime/runtime.h"
#include "server/jobs/estimate.h"
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
    X(TIMEOUT, "timeout")

enum stop_why {
#define X(name, text) STOP_##name,
    STOP_CODES(X)
#undef X
};

const char *stop_why_name(enum stop_why why);
enum stop_why stop_why_parse(const char *text);

/* One run of a job's command. */
struct attempt {
    int64_t job;
    uint32_t n;
    enum job_state state; /* starting, running, stopping, or how it ended */
    char token[33];
    struct runtime_link *link; /* to its conductor; NULL while there is none */
    int64_t pid;               /* of its conductor; 0 = not known */
    size_t at;                 /* index in the yard's attempts */
    bool queued;               /* in the turn's list of attempts to look at */
    bool changed;              /* its row must be saved before the turn ends */
    bool paused;
    enum stop_why stop;
    usec_t grace;                   /* of the stop */
    usec_t created, started, ended; /* wall clock; 0 = not yet */
    usec_t before;                  /* the job's running time when the attempt began */
    usec_t ran;                     /* the same when it last began to run without a break, */
    usec_t since;                   /* and the wall clock then; 0 = at its start */
    int code, signal;
    char *reason;       /* how it ended, for people; NULL = nothing to say */
    char *notice;       /* what its user should know while it runs; NULL = nothing */
    units_t cpus, gpus; /* granted */
    usec_t resumed;     /* engine time of its last restart for a size; 0 = it goes on since */
    usec_t pause;       /* that this restart took */
    bool late;          /* its threads have not followed its size */
    bool complained;    /* of a message that cannot be understood */
    uint32_t threads;   /* that they are instead; 0 = it has shown none */
    usec_t shrink_by;   /* engine time by which its threads shall have shrunk; 0 = they have */
    units_t cpu_limit;
    double cpu_weight;
    units_t share;  /* of the CPUs, what it gets beside its neighbours by limit and weight */
    uint32_t parts; /* threads for this share, where it is not its CPUs; 0 = not reckoned yet */
    uint8_t pool;
    uint32_t node;
    double cpu_seconds, memory_max_mb;
    bool fetch;      /* its log is elsewhere, and not all of it is here yet */
    int64_t log_end; /* bytes of it that are here; -1 = not looked at yet */
    int64_t seq;     /* of the newest progress report that is kept */
    usec_t unheard;  /* engine time since when nobody answers for it; 0 = link is there */

    /* The real thing, as far as is known: jobs/pursue.c brings it to what is wanted. */
    struct runtime_op op;
    bool busy;    /* the operation is under way */
    bool begun;   /* it was started, or found running */
    bool adopted; /* by this server: it has to be found out what became of it */
    bool leaves;  /* it is over: cleaned up, then forgotten */
    struct {
        units_t cpus, cpu_limit;
        double cpu_weight;
        bool frozen;
    } set;           /* in force on its node, */
    unsigned unsure; /* but for these kinds of operations, as bits: the last one failed, and may
                      * have had its effect */
    struct {
        units_t cpus;    /* 0 = it is not known what the conductor knows */
        int64_t threads; /* the same */
        enum stop_why stop;
        usec_t grace;
        usec_t limit;  /* of time; -1 = not known */
    } told;            /* to its conductor */
    bool again;        /* the last operation failed: try again when it is looked at */
    usec_t look_at;    /* engine time of the next look at one that does not answer */
    uint32_t refused;  /* starts in a row that failed */
    char trouble[160]; /* why the last one did */
    char boot[40];     /* of the machine that it was started on */
};

/* What a job last said of its progress; NAN and NULL are unknown. */
struct progress_seen {
    bool known;
    usec_t at; /* wall clock */
    double step, total, epoch, epochs, loss, value, rate;
    char metric[32], source[16];
    /* When `value` last became another, how long the one before had lasted, and up to
     * when it can be taken for what the job would say. */
    usec_t value_at, value_every, value_known;
};

/* What a job last used. */
struct usage_seen {
    bool known;
    usec_t at; /* wall clock */
    double cpu_s, memory_mb, block_bytes, net_bytes, throttled_s;
    double cpus; /* used on average between the last two reports */
    int64_t pids;
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

struct live_job {
    struct job_row row; /* its texts are owned */
    struct submission *submission;
    struct terms terms;
    struct arena arena[2]; /* of what these point to */
    struct job job[2];     /* for the engine: the terms in force, and those before */
    unsigned job_now;      /* which of the two */
    uint32_t task;         /* of the engine; TASK_NONE while it is not offered */
    unsigned blocks;       /* bits of enum block */
    VEC(struct live_dep) deps;
    VEC(int64_t) dependents; /* live jobs that depend on it, by id */
    struct tied ties;
    struct attempt *attempt; /* NULL while none is going on */
    struct progress_seen progress;
    struct job_estimate estimate;
    struct usage_seen usage;
    usec_t sampled;   /* wall clock of the newest sample */
    bool changed;     /* the row must be saved before the turn ends */
    uint64_t by_hand; /* number of the decision that follows a user's resize; 0 = none */
    struct live_job *prev, *next; /* by id */
};

/* Frees all but its use of the submission. */
void live_job_free(struct live_job *j);
void attempt_free(struct attempt *a);

/* Jobs, found by id, and listed in the order of their ids. A loop over the list may
 * remove the job that it is at if it has read `next` before. */
struct live_jobs {
    struct live_job *first, *last;
    struct idmap by_id;
    struct ties ties;
};

struct live_job *live_find(const struct live_jobs *jobs, int64_t id);
void live_add(struct live_jobs *jobs, struct live_job *j);
/* Enters the job with those that it depends on, as far as they are live. */
void live_depend(struct live_jobs *jobs, struct live_job *j);
/* Takes it out; it is the caller's then. */
void live_remove(struct live_jobs *jobs, struct live_job *j);
void live_done(struct live_jobs *jobs);

#endif
