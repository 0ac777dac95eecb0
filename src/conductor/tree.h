/* All processes of a job, however they try to escape: those in its cgroups, and the descendants
 * of the conductor. The conductor is their subreaper, so orphans become its children. */
#ifndef CONDUCTOR_TREE_H
#define CONDUCTOR_TREE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/proc.h"
#include "conductor/group.h"
#include "protocol/launch_spec.h"

struct tree {
    struct group_set *cgroups;
    pid_t root;   /* the conductor */
    pid_t leader; /* the command; 0 once it was reaped, because its pid may be reused */
};

/* Lists every live process once, without the conductor. */
void tree_list(const struct tree *t, struct proc_list *out);

/* Sends a signal to each process once. Without a leader, REACH_GROUP and REACH_LEADER mean all
 * processes. Returns how many got it. */
size_t tree_signal(const struct tree *t, enum reach reach, int signal);

/* Sends a signal to one process, if it belongs to the job; false otherwise. */
bool tree_signal_one(const struct tree *t, pid_t pid, int signal);

/* Freezes or thaws all processes. */
int tree_freeze(const struct tree *t, struct err *err);
int tree_thaw(const struct tree *t, struct err *err);

/* Kills everything. May miss a process that is just being created: repeat until
 * tree_has_left_cgroups. */
void tree_kill(const struct tree *t);

/* Whether no process is left in the cgroups. (Whoever reaps knows whether the conductor has
 * children.) */
bool tree_has_left_cgroups(const struct tree *t);

/* Restricts every thread to these CPUs, "0-1,4". */
int tree_set_cpus(const struct tree *t, const char *cpus, struct err *err);

#endif
