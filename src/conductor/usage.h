/* Measures what a job has used so far. */
#ifndef CONDUCTOR_USAGE_H
#define CONDUCTOR_USAGE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/proc.h"
#include "conductor/group.h"
#include "protocol/usage.h"

/* Counters that the kernel keeps in cgroup files. */
enum usage_counter {
    USAGE_CPU,
    USAGE_THROTTLED,
    USAGE_MEMORY,
    USAGE_CACHE, /* part of the memory that could be reclaimed */
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
    struct group_set *groups; /* NULL = none yet */
    struct {
        bool sought; /* whether fd was looked up */
        int fd;      /* -1 = no cgroup of the job has it */
        const struct usage_source *source;
    } counter[USAGE_COUNTERS];
    unsigned samples;
    struct proc_list known; /* descendants of the root, looked up again every few samples */
    struct usage last;
};

/* `root` is the process whose descendants are measured if no cgroup counts. */
void usage_init(struct usage_meter *m, pid_t root);
void usage_done(struct usage_meter *m);

/* The job is in its cgroups now; they must outlive the meter. They were created for this
 * attempt, so all their counts are its own. */
void usage_begin(struct usage_meter *m, struct group_set *cgroups, pid_t leader);
/* Reads the counters: from the cgroups, or from /proc for what they do not have and for block
 * bytes that they report as 0. Totals never decrease. */
const struct usage *usage_sample(struct usage_meter *m);
/* The last sample, after all processes have ended. */
const struct usage *usage_finish(struct usage_meter *m);
/* How many processes of the job the kernel has killed for lack of memory; also 0 if there is no
 * memory cgroup. */
int64_t usage_oom_kills(struct usage_meter *m);
/* The memory limit of the cgroup; -1 = none. */
int64_t usage_memory_limit(struct usage_meter *m);

/* Finds a number in a text by its key: "name" matches a line "name number"; "name=" is followed
 * directly by a number, and all such are added up; NULL = the text is just a number. -1 if not
 * found. */
int64_t usage_find(const char *text, const char *key);

#endif
