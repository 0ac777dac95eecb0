/* Owns the search for processes in /proc. It is the fallback where there are no control
 * groups, and weaker: a process that leaves its session, clears its environment and
 * outlives its conductor is not found. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "runtime/local/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/claim.h"
#include "protocol/launch_spec.h"
#include "runtime/local/textfile.h"

struct process {
    int64_t pid, parent, session;
    unsigned long long start; /* ticks since boot */
    bool dead;                /* a zombie */
    bool ours;
};
typedef VEC(struct process) process_list;

static const char marker[] = "TRAINYARD_PROGRESS=";
/* What follows the attempt's directory there, also as earlier versions had it. */
static const char *const marker_ends[] = {"/" LAUNCH_JOB_FILES "/progress", "/progress"};

/* Bytes of the attempt's directory in the value of the marker; 0 = it is not one. */
static size_t directory_length(const char *value)
{
    size_t n = strlen(value);
    for (size_t i = 0; i < COUNT_OF(marker_ends); i++) {
        size_t tail = strlen(marker_ends[i]);
        if (n > tail && strcmp(value + n - tail, marker_ends[i]) == 0)
            return n - tail;
    }
    return 0;
}

static bool read_process(int64_t pid, struct process *out)
{
    char path[64], state = 0;
    struct str text = {0};
    struct process p = {.pid = pid};
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    /* The name, in parentheses, may hold anything. */
    const char *rest = textfile_read(path, &text) ? NULL : strrchr(text.at, ')');
    long long parent, session;
    bool ok = rest && sscanf(rest,
                             ") %c %lld %*d %lld %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                             "%*d %*d %*d %llu",
                             &state, &parent, &session, &p.start) == 4;
    str_done(&text);
    if (!ok)
        return false;
    p.parent = parent;
    p.session = session;
    p.dead = state == 'Z' || state == 'X';
    *out = p;
    return true;
}

/* Calls fn for each number that is a name in the directory. */
static void each_number(const char *path, void (*fn)(void *ctx, int64_t n), void *ctx)
{
    DIR *d = opendir(path);
    if (!d)
        return;
    for (const struct dirent *e; (e = readdir(d));)
        if (isdigit((unsigned char)e->d_name[0]))
            fn(ctx, strtoll(e->d_name, NULL, 10));
    closedir(d);
}

static void add_process(void *ctx, int64_t pid)
{
    process_list *list = ctx;
    struct process p;
    if (read_process(pid, &p) && !p.dead && pid != getpid())
        VEC_PUSH(list, p);
}

/* The value of the marker in the environment of a process of this user, its last part
 * cut off: the directory of its attempt. */
static bool read_attempt_dir(int64_t pid, struct str *out)
{
    char path[64];
    struct str text = {0};
    struct stat st;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%lld", (long long)pid);
    if (stat(path, &st) || st.st_uid != geteuid())
        return false;
    snprintf(path, sizeof path, "/proc/%lld/environ", (long long)pid);
    if (textfile_read(path, &text) == 0)
        for (size_t at = 0; at < text.n && !found; at += strlen(text.at + at) + 1) {
            const char *value = text.at + at + sizeof marker - 1;
            if (strncmp(text.at + at, marker, sizeof marker - 1) != 0)
                continue;
            size_t n = directory_length(value);
            found = n > 0;
            out->n = 0;
            str_add_n(out, value, n);
        }
    str_done(&text);
    return found;
}

/* What the claim of the attempt says of its conductor and of the job's leader, each
 * 0 when it is not there or its pid belongs to another by now. */
static void read_claim(const char *attempt_dir, int64_t *conductor, int64_t *session)
{
    AUTO_CLOSE int dir = open(attempt_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct claim c = {.state = CLAIM_NONE};
    struct process p;
    struct err err;
    *conductor = *session = 0;
    if (dir < 0 || claim_look(dir, &c, &err) < 0)
        return;
    /* A conductor that holds the claim no longer may have another attempt. */
    if (c.state == CLAIM_HELD && read_process(c.pid, &p) && p.start == c.start)
        *conductor = c.pid;
    if (c.leader > 0 && (!read_process(c.leader, &p) || p.start == c.leader_start))
        *session = c.leader;
}

static bool is_ours(const process_list *all, int64_t pid)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].pid == pid)
            return all->at[i].ours;
    return false;
}

/* Marks children of what is marked, until no more are found. */
static void mark_children(process_list *all, int64_t root)
{
    bool more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < all->n; i++) {
            struct process *p = &all->at[i];
            if (p->ours || p->pid == root || !(p->parent == root || is_ours(all, p->parent)))
                continue;
            p->ours = more = true;
        }
    }
}

void process_find(const char *attempt_dir, pid_list *out)
{
    process_list all = {0};
    struct str dir = {0};
    int64_t conductor, session;
    read_claim(attempt_dir, &conductor, &session);
    each_number("/proc", add_process, &all);
    for (size_t i = 0; i < all.n; i++) {
        struct process *p = &all.at[i];
        if (p->pid != conductor)
            p->ours = (session && p->session == session) ||
                      (read_attempt_dir(p->pid, &dir) && strcmp(dir.at, attempt_dir) == 0);
    }
    mark_children(&all, conductor ? conductor : -1);
    for (size_t i = 0; i < all.n; i++)
        if (all.at[i].ours)
            VEC_PUSH(out, all.at[i].pid);
    str_done(&dir);
    VEC_DONE(&all);
}

void process_each_attempt(const char *jobs_dir, void (*fn)(void *ctx, const char *dir), void *ctx)
{
    process_list all = {0};
    struct str dir = {0};
    size_t n = strlen(jobs_dir);
    each_number("/proc", add_process, &all);
    for (size_t i = 0; i < all.n; i++)
        if (read_attempt_dir(all.at[i].pid, &dir) && strncmp(dir.at, jobs_dir, n) == 0 &&
            dir.at[n] == '/')
            fn(ctx, dir.at);
    str_done(&dir);
    VEC_DONE(&all);
}

/* For each thread of each process. */
static void each_thread(const pid_list *pids, void (*fn)(void *ctx, int64_t tid), void *ctx)
{
    for (size_t i = 0; i < pids->n; i++) {
        char dir[64];
        snprintf(dir, sizeof dir, "/proc/%lld/task", (long long)pids->at[i]);
        each_number(dir, fn, ctx);
    }
}

static void set_thread_cpus(void *ctx, int64_t tid)
{
    sched_setaffinity((pid_t)tid, sizeof(struct cpuset), ctx);
}

void process_set_cpus(const pid_list *pids, const struct cpuset *set)
{
    struct cpuset copy = *set;
    each_thread(pids, set_thread_cpus, &copy);
}

static void set_thread_nice(void *ctx, int64_t tid)
{
    setpriority(PRIO_PROCESS, (id_t)tid, *(int *)ctx);
}

void process_set_nice(const pid_list *pids, int nice)
{
    each_thread(pids, set_thread_nice, &nice);
}

void process_signal(const pid_list *pids, int signal)
{
    for (size_t i = 0; i < pids->n; i++)
        kill((pid_t)pids->at[i], signal);
}

int process_cpus(int64_t pid, struct cpuset *out)
{
    struct cpuset set = {0};
    if (sched_getaffinity((pid_t)pid, sizeof set, (cpu_set_t *)&set) < 0)
        return -1;
    *out = set;
    return 0;
}
