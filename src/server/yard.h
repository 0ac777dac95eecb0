/* The yard: the server's whole state, used by one thread. Request handlers, messages from
 * conductors and timers call the functions below, which change memory and write to the store.
 * At the end of each turn of the loop (server/turn.h) the engine decides and the store
 * commits. Only then are replies sent and actions taken on jobs. */
#ifndef SERVER_YARD_H
#define SERVER_YARD_H

#include "advisor/chooser.h"
#include "engine/engine.h"
#include "runtime/runtime.h"
#include "server/access.h"
#include "server/clock.h"
#include "server/jobs/arrivals.h"
#include "server/jobs/live.h"
#include "server/metrics.h"
#include "server/notices/notices.h"
#include "server/turn.h"
#include "store/job_state.h"

struct followers;
struct kube_front;
struct upload;
struct study;
struct uv_loop_s;

struct runtime_choice {
    const struct runtime_ops *ops;
    const void *options; /* defined by the runtime */
};

struct yard_runtime {
    const struct runtime_ops *ops;
    struct runtime *runtime;
};

/* What was measured of the jobs on a node (server/load.h). */
struct node_use {
    double cpu_s;     /* CPU time since the last sample of the load */
    double cpus_used; /* in that sample; NAN = there is none yet */
    bool moves_read;  /* from the store */
    int64_t moves;    /* running jobs that were moved there */
};

struct yard_node {
    const char *name;
    char *notice;                  /* for its operator; NULL = none */
    char *host;                    /* its address for other nodes; NULL = not known: its name */
    uint32_t runtime;              /* index in yard.runtimes */
    bool suspect;                  /* it does not respond just now */
    bool lost;                     /* it does not respond */
    usec_t lost_since;             /* engine time, if it is */
    bool here;                     /* on the server's machine */
    bool memory_free;              /* it cannot enforce a job's memory limit */
    uint32_t fenced;               /* attempts that may still run there and must not */
    bool orphan;                   /* jobs are there, and no runtime serves it */
    bool gone;                     /* removed for good */
    bool drained;                  /* by a user */
    bool closed;                   /* by the operator of its engine */
    int64_t memory_used;           /* MB, by jobs without a memory limit; in steps */
    VEC(struct attempt *) waiting; /* for CPUs that other attempts are about to free */
    uint32_t refusals;             /* failed starts in a row */
    usec_t closed_until;           /* engine time until which nothing starts; 0 = open */
    char *refusal;                 /* why the last start failed; NULL = it did not */
    struct node_use use;
};

struct yard_config {
    const char *state_dir, *run_dir;  /* absolute paths of existing directories */
    const struct clock_source *clock; /* outlives the yard */
    const char *boot_id;              /* of the machine; NULL = ask the kernel */
    const struct runtime_choice *runtimes;
    size_t n_runtimes;
    const char *const *mounts; /* directories that containers may mount; ends with NULL */
    const char *default_image; /* of jobs that name none; NULL = they are processes */
    bool schedulearn;          /* serves Schedulearn's clients too */
    struct combo combo;        /* used if the store has none */
    bool combo_given;          /* by the user: it overrides the store's */
    usec_t resched_min;
    usec_t lease;              /* of jobs that do not give one; USEC_NEVER = none */
    usec_t min_run;            /* engine_config.min_run */
    int64_t default_memory_mb; /* limit of jobs that do not give one; 0 = none */
    uint64_t journal_rows;     /* maximum in one stretch of the journal */
    usec_t show_failed;        /* how long to list failed jobs with the active ones; 0 = not */
    usec_t stall;              /* without progress, before users are told; 0 = never */
    usec_t keep;               /* how long to keep events and samples of ended jobs */
    uint64_t job_descriptors;  /* that a process of a job may open; 0 = as many as the server */
    uint32_t array_chunk;      /* members of an array that arrive in one turn; 0 = the default */
};

struct yard {
    struct uv_loop_s *loop; /* for sockets and files; NULL in tests without them */
    struct yard_config config;
    struct clock clock;
    struct store *store;
    struct runtime_host host; /* the runtimes' view of the server */
    VEC(struct yard_runtime) runtimes;
    VEC(struct yard_node) nodes; /* same indices as cluster.nodes */
    struct cluster cluster;      /* what nodes have; the engine's copy also has what jobs hold */
    struct arena node_texts;
    bool has_engine;
    struct engine engine;
    struct live_jobs jobs;
    struct submissions submissions;
    struct arrivals arrivals;
    VEC(int64_t) by_task;           /* job id of each engine task; 0 = none */
    VEC(struct attempt *) attempts; /* running, or not cleaned up yet */
    struct study *studies;          /* what-ifs that are under way */
    struct chooser chooser;         /* of the policy auto */
    struct followers *followers;    /* of events and logs */
    VEC(struct upload *) uploads;   /* under way */
    struct turn turn;
    struct metrics metrics;
    struct access access;
    struct notices notices;
    struct kube_front *front; /* TrainingJobs of a cluster; NULL = none */
    int64_t boot;             /* current stretch of the journal */
    uint64_t journal_rows;    /* in this stretch, */
    uint64_t journal_head;    /* and how many of them it began with */
    usec_t care_at;           /* engine time of the next yard_look_after(); USEC_NEVER = none */
    usec_t load_at;           /* engine time of the next sample of the load; USEC_NEVER = none */
    usec_t load_last;         /* engine time of the last one; 0 = none yet */
    uint64_t load_samples;    /* taken so far */
    char boot_id[40];         /* of the machine; changes when it reboots */
    bool ready;
    bool closing;  /* the machine is going down: nothing is decided any more */
    bool entering; /* effects are being applied: the engine must not be stepped */
    bool trimming; /* deleting old rows, some in each turn */
};

/* Opens the store, adopts running attempts, listens for conductors. */
int yard_open(struct uv_loop_s *loop, const struct yard_config *config, struct yard **out,
              struct err *err);
/* Commits and frees everything; jobs keep running. The loop must run once more afterwards. */
void yard_close(struct yard *y);

/* NULL if the job has ended or does not exist. */
struct live_job *yard_live(const struct yard *y, int64_t id);
struct live_job *yard_job_of_task(const struct yard *y, uint32_t task);
/* The engine's view of the job; NULL if the engine does not know it. */
const struct task *yard_task(const struct yard *y, const struct live_job *j);

int yard_set_policy(struct yard *y, const struct combo *combo, struct err *err);

/* ---- between the files of the server ------------------------------------- */

/* Steps the engine, writes the journal, and applies the effects to memory and store. */
int yard_step(struct yard *y, struct event *event, struct err *err);
/* Ends the job: saves its row, removes its task, adds an event. Frees the job. */
void yard_end(struct yard *y, struct live_job *j, enum job_state state, int code,
              const char *reason);
/* Schedules yard_look_after() soon. */
void yard_care(struct yard *y);
/* Looks after silent attempts, due retries, closed nodes and old rows, and schedules the
 * next time. */
void yard_look_after(struct yard *y);
/* Writes the job's row, with the engine's current work and times. */
int yard_save(struct yard *y, struct live_job *j, struct err *err);
/* Saves the job's row before the turn ends. */
void yard_touch(struct yard *y, struct live_job *j);

#endif
