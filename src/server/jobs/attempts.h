/* One run of a job: how it begins, how it is stopped and resized, how it ends. These
 * functions change what is recorded, within a turn; jobs/pursue.h carries it out. */
#ifndef SERVER_JOBS_ATTEMPTS_H
#define SERVER_JOBS_ATTEMPTS_H

#include "server/yard.h"

#define ATTEMPT_LOG_MAX (100LL << 20) /* bytes of a log file before it is rotated */
#define ATTEMPT_LOG_KEEP 3            /* rotated files besides the newest */

/* Enters a new attempt of the job, of the size that the engine gave it. */
void attempt_begin(struct yard *y, struct live_job *j, const struct task *t);
/* Takes over what the engine says of its size and share, if that has changed. */
void attempt_resize(struct yard *y, struct live_job *j, const struct task *t, const char *why);
void attempt_pause(struct yard *y, struct live_job *j, const struct task *t, bool pause);
/* Asks it to stop. A cancel overrides other reasons. `grace` < 0 = the job's own. */
void attempt_stop(struct yard *y, struct live_job *j, enum stop_why why, usec_t grace);
/* The command runs since `at` (wall clock). */
void attempt_started(struct yard *y, struct attempt *a, usec_t at);

/* How an attempt ended, as its conductor tells, or the server finds. */
struct ending {
    usec_t at, started; /* wall clock; started 0 = it never ran */
    int code, signal;
    bool oom, timeout;
    bool lost;          /* nobody knows how it ended */
    bool never_ran;     /* its command did not run */
    const char *stop;   /* reason of the stop that was going on; "" = none */
    const char *reason; /* for people; "" = it just ended */
    double cpu_seconds, memory_max_mb;
};
/* Enters the end: the job is over, or goes back into the queue. */
void attempt_over(struct yard *y, struct attempt *a, const struct ending *end);
/* The same by the record of its conductor. */
void attempt_over_by(struct yard *y, struct attempt *a, const struct exit_record *r);

/* Marks its row to be saved before the turn ends; saves it. */
void attempt_touch(struct yard *y, struct attempt *a);
int attempt_save(struct yard *y, struct attempt *a, struct err *err);

/* The attempt is one that is looked after. */
void attempt_enter(struct yard *y, struct attempt *a);
/* Nothing is left of it. */
void attempt_forget(struct yard *y, struct attempt *a);
/* The attempt of this number, going on or leaving; NULL when there is none. */
struct attempt *attempt_find(const struct yard *y, int64_t job, uint32_t n);

/* STATE/jobs/JOB/N, where its log is; the caller frees it. */
char *attempt_dir(const struct yard *y, int64_t job, uint32_t n);
/* What its runtime shall give it. */
struct runtime_size attempt_size(const struct yard *y, const struct attempt *a);
/* The CPUs that it has, as the kernel writes them; NULL = not known. */
const char *attempt_cpuset(const struct yard *y, const struct attempt *a);

#endif
