/* Processes as /proc shows them. */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/mem.h"

struct proc {
    pid_t pid, parent;
    char state;     /* R S D T Z ... */
    uint64_t start; /* since boot, in clock ticks: with the pid, names a process for good */
    uint64_t ticks; /* CPU time, also that of its children that it has waited for */
    int64_t pages;  /* resident */
};

struct proc_list {
    struct proc *at;
    size_t n, cap;
};

/* One line of /proc/PID/stat; the name in it may hold anything. */
int proc_parse(const char *line, struct proc *out);
/* -1 when there is no such process. */
int proc_read(pid_t pid, struct proc *out);
/* All processes below `root`, itself not among them. With `root` a subreaper none
 * can get away; one that is born meanwhile may be missed. */
void proc_find_below(pid_t root, struct proc_list *out);

/* Sets by how many thousandths of all memory this process counts as larger when the kernel
 * chooses whom to kill; 0, or an errno. Only a privileged process may lower it. */
int proc_set_oom_score(int score);
/* Lowers it, as far as that is allowed, for a process on which others depend. */
void proc_guard_from_oom(void);

/* Neither dead nor stopped. */
static inline bool proc_can_run(const struct proc *p)
{
    return p->state != 'Z' && p->state != 'X' && p->state != 'T' && p->state != 't';
}

static inline bool proc_is_dead(const struct proc *p)
{
    return p->state == 'Z' || p->state == 'X';
}

#endif
