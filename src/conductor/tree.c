/* Owns actions on all processes of a job at once.
 *
 * Pids are listed first and used a moment later. The kernel assigns pids in turn, so a listed
 * pid belongs to another process only after all other pids have been used. Where that would do
 * most harm, for the leader's process group, the leader stays unreaped, or the group is not
 * used. */
#include "conductor/tree.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/proc.h"
#include "conductor/cpus.h"

enum { STOP_PASSES = 50, FREEZE_POLLS = 50, FREEZE_POLL_NS = 1000000 };

static int by_pid(const void *a, const void *b)
{
    const struct proc *x = a, *y = b;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void tree_list(const struct tree *t, struct proc_list *out)
{
    struct pid_list grouped = {0};
    struct proc p;
    proc_find_below(t->root, out);
    group_find_pids(t->cgroups, &grouped);
    for (size_t i = 0; i < grouped.n; i++)
        if (grouped.at[i] != t->root && proc_read(grouped.at[i], &p) == 0)
            VEC_PUSH(out, p);
    VEC_DONE(&grouped);
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, by_pid);
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++)
        if (!proc_is_dead(&out->at[i]) && (!n || out->at[i].pid != out->at[n - 1].pid))
            out->at[n++] = out->at[i];
    out->n = n;
}

size_t tree_signal(const struct tree *t, enum reach reach, int signal)
{
    if (t->leader && reach != REACH_ALL)
        return kill(reach == REACH_GROUP ? -t->leader : t->leader, signal) == 0;
    struct proc_list all = {0};
    size_t sent = 0;
    tree_list(t, &all);
    for (size_t i = 0; i < all.n; i++)
        sent += kill(all.at[i].pid, signal) == 0;
    VEC_DONE(&all);
    return sent;
}

bool tree_signal_one(const struct tree *t, pid_t pid, int signal)
{
    struct proc_list all = {0};
    bool sent = false;
    tree_list(t, &all);
    for (size_t i = 0; i < all.n && !sent; i++)
        sent = all.at[i].pid == pid && kill(pid, signal) == 0;
    VEC_DONE(&all);
    return sent;
}

/* Stops processes until no running one is found. A stopped process keeps its entry in the
 * process table, so under a limit on their number even a fork bomb comes to rest; killing would
 * make room for the next one. */
static void stop_all(const struct tree *t)
{
    struct proc_list all = {0};
    for (size_t pass = 0, running = 1; running && pass < STOP_PASSES; pass++) {
        running = 0;
        tree_list(t, &all);
        for (size_t i = 0; i < all.n; i++)
            if (proc_can_run(&all.at[i]))
                running += kill(all.at[i].pid, SIGSTOP) == 0;
    }
    VEC_DONE(&all);
}

static int unusable(const char *file, int why, struct err *err)
{
    return err_set(err, ERR_IO, "cannot write %s: %s", file, strerror(why));
}

/* With a freezer the kernel suspends processes without their noticing. Version 2 has
 * cgroup.freeze, version 1 freezer.state. */
int tree_freeze(const struct tree *t, struct err *err)
{
    int why = group_write(t->cgroups, "cgroup.freeze", "1");
    if (why == ENOENT)
        why = group_write(t->cgroups, "freezer.state", "FROZEN");
    if (why && why != ENOENT)
        return unusable("the freezer", why, err);
    if (why == ENOENT)
        stop_all(t);
    return 0;
}

int tree_thaw(const struct tree *t, struct err *err)
{
    int why = group_write(t->cgroups, "cgroup.freeze", "0");
    if (why == ENOENT)
        why = group_write(t->cgroups, "freezer.state", "THAWED");
    if (why && why != ENOENT)
        return unusable("the freezer", why, err);
    if (why == ENOENT)
        tree_signal(t, REACH_ALL, SIGCONT);
    return 0;
}

/* Waits, for a bounded time, until the kernel reports that all are frozen. */
static void await_frozen(const struct tree *t)
{
    char state[32];
    for (unsigned i = 0; i < FREEZE_POLLS; i++) {
        if (group_read(t->cgroups, "freezer.state", state, sizeof state) < 0 ||
            strncmp(state, "FROZEN", 6) == 0)
            return;
        nanosleep(&(struct timespec){.tv_nsec = FREEZE_POLL_NS}, NULL);
    }
}

void tree_kill(const struct tree *t)
{
    struct err err;
    bool at_once = group_write(t->cgroups, "cgroup.kill", "1") == 0;
    if (!at_once) {
        tree_freeze(t, &err);
        await_frozen(t);
    }
    tree_signal(t, REACH_ALL, SIGKILL);
    /* Version 1 lets a frozen process die only after it is thawed. */
    if (!at_once)
        tree_thaw(t, &err);
}

bool tree_has_left_cgroups(const struct tree *t)
{
    return group_is_empty(t->cgroups);
}

static size_t set_cpus_of(pid_t pid, const struct cpus *cpus)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *d = opendir(path);
    if (!d)
        return 0;
    size_t failed = 0;
    const struct dirent *e;
    while ((e = readdir(d))) {
        pid_t thread = (pid_t)atol(e->d_name);
        int why = thread ? cpus_apply(cpus, thread) : 0;
        failed += why && why != ESRCH;
    }
    closedir(d);
    return failed;
}

int tree_set_cpus(const struct tree *t, const char *text, struct err *err)
{
    struct cpus cpus;
    if (cpus_parse(text, &cpus, err) < 0)
        return -1;
    struct proc_list all = {0};
    size_t failed = 0;
    /* Processes created during the first round have inherited the new CPUs by the second. */
    for (unsigned round = 0; round < 2; round++) {
        failed = 0;
        tree_list(t, &all);
        for (size_t i = 0; i < all.n; i++)
            failed += set_cpus_of(all.at[i].pid, &cpus);
    }
    VEC_DONE(&all);
    return failed ? err_set(err, ERR_DENIED, "%zu threads cannot run on CPUs %s", failed, text) : 0;
}
