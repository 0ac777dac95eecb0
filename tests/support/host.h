/* A server's local runtime in a test, on a state directory of its own, and what the test
 * sees of its jobs. The jobs' conductor is the stand-in of support/conduct.h. */
#ifndef SUPPORT_HOST_H
#define SUPPORT_HOST_H

#include "runtime/local/local.h"

struct host {
    char dir[64];
    struct runtime_host side; /* the test, as the runtime sees it; without a loop, so that no
                               * socket is opened */
    struct runtime *r;
    const struct runtime_node *node;
};
void host_open(struct host *h);
/* The same where the test needs control groups; skips it where there are none. */
void host_open_with_groups(struct host *h);
/* The same on a directory of the caller's. */
int host_open_in(struct host *h, const char *dir, struct err *err);
/* Skips the test where one of the controllers is missing. */
void host_need(const struct host *h, unsigned controllers);
/* The server dies and another one begins, which knows nothing yet. */
void host_restart(struct host *h);
/* Closes it. Nothing may be left: no process of a job, no base of its groups. */
void host_close(struct host *h);
/* The tear-down of a test that may have failed half-way: kills what is left of every host
 * that was opened and not closed. */
int host_sweep(void **state);
#define HOST_TEST(function) cmocka_unit_test_teardown(function, host_sweep)

struct host_attempt {
    struct attempt_id id;
    struct runtime_size size;
};
/* Attempt 1 of the job with these CPUs, limit and weight 1. */
struct host_attempt host_attempt(int64_t job, units_t cpus);

/* ---- operations -------------------------------------------------------------- */

/* An operation on the attempt, with ten seconds to its deadline. */
struct runtime_op host_op(const struct host *h, enum runtime_op_kind kind,
                          const struct host_attempt *a);
/* Begins it and waits until it is complete; 0, or -1 with its error. */
int host_do(struct host *h, struct runtime_op *op, struct err *err);
/* Lets the runtime have its turns until it needs no more. */
void host_rest(struct host *h);

/* What OP_START needs for this command (see conduct.c); arena_done when it is done. */
struct host_launch {
    struct runtime_start start;
    struct launch_spec spec;
    struct arena arena;
};
void host_launch(const struct host *h, const struct host_attempt *a, const char *command,
                 struct host_launch *out);

/* Starts its conductor; its pid, 0 = nothing was started. */
int host_start_conductor(struct host *h, const struct host_attempt *a, const char *command,
                         int64_t *pid, struct err *err);
/* The same, then waits until the command runs. Fails the test otherwise. */
void host_start(struct host *h, const struct host_attempt *a, const char *command);
int host_resize(struct host *h, const struct host_attempt *a, struct err *err);
int host_freeze(struct host *h, const struct host_attempt *a, bool frozen, struct err *err);
enum runtime_fate host_settle(struct host *h, const struct host_attempt *a, bool give_up);
/* Waits for the end of the attempt; its record, without its warnings. */
struct exit_record host_wait(struct host *h, const struct host_attempt *a);
void host_clean(struct host *h, const struct host_attempt *a);

/* ---- what there is ----------------------------------------------------------- */

/* Pid of the command, and of its conductor; -1 = not there. */
int64_t host_pid(const struct host *h, const struct host_attempt *a);
int64_t host_conductor_pid(const struct host *h, const struct host_attempt *a);

/* The number in a file of the attempt's group, wherever that is, or the one behind a key in
 * it; -1 when there is none. */
int64_t host_group_number(const struct host *h, const struct host_attempt *a, const char *file,
                          const char *key);

/* Waits for the condition, at most ten seconds. */
#define host_until(condition)                                                                      \
    do {                                                                                           \
        for (unsigned tries_ = 0; !(condition); tries_++) {                                        \
            if (tries_ > 12000)                                                                    \
                fail_msg("%s did not become true", #condition);                                    \
            host_sleep(5);                                                                         \
        }                                                                                          \
    } while (0)
void host_sleep(unsigned milliseconds);

/* Seconds of CPU that the threads of the process have used. */
double host_cpu_seconds(int64_t pid);
/* A line of /proc/PID/status, "Cpus_allowed_list"; "" when there is none. The text is
 * static. */
const char *host_status(int64_t pid, const char *field);
/* How many processes of jobs of this state directory are alive, wherever they are. */
unsigned host_count(const char *state_dir);

/* Mean CPUs that the process used in so many milliseconds; *idle: and that nobody did. */
double host_cpus_used(int64_t pid, unsigned milliseconds, double *idle);
/* The use is within the bounds at some time; less will do where other work has left no
 * CPU idle. */
void host_assert_uses(int64_t pid, double low, double high);

#endif
