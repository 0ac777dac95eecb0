/* The yard: everything that the server knows and does, on one thread. Handlers of
 * requests, messages of conductors and timers call the functions below; they change
 * memory and write to the store. At the end of each turn of the loop (server/turn.h)
 * the engine decides, the store commits, and only then replies go out and things are
 * done to jobs. */
#ifndef SERVER_YARD_H
#define SERVER_YARD_H

#include "engine/engine.h"
#include "runtime/runtime.h"
#include "server/clock.h"
#include "server/jobs/live.h"
#include "server/turn.h"
#include "store/job_state.h"

struct followers;
struct uv_loop_s;

struct runtime_choice {
    const struct runtime_ops *ops;
    const void *options; /* the runtime's own */
};

struct yard_runtime {
    const struct runtime_ops *ops;
    struct runtime *runtime;
};

struct yard_node {
    const char *name;
    char *notice;                  /* what its operator should know; NULL = nothing */
    uint32_t runtime;              /* index of the one that serves it */
    bool lost;                     /* it does not answer */
    bool gone;                     /* it does not come back */
    bool drained;                  /* by a user */
    VEC(struct attempt *) waiting; /* for CPUs that others are about to give back */
    uint32_t refusals;             /* starts in a row that it refused */
    usec_t closed_until;           /* engine time up to which it takes no more; 0 = it does */
    char *refusal;                 /* why the last start failed; NULL = none has */
};

struct yard_config {
    const char *state_dir, *run_dir;  /* absolute; they exist */
    const struct clock_source *clock; /* outlives the yard */
    const char *boot_id;              /* of the machine; NULL = as the kernel says */
    const struct runtime_choice *runtimes;
    size_t n_runtimes;
    struct combo combo; /* when the store does not say */
    bool combo_given;   /* the user did: it replaces what the store says */
    usec_t resched_min;
    uint64_t journal_rows; /* of a stretch, before another one begins */
    usec_t keep;           /* how long events and samples of jobs that are over are kept */
};

struct yard {
    struct uv_loop_s *loop; /* of sockets and files; turns do not need it */
    struct yard_config config;
    struct clock clock;
    struct store *store;
    struct runtime_host host; /* what runtimes know of us */
    VEC(struct yard_runtime) runtimes;
    VEC(struct yard_node) nodes; /* as those of the cluster */
    struct cluster cluster;      /* what the nodes have; the engine's has what jobs hold, too */
    struct arena node_texts;
    bool has_engine;
    struct engine engine;
    struct live_jobs jobs;
    struct submissions submissions;
    VEC(int64_t) by_task;           /* id of the job of each task of the engine */
    VEC(struct attempt *) attempts; /* going on, and over but not cleaned up yet */
    struct followers *followers;    /* of events */
    struct turn turn;
    int64_t boot;          /* stretch of the journal */
    uint64_t journal_rows; /* in this stretch */
    usec_t care_at;        /* engine time at which to look after things; USEC_NEVER = not at all */
    char boot_id[40];      /* of the machine: another one after it was restarted */
    bool ready;
    bool entering; /* effects are being entered: the engine must not be stepped */
    bool trimming; /* old rows are being deleted, some in each turn */
};

/* Opens the store, adopts what runs, listens for conductors. */
int yard_open(struct uv_loop_s *loop, const struct yard_config *config, struct yard **out,
              struct err *err);
/* Commits and forgets; what runs goes on. The loop must run once more after it. */
void yard_close(struct yard *y);

/* NULL when it is over, or there is none. */
struct live_job *yard_live(const struct yard *y, int64_t id);
struct live_job *yard_job_of_task(const struct yard *y, uint32_t task);
/* The engine's view of the job; NULL while it is not offered. */
const struct task *yard_task(const struct yard *y, const struct live_job *j);

int yard_set_policy(struct yard *y, const struct combo *combo, struct err *err);

/* ---- between the files of the server ------------------------------------- */

/* Tells the engine, and the journal. Effects are entered into the books at once. */
int yard_step(struct yard *y, struct event *event, struct err *err);
/* Ends the job: its row, its task, an event. It is gone after that. */
void yard_end(struct yard *y, struct live_job *j, enum job_state state, int code,
              const char *reason);
/* Something must be looked after soon: a conductor is silent, a retry is due. */
void yard_care(struct yard *y);
/* Does it, and sets the time of the next look. */
void yard_look_after(struct yard *y);
/* Writes the job's row, with the engine's books as they are now. */
int yard_save(struct yard *y, struct live_job *j, struct err *err);
/* Marks the job's row to be saved before the turn ends. */
void yard_touch(struct yard *y, struct live_job *j);

#endif
