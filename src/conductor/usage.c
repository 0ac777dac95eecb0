/* Owns the counters of a job. Each value has a list of files that may have it, in cgroup
 * versions 2 and 1; the first one that exists is used. Without a cgroup, the descendants of the
 * conductor and reaped processes are summed up. Bytes of block devices are also summed up this
 * way while the cgroup reports 0, because on some kernels the file of version 1 always does. */
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

/* Looking for new processes walks all of /proc, so it is not done every time. */
enum { SAMPLES_PER_WALK = 10, FILE_SIZE = 4096, BLOCK = 512 };

/* Where a counter may be found; the first that exists is used. */
struct usage_source {
    enum usage_counter counter;
    enum group_version version;
    const char *file, *key; /* see usage_find(); "\n" = the number of lines */
    int64_t divide;
};

static const struct usage_source sources[] = {
    {USAGE_CPU, GROUP_V2, "cpu.stat", "usage_usec", 1},
    {USAGE_CPU, GROUP_V1, "cpuacct.usage", NULL, 1000},
    {USAGE_THROTTLED, GROUP_V2, "cpu.stat", "throttled_usec", 1},
    {USAGE_THROTTLED, GROUP_V1, "cpu.stat", "throttled_time", 1000},
    {USAGE_MEMORY, GROUP_V2, "memory.current", NULL, 1},
    {USAGE_MEMORY, GROUP_V1, "memory.usage_in_bytes", NULL, 1},
    {USAGE_CACHE, GROUP_V1, "memory.stat", "total_inactive_file", 1},
    {USAGE_CACHE, GROUP_V2, "memory.stat", "inactive_file", 1},
    {USAGE_PEAK, GROUP_V2, "memory.peak", NULL, 1},
    {USAGE_PEAK, GROUP_V1, "memory.max_usage_in_bytes", NULL, 1},
    {USAGE_PIDS, GROUP_ANY, "pids.current", NULL, 1},
    {USAGE_PROCESSES, GROUP_ANY, "cgroup.procs", "\n", 1},
    {USAGE_READ, GROUP_V2, "io.stat", "rbytes=", 1},
    {USAGE_READ, GROUP_V1, "blkio.throttle.io_service_bytes_recursive", "Total", 1},
    {USAGE_WRITTEN, GROUP_V2, "io.stat", "wbytes=", 1},
    {USAGE_OOM_KILLS, GROUP_V2, "memory.events", "oom_kill", 1},
    {USAGE_OOM_KILLS, GROUP_V1, "memory.oom_control", "oom_kill", 1},
    {USAGE_MEMORY_LIMIT, GROUP_V2, "memory.max", NULL, 1},
    {USAGE_MEMORY_LIMIT, GROUP_V1, "memory.limit_in_bytes", NULL, 1},
};

static int64_t find_line(const char *text, const char *key, size_t n)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) == 0 && line[n] == ' ')
            return strtoll(line + n + 1, NULL, 10);
    }
    return -1;
}

int64_t usage_find(const char *text, const char *key)
{
    if (!key)
        return *text >= '0' && *text <= '9' ? strtoll(text, NULL, 10) : -1;
    size_t n = strlen(key);
    if (!n || key[n - 1] != '=')
        return find_line(text, key, n);
    int64_t sum = 0;
    for (const char *p = strstr(text, key); p; p = strstr(p + n, key))
        if (__builtin_add_overflow(sum, strtoll(p + n, NULL, 10), &sum))
            return INT64_MAX;
    return sum;
}

static int64_t count_lines(int fd)
{
    char text[FILE_SIZE];
    int64_t lines = 0, at = 0;
    for (ssize_t n; (n = pread(fd, text, sizeof text, at)) != 0; at += n) {
        if (n < 0)
            return -1;
        for (ssize_t i = 0; i < n; i++)
            lines += text[i] == '\n';
    }
    return lines;
}

/* -1 if the file does not have it. */
static int64_t read_source(int fd, const struct usage_source *source)
{
    char text[FILE_SIZE];
    if (fd >= 0 && source->key && *source->key == '\n')
        return count_lines(fd);
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    if (n < 0)
        return -1;
    text[n] = '\0';
    int64_t v = usage_find(text, source->key);
    return v < 0 ? -1 : v / source->divide;
}

/* Opens the first file that has the counter; returns its value. */
static int64_t find_counter(struct usage_meter *m, enum usage_counter c)
{
    m->counter[c].sought = true;
    for (const struct usage_source *s = sources; s < sources + COUNT_OF(sources); s++) {
        int fd = s->counter == c ? group_open(m->groups, s->version, s->file) : -1;
        int64_t v = read_source(fd, s);
        if (v >= 0) {
            m->counter[c].fd = fd;
            m->counter[c].source = s;
            return v;
        }
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

/* Files are opened when they are first needed; for a short job that is its end. */
static int64_t read_counter(struct usage_meter *m, enum usage_counter c)
{
    if (m->groups && !m->counter[c].sought)
        return find_counter(m, c);
    return read_source(m->counter[c].fd, m->counter[c].source);
}

static void read_groups(struct usage_meter *m, struct usage *u)
{
    u->cpu_us = read_counter(m, USAGE_CPU);
    u->throttled_us = read_counter(m, USAGE_THROTTLED);
    u->memory_bytes = read_counter(m, USAGE_MEMORY);
    int64_t droppable = u->memory_bytes < 0 ? -1 : read_counter(m, USAGE_CACHE);
    if (droppable > 0)
        u->memory_bytes -= droppable < u->memory_bytes ? droppable : u->memory_bytes;
    u->memory_peak_bytes = read_counter(m, USAGE_PEAK);
    u->pids = read_counter(m, USAGE_PIDS);
    u->processes = read_counter(m, USAGE_PROCESSES);
    u->block_bytes = read_counter(m, USAGE_READ);
    int64_t written = u->block_bytes < 0 ? -1 : read_counter(m, USAGE_WRITTEN);
    u->block_bytes += written > 0 ? written : 0;
}

/* Reads the known processes again; drops those that are gone or were replaced. */
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

/* Includes children that it has waited for. */
static int64_t process_blocks(pid_t pid)
{
    char path[64], text[FILE_SIZE];
    snprintf(path, sizeof path, "/proc/%ld/io", (long)pid);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    int64_t in = usage_find(text, "read_bytes:"), out = usage_find(text, "write_bytes:");
    return (in > 0 ? in : 0) + (out > 0 ? out : 0);
}

static usec_t in_usec(struct timeval t)
{
    return t.tv_sec * USEC_PER_SEC + t.tv_usec;
}

/* Fills in what the cgroups did not have. The counters of a process pass to the parent that
 * waits for it; parents come first in the list, so that nothing is counted twice. */
static void read_processes(struct usage_meter *m, struct usage *u)
{
    struct rusage reaped;
    int64_t us = 0, bytes = 0, blocks = 0, n = 0, threads = 0;
    refresh(m);
    getrusage(RUSAGE_CHILDREN, &reaped);
    for (size_t i = 0; i < m->known.n; i++) {
        const struct proc *p = &m->known.at[i];
        us += (int64_t)p->ticks * USEC_PER_SEC / sysconf(_SC_CLK_TCK);
        bytes += p->pages * sysconf(_SC_PAGESIZE);
        n += !proc_is_dead(p);
        threads += proc_is_dead(p) ? 0 : p->threads;
        if (u->block_bytes <= 0)
            blocks += process_blocks(p->pid);
    }
    if (u->cpu_us < 0)
        u->cpu_us = us + in_usec(reaped.ru_utime) + in_usec(reaped.ru_stime);
    if (u->memory_bytes < 0) {
        u->memory_bytes = bytes;
        u->memory_peak_bytes = reaped.ru_maxrss * 1024;
    }
    if (u->processes < 0)
        u->processes = n;
    if (u->pids < 0)
        u->pids = threads;
    if (u->block_bytes <= 0)
        u->block_bytes = blocks + ((int64_t)reaped.ru_inblock + reaped.ru_oublock) * BLOCK;
}

/* Both directions, all interfaces except loopback. */
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
    read_groups(m, &u);
    if (u.cpu_us < 0 || u.memory_bytes < 0 || u.processes < 0 || u.block_bytes <= 0)
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

const struct usage *usage_finish(struct usage_meter *m)
{
    int64_t last = m->last.memory_bytes;
    m->known.n = 0;
    m->samples = 1; /* so that no walk is due */
    usage_sample(m);
    m->last.memory_bytes = larger(last, m->last.memory_bytes);
    return &m->last;
}

void usage_init(struct usage_meter *m, pid_t root)
{
    *m = (struct usage_meter){.root = root};
    m->last = (struct usage)USAGE_UNKNOWN;
    for (unsigned i = 0; i < USAGE_COUNTERS; i++)
        m->counter[i].fd = -1;
}

void usage_done(struct usage_meter *m)
{
    for (unsigned i = 0; i < USAGE_COUNTERS; i++) {
        if (m->counter[i].fd >= 0)
            close(m->counter[i].fd);
        m->counter[i].fd = -1;
    }
    VEC_DONE(&m->known);
}

void usage_begin(struct usage_meter *m, struct group_set *cgroups, pid_t leader)
{
    m->groups = cgroups;
    m->leader = leader;
}

int64_t usage_oom_kills(struct usage_meter *m)
{
    return larger(read_counter(m, USAGE_OOM_KILLS), 0);
}

int64_t usage_memory_limit(struct usage_meter *m)
{
    int64_t v = read_counter(m, USAGE_MEMORY_LIMIT);
    /* Version 1 represents "none" as the largest multiple of the page size. */
    return v >= INT64_MAX / 4096 * 4096 - 4096 * 16 ? -1 : v;
}
