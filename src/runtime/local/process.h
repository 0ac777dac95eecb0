/* The processes of a job that is not in control groups, found in /proc, and what can be
 * done to any list of processes. */
#ifndef RUNTIME_LOCAL_PROCESS_H
#define RUNTIME_LOCAL_PROCESS_H

#include "runtime/local/cgroup.h"
#include "runtime/local/cpuset.h"

/* The living processes of the attempt in this directory, its conductor left out:
 * those below the conductor (a subreaper: a process that detaches stays below it), those
 * of the session of the job's leader, and those that carry the attempt's
 * TRAINYARD_PROGRESS in their environment. */
void process_find(const char *attempt_dir, pid_list *out);

/* Calls fn for each attempt, by the path of its directory, that a living process of
 * this user carries in its environment, if it lies below `jobs_dir`. A path may come
 * many times. */
void process_each_attempt(const char *jobs_dir, void (*fn)(void *ctx, const char *dir), void *ctx);

/* Holds every thread of them to these CPUs. */
void process_set_cpus(const pid_list *pids, const struct cpuset *set);
/* Gives every thread of them this nice value; to lower one takes a privilege, and
 * without it nothing changes. */
void process_set_nice(const pid_list *pids, int nice);
void process_signal(const pid_list *pids, int signal);

/* The CPUs to which the process is held; -1 when there is no such process. */
int process_cpus(int64_t pid, struct cpuset *out);

#endif
