/* A server's local runtime in a test, on a state directory of its own, and what the test
 * sees of its jobs. The jobs' conductor is the stand-in of support/conduct.h. */
#ifndef SUPPORT_HOST_H
#define SUPPORT_HOST_H

#include "runtime/local/local.h"

struct host {
    char dir[64];
    struct runtime *r;
    const char *notice;
};
void host_open(struct host *h);
/* The same where the test needs control groups; skips it where there are none. */
void host_open_with_groups(struct host *h);
/* Skips the test where one of the controllers is missing. */
void host_need(const struct host *h, unsigned controllers);
/* Closes it. Nothing may be left: no process of a job, no base of its groups. */
void host_close(struct host *h);
/* The tear-down of a test that may have failed half-way: kills what is left of every host
 * that was opened and not closed. */
int host_sweep(void **state);
#define HOST_TEST(function) cmocka_unit_test_teardown(function, host_sweep)

/* Attempt 1 of the job with these CPUs, limit and weight 1. */
struct runtime_attempt host_attempt(int64_t job, units_t cpus);

/* Prepares the attempt and writes spec.json with this command into the directory. */
void host_write_spec(struct runtime *r, const struct runtime_attempt *a, const char *dir,
                     const char *command);

/* Makes STATE/jobs/JOB/ATTEMPT, prepares, writes spec.json with this command (see
 * conduct.c) and spawns; then waits until the command runs. Fails the test otherwise. */
void host_start(struct runtime *r, const char *state_dir, const struct runtime_attempt *a,
                const char *command);

/* Pid of the command, and of its conductor. */
int64_t host_pid(const char *state_dir, const struct runtime_attempt *a);
int64_t host_conductor_pid(const char *state_dir, const struct runtime_attempt *a);
/* Waits for the end of the command; its wait status. */
int host_wait(const char *state_dir, const struct runtime_attempt *a);

/* The number in a file of the attempt's group, wherever that is, or the one behind a key in
 * it; -1 when there is none. */
int64_t host_group_number(const struct host *h, const struct runtime_attempt *a, const char *file,
                          const char *key);

/* Calls clean until nothing is left, for at most ten seconds. */
void host_clean(struct runtime *r, const struct runtime_attempt *a);

/* Waits for the condition, at most ten seconds. */
#define host_until(condition)                                                                      \
    do {                                                                                           \
        for (unsigned tries_ = 0; !(condition); tries_++) {                                        \
            if (tries_ > 2000)                                                                     \
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
