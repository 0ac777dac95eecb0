/* Owns the test's side: runtimes that are open, jobs that are started in them, and what
 * /proc tells of their processes. */
#include "support/host.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "protocol/launch_spec.h"
#include "runtime/local/textfile.h"
#include "support/conduct.h"
#include "support/test.h"

void host_sleep(unsigned milliseconds)
{
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

static long long read_number(const char *state_dir, const struct runtime_attempt *a,
                             const char *file)
{
    char path[4096];
    struct str text = {0};
    snprintf(path, sizeof path, "%s/jobs/%lld/%u/%s", state_dir, (long long)a->job, a->attempt,
             file);
    long long n = textfile_read(path, &text) ? -1 : atoll(text.at);
    str_done(&text);
    return n;
}

struct runtime_attempt host_attempt(int64_t job, units_t cpus)
{
    return (struct runtime_attempt){
        .job = job, .attempt = 1, .cpus = cpus, .cpu_limit = cpus, .cpu_weight = 1};
}

static struct host *open_hosts[4];

void host_open(struct host *h)
{
    struct err err;
    size_t i = 0;
    while (open_hosts[i])
        i++;
    snprintf(h->dir, sizeof h->dir, "/tmp/trainyard-test.XXXXXX");
    assert_non_null(mkdtemp(h->dir));
    assert_ok(runtime_local.open(&h->r, h->dir, &h->notice, &err), err);
    open_hosts[i] = xmalloc(sizeof *h);
    *open_hosts[i] = *h;
}

static void remove_dir(const char *dir)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    if (system(command))
        print_message("# cannot remove %s\n", dir);
}

void host_close(struct host *h)
{
    struct str base = {0};
    str_add(&base, h->r->cgroups.n ? h->r->cgroups.at[0].base : "");
    runtime_local.close(h->r);
    for (size_t i = 0; i < COUNT_OF(open_hosts); i++)
        if (open_hosts[i] && strcmp(open_hosts[i]->dir, h->dir) == 0) {
            free(open_hosts[i]);
            open_hosts[i] = NULL;
        }
    host_until(host_count(h->dir) == 0);
    remove_dir(h->dir);
    assert_int_equal(access(base.at, F_OK), -1);
    str_done(&base);
}

static void sweep_attempt(void *ctx, int64_t job, uint32_t attempt)
{
    struct runtime_attempt a = {.job = job, .attempt = attempt};
    for (unsigned tries = 0; tries < 1000 && runtime_local.clean(ctx, &a, NULL) == 1; tries++)
        host_sleep(5);
}

/* With a runtime of its own: a test may have closed the one that it had. */
int host_sweep(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(open_hosts); i++) {
        struct runtime *r;
        const char *notice;
        if (!open_hosts[i])
            continue;
        if (runtime_local.open(&r, open_hosts[i]->dir, &notice, NULL) == 0) {
            runtime_local.leftovers(r, sweep_attempt, r);
            runtime_local.close(r);
        }
        remove_dir(open_hosts[i]->dir);
        free(open_hosts[i]);
        open_hosts[i] = NULL;
    }
    return 0;
}

int64_t host_pid(const char *state_dir, const struct runtime_attempt *a)
{
    return read_number(state_dir, a, "pid");
}

int64_t host_conductor_pid(const char *state_dir, const struct runtime_attempt *a)
{
    return read_number(state_dir, a, "claim");
}

int host_wait(const char *state_dir, const struct runtime_attempt *a)
{
    host_until(read_number(state_dir, a, "exit") >= 0);
    return (int)read_number(state_dir, a, "exit");
}

void host_write_spec(struct runtime *r, const struct runtime_attempt *a, const char *dir,
                     const char *command)
{
    char path[4096];
    const char *words[] = {command, NULL}, *env[] = {NULL};
    struct arena arena = {0};
    struct str text = {0};
    struct launch_spec spec;
    struct err err;
    launch_spec_init(&spec);
    spec.job = a->job;
    spec.attempt = a->attempt;
    spec.command = words;
    spec.env = env;
    spec.workdir = spec.socket = "/nowhere";
    spec.token = "none";
    assert_ok(runtime_local.prepare(r, a, &spec, &arena, &err), err);
    record_encode(&launch_spec_record, &spec, &text);
    snprintf(path, sizeof path, "%s/spec.json", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text.at, f) >= 0 && fclose(f) == 0);
    str_done(&text);
    arena_done(&arena);
}

void host_start(struct runtime *r, const char *state_dir, const struct runtime_attempt *a,
                const char *command)
{
    char dir[2048];
    struct err err;
    int64_t pid = 0;
    snprintf(dir, sizeof dir, "%s/jobs", state_dir);
    mkdir(dir, 0755);
    snprintf(dir, sizeof dir, "%s/jobs/%lld", state_dir, (long long)a->job);
    mkdir(dir, 0755);
    snprintf(dir, sizeof dir, "%s/jobs/%lld/%u", state_dir, (long long)a->job, a->attempt);
    assert_int_equal(mkdir(dir, 0755), 0);
    host_write_spec(r, a, dir, command);
    assert_ok(runtime_local.spawn(r, dir, &pid, &err), err);
    host_until(read_number(state_dir, a, "pid") > 0);
    assert_int_equal(host_conductor_pid(state_dir, a), pid);
}

void host_clean(struct runtime *r, const struct runtime_attempt *a)
{
    struct err err = {0};
    int left = -1;
    host_until((left = runtime_local.clean(r, a, &err)) <= 0);
    if (left)
        fail_msg("clean: %s", err.text);
}

double host_cpu_seconds(int64_t pid)
{
    char path[64];
    struct str text = {0};
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (textfile_read(path, &text) == 0)
        sscanf(strrchr(text.at, ')'), ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
               &user, &system);
    str_done(&text);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

const char *host_status(int64_t pid, const char *field)
{
    static char value[256];
    char path[64];
    struct str text = {0};
    value[0] = 0;
    snprintf(path, sizeof path, "/proc/%lld/status", (long long)pid);
    const char *at = textfile_read(path, &text) ? NULL : strstr(text.at, field);
    if (at)
        sscanf(at + strlen(field), ":%255s", value);
    str_done(&text);
    return value;
}

unsigned host_count(const char *state_dir)
{
    unsigned n = 0;
    const char *name = conduct_name(state_dir);
    DIR *d = opendir("/proc");
    for (const struct dirent *e; d && (e = readdir(d));) {
        int64_t pid = atoll(e->d_name);
        n += pid > 0 && strcmp(host_status(pid, "Name"), name) == 0 &&
             host_status(pid, "State")[0] != 'Z';
    }
    closedir(d);
    return n;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Seconds that the machine's CPUs were idle. */
static double idle_seconds(void)
{
    struct str text = {0};
    unsigned long idle = 0;
    if (textfile_read("/proc/stat", &text) == 0)
        sscanf(text.at, "cpu %*u %*u %*u %lu", &idle);
    str_done(&text);
    return (double)idle / (double)sysconf(_SC_CLK_TCK);
}

double host_cpus_used(int64_t pid, unsigned milliseconds, double *idle)
{
    double from = now(), before = host_cpu_seconds(pid), idle_before = idle_seconds();
    host_sleep(milliseconds);
    double seconds = now() - from;
    *idle = (idle_seconds() - idle_before) / seconds;
    return (host_cpu_seconds(pid) - before) / seconds;
}

void host_assert_uses(int64_t pid, double low, double high)
{
    double used = 0, idle;
    for (unsigned i = 0; i < 6; i++) {
        used = host_cpus_used(pid, 1000, &idle);
        if ((used >= low || idle < 0.1) && used <= high)
            return;
    }
    fail_msg("used %.2f CPUs, should be %.2f to %.2f", used, low, high);
}

void host_open_with_groups(struct host *h)
{
    host_open(h);
    if (!h->r->cgroups.n)
        SKIP(h->notice);
}

void host_need(const struct host *h, unsigned controllers)
{
    if ((h->r->cgroups.controllers & controllers) != controllers)
        SKIP("a controller is missing");
}

int64_t host_group_number(const struct host *h, const struct runtime_attempt *a, const char *file,
                          const char *key)
{
    char path[256];
    struct str text = {0};
    int64_t value = -1;
    for (uint32_t i = 0; i < h->r->cgroups.n && value < 0; i++) {
        snprintf(path, sizeof path, "%lld.%u/%s", (long long)a->job, a->attempt, file);
        if (textfile_read_at(h->r->cgroups.at[i].fd, path, &text))
            continue;
        const char *at = key ? strstr(text.at, key) : text.at;
        value = at ? atoll(at + (key ? strlen(key) : 0)) : -1;
    }
    str_done(&text);
    return value;
}
