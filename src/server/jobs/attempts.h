/* One run of a job's command: begin, resize, pause, stop and end. These functions change the
 * desired state, within a turn; jobs/pursue.h carries it out. */
#ifndef SERVER_JOBS_ATTEMPTS_H
#define SERVER_JOBS_ATTEMPTS_H

#include "server/yard.h"

#define ATTEMPT_LOG_MAX (100LL << 20) /* bytes of a log file before it is rotated */
#define ATTEMPT_LOG_KEEP 3            /* rotated files besides the newest */

/* Adds an attempt of the job, with the size of its task. */
void attempt_begin(struct yard *y, struct live_job *j, const struct task *t);
/* Follows the size and share of the task, if they have changed. */
void attempt_resize(struct yard *y, struct live_job *j, const struct task *t, const char *why);
/* Pauses or resumes it. `taker` is the engine's task that it makes room for, or TASK_NONE. */
void attempt_pause(struct yard *y, struct live_job *j, const struct task *t, bool pause,
                   uint32_t taker);
/* Stops it to make room; the job returns to the queue. */
void attempt_preempt(struct yard *y, struct live_job *j, uint32_t taker);
/* Stops the attempt. A cancel overrides other reasons. `grace` < 0 = the job's own. */
void attempt_stop(struct yard *y, struct live_job *j, enum stop_why why, usec_t grace);
/* The command has started, at `at` (wall clock). */
void attempt_started(struct yard *y, struct attempt *a, usec_t at);

/* How an attempt ended, as reported by its conductor or found by the server. */
struct ending {
    usec_t at, started; /* wall clock; started 0 = it never ran */
    int code, signal;
    bool oom, timeout;
    bool lost;                /* it is unknown how it ended */
    bool node_lost;           /* with its node, and its lease is over */
    bool rebooted;            /* its machine was restarted meanwhile */
    bool no_workdir;          /* its working directory does not exist */
    bool never_ran;           /* its command did not run */
    const char *stop;         /* reason of the stop in progress; "" = none */
    const char *reason;       /* for users; "" = none */
    const char *error;        /* what it printed when it failed; NULL = unknown */
    const char *left_running; /* processes that it left running; NULL = unknown */
    double cpu_seconds, memory_max_mb;
};
/* Ends the attempt: the job ends, or returns to the queue. */
void attempt_over(struct yard *y, struct attempt *a, const struct ending *end);
/* The same, from the record of its conductor. */
void attempt_over_by(struct yard *y, struct attempt *a, const struct exit_record *r);

/* Marks its row to be saved before the turn ends; saves it. */
void attempt_touch(struct yard *y, struct attempt *a);
int attempt_save(struct yard *y, struct attempt *a, struct err *err);

/* Adds the attempt to the yard's list. */
void attempt_enter(struct yard *y, struct attempt *a);
/* Removes the attempt from all lists and frees it. */
void attempt_forget(struct yard *y, struct attempt *a);
/* An attempt that runs or is not cleaned up yet; NULL if it is neither. */
/* A runtime tells what the start of an attempt waits for; NULL = nothing any more. */
void attempt_waits(struct runtime_host *h, struct attempt_id id, const char *why);

struct attempt *attempt_find(const struct yard *y, struct attempt_id id);

/* STATE/jobs/JOB/N, the directory of its log; the caller frees it. */
char *attempt_dir(const struct yard *y, int64_t job, uint32_t n);
/* The same of a part of an attempt: STATE/jobs/JOB/N.PART, without the last for part 0. */
char *attempt_part_dir(const struct yard *y, const struct attempt *a);
/* The size that its runtime is to set. */
struct runtime_size attempt_size(const struct yard *y, const struct attempt *a);
/* Its CPUs as the kernel writes them ("0-1,4"); NULL = unknown. */
const char *attempt_cpuset(const struct yard *y, const struct attempt *a);

#endif
