/* One run of a job: how it begins, how it is stopped and resized, how it ends. The
 * functions that change the books run within a turn; attempt_act() runs when the turn
 * is on disk. */
#ifndef SERVER_JOBS_ATTEMPTS_H
#define SERVER_JOBS_ATTEMPTS_H

#include "server/yard.h"

#define ATTEMPT_LOG_MAX (100LL << 20) /* bytes of a log file before it is rotated */
#define ATTEMPT_LOG_KEEP 3            /* rotated files beside the newest */

/* Enters a new attempt of the job, of the size that the engine gave it. */
void attempt_begin(struct yard *y, struct live_job *j, const struct task *t);
/* Takes over what the engine says of its size and share, if that has changed. */
void attempt_resize(struct yard *y, struct live_job *j, const struct task *t, const char *why);
void attempt_pause(struct yard *y, struct live_job *j, const struct task *t, bool pause);
/* Asks it to stop. A cancel overrides other reasons. `grace` < 0 = the job's own. */
void attempt_stop(struct yard *y, struct live_job *j, enum stop_why why, usec_t grace);

/* How an attempt ended, as its conductor tells, or the server finds. */
struct ending {
    usec_t at, started; /* wall clock; started 0 = it never ran */
    int code, signal;
    bool oom, timeout;
    bool lost;          /* its conductor is gone without a word */
    bool void_;         /* it never began: the command did not run */
    const char *stop;   /* reason of the stop that was going on; "" = none */
    const char *reason; /* for people; "" = it just ended */
    double cpu_seconds, memory_max_mb;
};
/* Enters the end: the job is over, or goes back into the queue. */
void attempt_over(struct yard *y, struct attempt *a, const struct ending *end);
/* The same from the text of exit.json or of the message. ERR_INVALID when it is none. */
int attempt_over_text(struct yard *y, struct attempt *a, const char *text, struct err *err);

/* The command runs since `at` (wall clock). */
void attempt_started(struct yard *y, struct attempt *a, usec_t at);
/* Its conductor can be spoken to (again), or not any more. */
void attempt_linked(struct yard *y, struct attempt *a, struct conduit *link);
void attempt_unlinked(struct yard *y, struct attempt *a);
/* Its threads have come down to what `cpus` allows. */
void attempt_applied(struct yard *y, struct attempt *a, double cpus);
/* Looks after an attempt that nobody answers for: is its conductor alive? */
void attempt_look(struct yard *y, struct attempt *a);

/* Marks its row to be saved before the turn ends; saves it. */
void attempt_touch(struct yard *y, struct attempt *a);
int attempt_save(struct yard *y, struct attempt *a, struct err *err);
/* The attempt of this number, going on or leaving; NULL when there is none. */
struct attempt *attempt_find(const struct yard *y, int64_t job, uint32_t n);
/* STATE/jobs/JOB/N; the caller frees it. */
char *attempt_dir(const struct yard *y, int64_t job, uint32_t n);
/* What the runtime has to know. */
struct runtime_attempt attempt_to_runtime(const struct yard *y, const struct attempt *a);

/* Does what is left to do, after the commit. True when something must be done again
 * soon, because processes are still dying. */
bool attempt_act(struct yard *y, struct attempt *a);

/* size.c: carries out what the books say of its size. Growing raises its limits first,
 * then its threads; shrinking lowers the threads first, and the limits when they have
 * followed or a bound has passed. What needs CPUs that are about to be given back waits
 * that long. */
void attempt_set_size(struct yard *y, struct attempt *a);
/* Its conductor, which may have missed what it was told last, knows of so many CPUs;
 * 0 = it does not say. */
void attempt_knows_size(struct yard *y, struct attempt *a, double cpus);
/* Whether it has to wait for CPUs; then it is done later. */
bool attempt_waits(struct yard *y, struct attempt *a, unsigned todo);
/* Ends the waiting for its threads: they have followed, are too late, or are gone. */
void attempt_shrunk(struct yard *y, struct attempt *a);
/* Ends waits that are over; returns whether any is left. */
bool attempt_look_at_shrinking(struct yard *y);

/* launch.c: writes its files and starts its conductor. */
int attempt_launch(struct yard *y, struct attempt *a, struct err *err);

#endif
