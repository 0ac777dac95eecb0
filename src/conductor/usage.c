/* Owns the counters of a job. Each value has a list of files that may hold it, of
 * cgroup versions 2 and 1; the first that is there counts. Without a cgroup the
 * processes below the conductor are added up, with those that were reaped. */
#include "conductor/usage.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"

/* Looking for new processes costs a walk through all of /proc: not every time. */
enum { SAMPLES_PER_WALK = 10, FILE_SIZE = 4096, BLOCK = 512 };

int64_t usage_find(const char *text, const char *key)
{
    if (!key)
        return *text >= '0' && *text <= '9' ? strtoll(text, NULL, 10) : -1;
    size_t n = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0 && line[n] == ' ')
            return strtoll(line + n + 1, NULL, 10);
    }
    return -1;
}

int64_t usage_add_up(const char *text, const char *key)
{
    int64_t sum = 0;
    size_t n = strlen(key);
    for (const char *p = strstr(text, key); p; p = strstr(p + n, key))
        sum += strtoll(p + n, NULL, 10);
    return sum;
}

/* Where a value may be found. */
struct source {
    const char *file, *key;
    int64_t divide;
};

static int64_t look_up(const struct cgroup_set *g, const struct source *sources, size_t n)
{
    char text[FILE_SIZE];
    for (size_t i = 0; i < n; i++) {
        if (cgroup_read(g, sources[i].file, text, sizeof text) < 0)
            continue;
        int64_t v = usage_find(text, sources[i].key);
        if (v >= 0)
            return v / sources[i].divide;
    }
    return -1;
}

static const struct source cpu[] = {{"cpu.stat", "usage_usec", 1}, {"cpuacct.usage", NULL, 1000}};
static const struct source throttled[] = {{"cpu.stat", "throttled_usec", 1},
                                          {"cpu.stat", "throttled_time", 1000}};
static const struct source memory[] = {{"memory.current", NULL, 1},
                                       {"memory.usage_in_bytes", NULL, 1}};
static const struct source peak[] = {{"memory.peak", NULL, 1},
                                     {"memory.max_usage_in_bytes", NULL, 1}};
static const struct source cache[] = {{"memory.stat", "total_inactive_file", 1},
                                      {"memory.stat", "inactive_file", 1}};
static const struct source pids[] = {{"pids.current", NULL, 1}};
static const struct source oom[] = {{"memory.events", "oom_kill", 1},
                                    {"memory.oom_control", "oom_kill", 1}};
static const struct source limit[] = {{"memory.max", NULL, 1}, {"memory.limit_in_bytes", NULL, 1}};
#define LOOK_UP(g, sources) look_up(g, sources, COUNT_OF(sources))

static int64_t group_blocks(const struct cgroup_set *g)
{
    char text[FILE_SIZE];
    if (cgroup_read(g, "io.stat", text, sizeof text) == 0)
        return usage_add_up(text, "rbytes=") + usage_add_up(text, "wbytes=");
    if (cgroup_read(g, "blkio.throttle.io_service_bytes_recursive", text, sizeof text) == 0)
        return usage_find(text, "Total");
    return -1;
}

static void read_groups(const struct cgroup_set *g, struct usage *u)
{
    u->cpu_us = LOOK_UP(g, cpu);
    u->throttled_us = LOOK_UP(g, throttled);
    u->memory_bytes = LOOK_UP(g, memory);
    u->memory_peak_bytes = LOOK_UP(g, peak);
    u->pids = LOOK_UP(g, pids);
    u->block_bytes = group_blocks(g);
    int64_t droppable = u->memory_bytes < 0 ? -1 : LOOK_UP(g, cache);
    if (droppable > 0)
        u->memory_bytes -= droppable < u->memory_bytes ? droppable : u->memory_bytes;
}

/* Looks at the known processes again; those that are gone, or have become
 * others, are dropped. */
static void refresh(struct usage_meter *m)
{
    if (m->samples++ % SAMPLES_PER_WALK == 0) {
        proc_find_below(m->root, &m->known);
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < m->known.n; i++) {
        struct proc p;
        if (proc_read(m->known.at[i].pid, &p) == 0 && p.start == m->known.at[i].start)
            m->known.at[n++] = p;
    }
    m->known.n = n;
}

static int64_t process_blocks(pid_t pid)
{
    char path[64], text[FILE_SIZE];
    snprintf(path, sizeof path, "/proc/%ld/io", (long)pid);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    return usage_add_up(text, "\nread_bytes: ") + usage_add_up(text, "\nwrite_bytes: ");
}

static usec_t in_usec(struct timeval t)
{
    return t.tv_sec * USEC_PER_SEC + t.tv_usec;
}

/* Fills in what the cgroups did not tell. */
static void read_processes(struct usage_meter *m, struct usage *u)
{
    struct rusage reaped;
    int64_t us = 0, bytes = 0, blocks = 0, n = 0;
    refresh(m);
    getrusage(RUSAGE_CHILDREN, &reaped);
    for (size_t i = 0; i < m->known.n; i++) {
        const struct proc *p = &m->known.at[i];
        us += (int64_t)p->ticks * USEC_PER_SEC / sysconf(_SC_CLK_TCK);
        bytes += p->pages * sysconf(_SC_PAGESIZE);
        n += !proc_is_dead(p);
        if (u->block_bytes < 0)
            blocks += process_blocks(p->pid);
    }
    if (u->cpu_us < 0)
        u->cpu_us = us + in_usec(reaped.ru_utime) + in_usec(reaped.ru_stime);
    if (u->memory_bytes < 0) {
        u->memory_bytes = bytes;
        u->memory_peak_bytes = reaped.ru_maxrss * 1024;
    }
    if (u->pids < 0)
        u->pids = n;
    if (u->block_bytes < 0)
        u->block_bytes = blocks + ((int64_t)reaped.ru_inblock + reaped.ru_oublock) * BLOCK;
}

/* Both directions of all interfaces but the loopback. */
static int64_t add_up_interfaces(const char *text)
{
    int64_t sum = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *colon = strchr(line, ':'), *end = strchr(line, '\n');
        long long in, out;
        if (!colon || (end && colon > end) || strncmp(line + strspn(line, " "), "lo:", 3) == 0)
            continue;
        if (sscanf(colon + 1, "%lld %*d %*d %*d %*d %*d %*d %*d %lld", &in, &out) == 2)
            sum += in + out;
    }
    return sum;
}

static int64_t read_network(const struct usage_meter *m)
{
    char path[64], text[FILE_SIZE];
    struct stat own, theirs;
    snprintf(path, sizeof path, "/proc/%ld/ns/net", (long)m->leader);
    if (stat("/proc/self/ns/net", &own) < 0 || stat(path, &theirs) < 0 ||
        (own.st_ino == theirs.st_ino && own.st_dev == theirs.st_dev))
        return -1;
    snprintf(path, sizeof path, "/proc/%ld/net/dev", (long)m->leader);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    return add_up_interfaces(text);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

const struct usage *usage_sample(struct usage_meter *m)
{
    struct usage u = {.net_bytes = -1}, *last = &m->last;
    read_groups(m->cgroups, &u);
    if (u.cpu_us < 0 || u.memory_bytes < 0 || u.pids < 0 || u.block_bytes < 0)
        read_processes(m, &u);
    if (m->leader)
        u.net_bytes = read_network(m);
    u.cpu_us = larger(u.cpu_us, last->cpu_us);
    u.block_bytes = larger(u.block_bytes, last->block_bytes);
    u.net_bytes = larger(u.net_bytes, last->net_bytes);
    u.throttled_us = larger(u.throttled_us, last->throttled_us);
    u.memory_peak_bytes =
        larger(larger(u.memory_peak_bytes, u.memory_bytes), last->memory_peak_bytes);
    *last = u;
    return last;
}

void usage_init(struct usage_meter *m, const struct cgroup_set *cgroups, pid_t root)
{
    *m = (struct usage_meter){.cgroups = cgroups, .root = root};
    m->last = (struct usage){-1, -1, -1, -1, -1, -1, -1};
}

void usage_done(struct usage_meter *m)
{
    VEC_DONE(&m->known);
}

void usage_begin(struct usage_meter *m, pid_t leader)
{
    m->leader = leader;
    m->oom_before = LOOK_UP(m->cgroups, oom);
}

int64_t usage_oom_kills(const struct usage_meter *m)
{
    int64_t now = LOOK_UP(m->cgroups, oom);
    return now > m->oom_before && m->oom_before >= 0 ? now - m->oom_before : 0;
}

int64_t usage_memory_limit(const struct usage_meter *m)
{
    int64_t v = LOOK_UP(m->cgroups, limit);
    /* Version 1 writes "none" as the largest number of whole pages. */
    return v >= INT64_MAX / 4096 * 4096 - 4096 * 16 ? -1 : v;
}
