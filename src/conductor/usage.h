/* What a job has used so far. */
#ifndef CONDUCTOR_USAGE_H
#define CONDUCTOR_USAGE_H

#include <stdint.h>
#include <sys/types.h>

#include "conductor/cgroup.h"
#include "conductor/proc.h"

/* -1 = not known. */
struct usage {
    int64_t cpu_us;       /* CPU time of all processes, also ended ones */
    int64_t memory_bytes; /* now, without file cache that can be dropped */
    int64_t memory_peak_bytes;
    int64_t block_bytes; /* read from and written to block devices */
    int64_t net_bytes;   /* both directions; only if the job has its own network */
    int64_t pids;
    int64_t throttled_us; /* time that a CPU quota made it wait */
};

struct usage_meter {
    const struct cgroup_set *cgroups;
    pid_t root, leader;
    unsigned samples;
    struct proc_list known; /* processes below the root, looked up anew every some samples */
    int64_t oom_before;     /* of the OOM counter, when the job began */
    struct usage last;
};

void usage_init(struct usage_meter *m, const struct cgroup_set *cgroups, pid_t root);
void usage_done(struct usage_meter *m);

/* Once the job is in its cgroups. */
void usage_begin(struct usage_meter *m, pid_t leader);
/* Reads the counters: of the cgroups, or of /proc for what these do not have.
 * Each of the totals never falls. */
const struct usage *usage_sample(struct usage_meter *m);
/* How many processes of the job the kernel has killed for lack of memory; 0 also
 * when there is no memory cgroup to tell. */
int64_t usage_oom_kills(const struct usage_meter *m);
/* The memory limit of the cgroup; -1 = none. */
int64_t usage_memory_limit(const struct usage_meter *m);

/* The number after `key` in a text of lines "key number"; -1 when it is not there.
 * Without a key the text is just a number. */
int64_t usage_find(const char *text, const char *key);
/* The sum of all numbers that follow `key` directly ("rbytes="). */
int64_t usage_add_up(const char *text, const char *key);

#endif
