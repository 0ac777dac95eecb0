/* Measures what a job has used so far. */
#ifndef CONDUCTOR_USAGE_H
#define CONDUCTOR_USAGE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/proc.h"
#include "conductor/group.h"
#include "protocol/usage.h"

/* What the kernel counts in files of a cgroup. */
enum usage_counter {
    USAGE_CPU,
    USAGE_THROTTLED,
    USAGE_MEMORY,
    USAGE_CACHE, /* of the memory: could be dropped */
    USAGE_PEAK,
    USAGE_PIDS,
    USAGE_PROCESSES,
    USAGE_READ, /* from block devices, or both directions */
    USAGE_WRITTEN,
    USAGE_OOM_KILLS,
    USAGE_MEMORY_LIMIT,
    USAGE_COUNTERS,
};

struct usage_source;
struct usage_meter {
    pid_t root, leader;
    struct group_set *groups; /* NULL = the job is in none yet */
    struct {
        bool sought; /* whether fd is known */
        int fd;      /* -1 = no cgroup of the job has it */
        const struct usage_source *source;
    } counter[USAGE_COUNTERS];
    unsigned samples;
    struct proc_list known; /* processes below the root, looked up again every few samples */
    struct usage last;
};

/* `root` is the process whose descendants are measured where no cgroup counts. */
void usage_init(struct usage_meter *m, pid_t root);
void usage_done(struct usage_meter *m);

/* Once the job is in its cgroups, which must outlive the meter. They were made for this
 * attempt: what they have counted is all its own. */
void usage_begin(struct usage_meter *m, struct group_set *cgroups, pid_t leader);
/* Reads the counters: of the cgroups, or of /proc for what these do not have, and for
 * bytes of block devices that they have at 0. Each of the totals never falls. */
const struct usage *usage_sample(struct usage_meter *m);
/* The last sample, when no process is left to look at. */
const struct usage *usage_finish(struct usage_meter *m);
/* How many processes of the job the kernel has killed for lack of memory; 0 also
 * when there is no memory cgroup to tell. */
int64_t usage_oom_kills(struct usage_meter *m);
/* The memory limit of the cgroup; -1 = none. */
int64_t usage_memory_limit(struct usage_meter *m);

/* The number in a text by its key: "name" begins a line "name number"; "name=" is
 * followed by a number directly, and all such are added up; NULL = the text is just
 * a number. -1 when it is not there. */
int64_t usage_find(const char *text, const char *key);

#endif
