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
    uint64_t start; /* in clock ticks since boot; identifies a process together with its pid */
    uint64_t ticks; /* CPU time, including children that it has waited for */
    int64_t pages;  /* resident */
    int64_t threads;
};

struct proc_list {
    struct proc *at;
    size_t n, cap;
};

/* Parses one line of /proc/PID/stat; the name in it may contain anything. */
int proc_parse(const char *line, struct proc *out);
/* -1 if there is no such process. */
int proc_read(pid_t pid, struct proc *out);
/* All descendants of `root`. If `root` is a subreaper none can escape; one that is just being
 * created may be missed. */
void proc_find_below(pid_t root, struct proc_list *out);

/* Sets the OOM score adjustment of this process: thousandths of all memory that are added to its
 * size when the kernel chooses what to kill. Returns 0 or an errno. Only privileged processes
 * may lower it. */
int proc_set_oom_score(int score);
/* Lowers it as far as permitted, for a process that others depend on. */
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
