/* Owns reading /proc. */
#include "base/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int proc_parse(const char *line, struct proc *out)
{
    const char *after_name = strrchr(line, ')');
    struct proc p = {.pid = (pid_t)atol(line)};
    unsigned long long user, system, start;
    long long waited_user, waited_system, threads, pages;
    int parent;
    if (!after_name ||
        sscanf(after_name + 1,
               " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld %*d %*d %lld %*d "
               "%llu %*u %lld",
               &p.state, &parent, &user, &system, &waited_user, &waited_system, &threads, &start,
               &pages) != 9)
        return -1;
    p.parent = parent;
    p.start = start;
    p.ticks = user + system + (uint64_t)waited_user + (uint64_t)waited_system;
    p.pages = pages;
    p.threads = threads;
    *out = p;
    return 0;
}

int proc_read(pid_t pid, struct proc *out)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    return proc_parse(text, out);
}

int proc_set_oom_score(int score)
{
    char text[16];
    int n = snprintf(text, sizeof text, "%d", score);
    AUTO_CLOSE int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    return fd < 0 || write(fd, text, (size_t)n) != n ? errno : 0;
}

void proc_guard_from_oom(void)
{
    enum { GUARDED = -900 };
    (void)proc_set_oom_score(GUARDED);
}

static void list_all(struct proc_list *out)
{
    DIR *d = opendir("/proc");
    if (!d)
        return;
    const struct dirent *e;
    struct proc p;
    while ((e = readdir(d)))
        if (*e->d_name >= '1' && *e->d_name <= '9' && proc_read((pid_t)atol(e->d_name), &p) == 0)
            VEC_PUSH(out, p);
    closedir(d);
}

static int by_parent(const void *a, const void *b)
{
    const struct proc *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* The first entry with this parent in a list sorted by parent. */
static size_t first_child(const struct proc_list *all, pid_t parent)
{
    size_t lo = 0, hi = all->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (all->at[mid].parent < parent)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void proc_find_below(pid_t root, struct proc_list *out)
{
    struct proc_list all = {0};
    list_all(&all);
    if (all.n)
        qsort(all.at, all.n, sizeof *all.at, by_parent);
    out->n = 0;
    pid_t parent = root;
    for (size_t next = 0;; parent = out->at[next++].pid) {
        /* /proc changes while it is read: reused pids could form a cycle. */
        for (size_t i = first_child(&all, parent); i < all.n && all.at[i].parent == parent; i++)
            if (out->n < all.n)
                VEC_PUSH(out, all.at[i]);
        if (next == out->n)
            break;
    }
    VEC_DONE(&all);
}
