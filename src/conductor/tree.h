/* All processes of a job, however they try to escape: those in its cgroups, and those
 * below the conductor. The conductor is their subreaper, so a process that loses its
 * parent becomes its child. */
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
    pid_t leader; /* the command; 0 once it was reaped, as its pid may be another's then */
};

/* Lists every process that lives, once; the conductor is not among them. */
void tree_list(const struct tree *t, struct proc_list *out);

/* Sends a signal, to each process once. Without a leader REACH_GROUP and
 * REACH_LEADER mean all that is left. Returns how many got it. */
size_t tree_signal(const struct tree *t, enum reach reach, int signal);

/* Sends a signal to one process, if it is the job's; false when it is not. */
bool tree_signal_one(const struct tree *t, pid_t pid, int signal);

/* Makes all processes stand still, or go on. */
int tree_freeze(const struct tree *t, struct err *err);
int tree_thaw(const struct tree *t, struct err *err);

/* Kills everything. One that is being born just then may be missed: call it again
 * until tree_has_left_cgroups. */
void tree_kill(const struct tree *t);

/* Whether no process is left in the cgroups. (Whether the conductor has children
 * is known to who reaps them.) */
bool tree_has_left_cgroups(const struct tree *t);

/* Lets every thread run on these CPUs only, "0-1,4". */
int tree_set_cpus(const struct tree *t, const char *cpus, struct err *err);

#endif
