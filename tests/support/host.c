/* Owns the test's side: runtimes that are open, jobs that are started in them, and what
 * /proc tells of their processes. */
#include "support/host.h"

#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include "runtime/local/clean.h"
#include "runtime/local/textfile.h"
#include "support/conduct.h"
#include "support/test.h"

void host_sleep(unsigned milliseconds)
{
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

static usec_t read_now(const struct runtime_host *side)
{
    struct timespec t;
    (void)side;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (usec_t)t.tv_sec * USEC_PER_SEC + t.tv_nsec / 1000;
}

/* ---- opening and closing ----------------------------------------------------- */

static void take_node(struct runtime_host *side, struct runtime *r, const struct runtime_node *n)
{
    struct host *h = side->ctx;
    (void)r;
    h->node = n;
}

static void take_message(struct runtime_host *side, struct runtime_link *link,
                         const struct to_server *m)
{
    (void)side, (void)link, (void)m;
    fail_msg("a message without a socket");
}

static void lose_link(struct runtime_host *side, struct runtime_link *link)
{
    (void)side, (void)link;
    fail_msg("a link without a socket");
}

int host_open_in(struct host *h, const char *dir, struct err *err)
{
    *h = (struct host){.dir = ""};
    snprintf(h->dir, sizeof h->dir, "%s", dir);
    h->side = (struct runtime_host){.ctx = h,
                                    .state_dir = h->dir,
                                    .run_dir = h->dir,
                                    .now = read_now,
                                    .node = take_node,
                                    .message = take_message,
                                    .unlinked = lose_link};
    runtime_host_init(&h->side);
    return runtime_local.open(&h->side, NULL, &h->r, err);
}

static char open_dirs[4][sizeof((struct host *)0)->dir]; /* "" = not in use */

void host_open(struct host *h)
{
    char dir[] = "/tmp/trainyard-test.XXXXXX";
    struct err err;
    size_t i = 0;
    while (*open_dirs[i])
        i++;
    assert_non_null(mkdtemp(dir));
    snprintf(open_dirs[i], sizeof open_dirs[i], "%s", dir);
    assert_ok(host_open_in(h, dir, &err), err);
}

void host_restart(struct host *h)
{
    char dir[sizeof h->dir];
    struct err err;
    memcpy(dir, h->dir, sizeof dir);
    runtime_local.close(h->r);
    assert_ok(host_open_in(h, dir, &err), err);
}

static void remove_dir(const char *dir)
{
    struct str command = {0};
    str_addf(&command, "rm -r %s", dir);
    if (system(command.at))
        print_message("# cannot remove %s\n", dir);
    str_done(&command);
}

void host_close(struct host *h)
{
    struct str base = {0};
    str_add(&base, h->r->cgroups.n ? h->r->cgroups.at[0].base : "");
    runtime_local.close(h->r);
    for (size_t i = 0; i < COUNT_OF(open_dirs); i++)
        if (strcmp(open_dirs[i], h->dir) == 0)
            *open_dirs[i] = 0;
    host_until(host_count(h->dir) == 0);
    remove_dir(h->dir);
    assert_int_equal(access(base.at, F_OK), -1);
    str_done(&base);
}

/* With a runtime of its own: a test may have closed the one that it had. */
int host_sweep(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(open_dirs); i++) {
        struct host h;
        if (!*open_dirs[i])
            continue;
        if (host_open_in(&h, open_dirs[i], NULL) == 0) {
            runtime_local.sweep(h.r);
            for (unsigned tries = 0; clean_due(h.r) != USEC_NEVER && tries < 1000; tries++) {
                runtime_local.turn(h.r, read_now(&h.side));
                host_sleep(5);
            }
            runtime_local.close(h.r);
        }
        remove_dir(open_dirs[i]);
        *open_dirs[i] = 0;
    }
    return 0;
}

void host_open_with_groups(struct host *h)
{
    host_open(h);
    if (!h->r->cgroups.n)
        SKIP(h->node->notice);
}

void host_need(const struct host *h, unsigned controllers)
{
    if ((h->r->cgroups.controllers & controllers) != controllers)
        SKIP("a controller is missing");
}

/* ---- operations -------------------------------------------------------------- */

struct host_attempt host_attempt(int64_t job, units_t cpus)
{
    return (struct host_attempt){.id = {job, 1, 0},
                                 .size = {.cpus = cpus, .cpu_limit = cpus, .cpu_weight = 1}};
}

struct runtime_op host_op(const struct host *h, enum runtime_op_kind kind,
                          const struct host_attempt *a)
{
    return (struct runtime_op){.kind = kind,
                               .id = a->id,
                               .node = h->node->name,
                               .size = a->size,
                               .deadline = read_now(&h->side) + 10 * USEC_PER_SEC};
}

static void take_turn(struct host *h)
{
    usec_t now = read_now(&h->side);
    if (runtime_local.due(h->r) <= now)
        runtime_local.turn(h->r, now);
}

static bool is_at_rest(struct host *h)
{
    take_turn(h);
    return clean_due(h->r) == USEC_NEVER;
}

void host_rest(struct host *h)
{
    host_until(is_at_rest(h));
}

static struct runtime_op *collect(struct host *h)
{
    take_turn(h);
    return runtime_collect(&h->side);
}

int host_do(struct host *h, struct runtime_op *op, struct err *err)
{
    struct runtime_op *complete = NULL;
    runtime_local.begin(h->r, op);
    host_until((complete = collect(h)));
    assert_ptr_equal(complete, op);
    assert_null(runtime_collect(&h->side));
    *err = op->err;
    return op->err.code == ERR_OK ? 0 : -1;
}

void host_launch(const struct host *h, const struct host_attempt *a, const char *command,
                 struct host_launch *out)
{
    *out = (struct host_launch){0};
    struct launch_spec *spec = &out->spec;
    AUTO_FREE char *files = runtime_local.files(h->r, a->id);
    launch_spec_init(spec);
    spec->job = a->id.job;
    spec->attempt = a->id.n;
    spec->workdir = "/";
    spec->token = "secret";
    spec->command = ARENA_ARRAY(&out->arena, 2, const char *);
    spec->command[0] = arena_strdup(&out->arena, command);
    launch_spec_set(spec, &out->arena, "TRAINYARD_PROGRESS", "%s/progress", files);
    out->start = (struct runtime_start){.spec = spec, .arena = &out->arena};
}

int host_start_conductor(struct host *h, const struct host_attempt *a, const char *command,
                         int64_t *pid, struct err *err)
{
    struct host_launch l;
    struct runtime_op op = host_op(h, OP_START, a);
    host_launch(h, a, command, &l);
    op.start = &l.start;
    int rc = host_do(h, &op, err);
    arena_done(&l.arena);
    *pid = op.pid;
    return rc;
}

void host_start(struct host *h, const struct host_attempt *a, const char *command)
{
    struct err err;
    int64_t pid;
    assert_ok(host_start_conductor(h, a, command, &pid, &err), err);
    host_until(host_pid(h, a) > 0);
    assert_int_equal(host_conductor_pid(h, a), pid);
}

int host_resize(struct host *h, const struct host_attempt *a, struct err *err)
{
    struct runtime_op op = host_op(h, OP_RESIZE, a);
    return host_do(h, &op, err);
}

int host_freeze(struct host *h, const struct host_attempt *a, bool frozen, struct err *err)
{
    struct runtime_op op = host_op(h, OP_FREEZE, a);
    op.frozen = frozen;
    return host_do(h, &op, err);
}

static enum runtime_fate settle(struct host *h, const struct host_attempt *a, bool give_up,
                                struct exit_record *record)
{
    struct runtime_op op = host_op(h, OP_SETTLE, a);
    struct err err;
    op.give_up = give_up;
    assert_ok(host_do(h, &op, &err), err);
    *record = op.record;
    record->warnings = NULL;
    arena_done(&op.arena);
    return op.fate;
}

enum runtime_fate host_settle(struct host *h, const struct host_attempt *a, bool give_up)
{
    struct exit_record record;
    return settle(h, a, give_up, &record);
}

struct exit_record host_wait(struct host *h, const struct host_attempt *a)
{
    struct exit_record record;
    host_until(settle(h, a, false, &record) == FATE_ENDED);
    return record;
}

void host_clean(struct host *h, const struct host_attempt *a)
{
    struct runtime_op op = host_op(h, OP_CLEAN, a);
    struct err err;
    assert_ok(host_do(h, &op, &err), err);
}

/* ---- what there is ----------------------------------------------------------- */

static int64_t read_number(const struct host *h, const struct host_attempt *a, const char *file)
{
    struct str path = {0}, text = {0};
    str_addf(&path, "%s/jobs/%lld/%u/%s", h->dir, (long long)a->id.job, a->id.n, file);
    int64_t n = textfile_read(path.at, &text) ? -1 : atoll(text.at);
    str_done(&path);
    str_done(&text);
    return n;
}

int64_t host_pid(const struct host *h, const struct host_attempt *a)
{
    return read_number(h, a, "pid");
}

int64_t host_conductor_pid(const struct host *h, const struct host_attempt *a)
{
    return read_number(h, a, "claim");
}

int64_t host_group_number(const struct host *h, const struct host_attempt *a, const char *file,
                          const char *key)
{
    char path[256];
    struct str text = {0};
    int64_t value = -1;
    for (uint32_t i = 0; i < h->r->cgroups.n && value < 0; i++) {
        snprintf(path, sizeof path, "%lld.%u/%s", (long long)a->id.job, a->id.n, file);
        if (textfile_read_at(h->r->cgroups.at[i].fd, path, &text))
            continue;
        const char *at = key ? strstr(text.at, key) : text.at;
        value = at ? atoll(at + (key ? strlen(key) : 0)) : -1;
    }
    str_done(&text);
    return value;
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
    double before = host_cpu_seconds(pid), idle_before = idle_seconds();
    usec_t from = read_now(NULL);
    host_sleep(milliseconds);
    double seconds = time_seconds(read_now(NULL) - from);
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
