/* The local runtime: jobs as processes of this machine, in control groups where it
 * may make them. It owns the operations; what an attempt holds is in held.c, which
 * CPUs it gets in cpus.c, the groups in cgroup*.c, jobs without groups in process.c.
 *
 * Groups are called JOB.ATTEMPT below a base that is named after the state directory,
 * so that servers with different state never meet. Nothing is kept here that could not
 * be found again: the kernel's groups and processes are the record, and a new server
 * takes them over from there. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "runtime/local/local.h"
#include "runtime/local/process.h"
#include "runtime/local/spawn.h"

/* ---- open and close --------------------------------------------------------- */

/* FNV-1a over the absolute path. */
static uint64_t hash_path(const char *path)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (const unsigned char *p = (const unsigned char *)path; *p; p++)
        hash = (hash ^ *p) * 0x100000001b3;
    return hash;
}

static void add_notice(struct runtime *r, const char *text)
{
    str_addf(&r->notice, "%s%s", r->notice.n ? "\n" : "", text);
}

static void say_without_groups(struct runtime *r, const char *why)
{
    struct str text = {0};
    str_addf(&text,
             "jobs run without control groups: %s. CPUs are held by affinity and shares by nice "
             "values, memory and the number of processes are not limited, and a process that hides "
             "from its job can stay behind. Run the server as root%s",
             why,
             r->cgroups.version == &cgroup_v2
                 ? ", as a service with Delegate=yes, or with: systemd-run "
                   "--user --scope -p Delegate=yes trainyard serve"
                 : "");
    add_notice(r, text.at);
    str_done(&text);
}

static void say_what_is_missing(struct runtime *r, const char *why)
{
    static const struct {
        unsigned controller;
        const char *instead;
    } lacks[] = {
        {CGROUP_CPU, "CPU shares are nice values only"},
        {CGROUP_CPUSET, "CPUs are held by affinity"},
        {CGROUP_MEMORY, "memory is not limited"},
        {CGROUP_PIDS, "the number of processes is not limited"},
    };
    struct str text = {0};
    for (size_t i = 0; i < COUNT_OF(lacks); i++)
        if (!(r->cgroups.controllers & lacks[i].controller))
            str_addf(&text, "%s%s", text.n ? ", " : "", lacks[i].instead);
    if (text.n) {
        str_addf(&text, ": %s", why && *why ? why : "the kernel does not offer the controllers");
        add_notice(r, text.at);
    }
    str_done(&text);
}

static void open_groups(struct runtime *r, const struct cgroup_mounts *m, const char *state_dir)
{
    struct str why = {0};
    char base[64];
    snprintf(base, sizeof base, "trainyard-%016llx", (unsigned long long)hash_path(state_dir));
    if (cgroup_open(m, base, &r->cgroups, &why))
        say_without_groups(r, why.n ? why.at : "none can be made");
    else
        say_what_is_missing(r, why.at);
    str_done(&why);
}

static int open_machine(struct runtime *r, const char *state_dir, struct err *err)
{
    struct cgroup_mounts mounts;
    if (cgroup_find("/proc", &mounts, err))
        return -1;
    int result = inventory_read(&mounts, &r->inventory, err);
    if (!result)
        result = topology_load(&r->topology, &r->inventory.usable, NULL, err);
    if (!result)
        result = gpus_find(&r->gpus, NULL, err);
    if (!result) {
        cpus_init(&r->cpus, &r->topology);
        open_groups(r, &mounts, state_dir);
        if (r->gpus.left_out.n)
            add_notice(r, r->gpus.left_out.at);
        r->node = (struct runtime_node){
            .name = r->inventory.name,
            .cpus = r->inventory.cpus,
            .gpus = (units_t)r->gpus.gpu.n * UNIT,
            .gpu_type = r->gpus.gpu.n ? r->gpus.gpu.at[0].model : NULL,
            .memory_mb = r->inventory.memory_mb,
        };
    }
    cgroup_mounts_done(&mounts);
    return result;
}

static void local_close(struct runtime *r)
{
    if (!r)
        return;
    while (r->held.n)
        held_drop(r, r->held.at[r->held.n - 1]);
    VEC_DONE(&r->held);
    cgroup_close(&r->cgroups);
    cpus_done(&r->cpus);
    gpus_done(&r->gpus);
    topology_done(&r->topology);
    str_done(&r->notice);
    free(r->jobs_dir);
    free(r->conductor);
    free(r);
}

static int local_open(struct runtime **out, const char *state_dir, const char **notice,
                      struct err *err)
{
    char *full AUTO_FREE = realpath(state_dir, NULL);
    if (!full)
        return err_set(err, ERR_IO, "state directory %s: %s", state_dir, strerror(errno));
    struct runtime *r = xcalloc(1, sizeof *r);
    struct str jobs = {0};
    str_addf(&jobs, "%s/jobs", full);
    r->jobs_dir = jobs.at;
    if (spawn_find_conductor(&r->conductor, err) || open_machine(r, full, err)) {
        local_close(r);
        return -1;
    }
    *notice = r->notice.n ? r->notice.at : NULL;
    *out = r;
    return 0;
}

static const struct runtime_node *local_nodes(const struct runtime *r, uint32_t *n)
{
    *n = 1;
    return &r->node;
}

/* ---- attempts --------------------------------------------------------------- */

static int check_attempt(const struct runtime *r, const struct runtime_attempt *a, struct err *err)
{
    if (a->node && strcmp(a->node, r->node.name) != 0)
        return err_set(err, ERR_NOT_FOUND, "no node '%s' here; this one is '%s'", a->node,
                       r->node.name);
    if (a->cpus < 0 || (a->cpus == 0 && a->gpus == 0) || !(a->cpu_weight > 0) ||
        isinf(a->cpu_weight) || a->gpus < 0 || a->memory_mb < 0 || a->memory_mb > INT64_MAX >> 21 ||
        a->pids < 0)
        return err_set(err, ERR_INVALID,
                       "job %lld: CPUs and weight must be more than 0, limits not less",
                       (long long)a->job);
    if (a->gpus > r->node.gpus)
        return err_set(err, ERR_LIMIT, "job %lld wants %g GPUs, %s has %g", (long long)a->job,
                       (double)a->gpus / UNIT, r->node.name, (double)r->node.gpus / UNIT);
    return 0;
}

static int find_attempt(const struct runtime *r, const struct runtime_attempt *a, struct held **out,
                        struct err *err)
{
    *out = held_find(r, a->job, a->attempt);
    return *out ? 0
                : err_set(err, ERR_NOT_FOUND, "job %lld, attempt %u: nothing is held for it here",
                          (long long)a->job, a->attempt);
}

static json_t *groups_json(const struct runtime *r, const struct held *h)
{
    json_t *list = json_array();
    struct str path = {0};
    for (uint32_t i = 0; i < r->cgroups.n; i++) {
        path.n = 0;
        str_addf(&path, "%s/%s", r->cgroups.at[i].base, h->name);
        json_array_append_new(list,
                              json_pack("{s:s, s:s}", "path", path.at, "procs", "cgroup.procs"));
    }
    str_done(&path);
    return list;
}

static json_t *gpus_json(const struct runtime *r, const struct held *h)
{
    json_t *list = json_array();
    for (size_t i = 0; i < h->gpus.share.n; i++)
        json_array_append_new(list, json_string(r->gpus.gpu.at[h->gpus.share.at[i].gpu].uuid));
    return list;
}

static int local_prepare(struct runtime *r, const struct runtime_attempt *a, void *spec,
                         struct err *err)
{
    if (check_attempt(r, a, err))
        return -1;
    if (held_find(r, a->job, a->attempt))
        return err_set(err, ERR_CONFLICT, "job %lld, attempt %u was prepared before",
                       (long long)a->job, a->attempt);
    struct held *h = held_add(r, a->job, a->attempt);
    held_size(r, h, a);
    gpus_give(&r->gpus, &h->gpus, a->gpus);
    held_weigh(r);
    h->grouped = r->cgroups.n > 0;
    if (h->grouped && (cgroup_create(&r->cgroups, h->name, err) || held_apply(r, h, err))) {
        cgroup_destroy(&r->cgroups, h->name, NULL);
        held_drop(r, h);
        held_weigh(r);
        return -1;
    }
    unsigned by_groups = h->grouped ? r->cgroups.controllers : 0;
    json_object_set_new(spec, "cgroup", groups_json(r, h));
    json_object_set_new(spec, "cpuset_os", json_string(h->set.at));
    json_object_set_new(spec, "nice", json_integer(by_groups & CGROUP_CPU ? 0 : held_nice(h)));
    if (h->gpus.share.n)
        json_object_set_new(spec, "gpus", gpus_json(r, h));
    return 0;
}

static int local_spawn(struct runtime *r, const char *attempt_dir, int64_t *pid, struct err *err)
{
    char full[PATH_MAX];
    if (!realpath(attempt_dir, full))
        return err_set(err, ERR_IO, "attempt directory %s: %s", attempt_dir, strerror(errno));
    return spawn_detached(r->conductor, full, pid, err);
}

static int local_resize(struct runtime *r, const struct runtime_attempt *a, struct err *err)
{
    struct held *h;
    if (check_attempt(r, a, err) || find_attempt(r, a, &h, err))
        return -1;
    held_size(r, h, a);
    held_weigh(r);
    return held_apply(r, h, err);
}

/* Enters the GPUs that the attempt was started with, by its spec.json. */
static void claim_gpus(struct runtime *r, struct held *h)
{
    struct str path = {0};
    str_addf(&path, "%s/%lld/%u/spec.json", r->jobs_dir, (long long)h->job, h->attempt);
    json_t *spec = json_load_file(path.at, 0, NULL);
    const json_t *list = json_object_get(spec, "gpus");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *uuid = json_string_value(json_array_get(list, i));
        if (uuid)
            gpus_claim(&r->gpus, &h->gpus, uuid);
    }
    json_decref(spec);
    str_done(&path);
}

static int local_adopt(struct runtime *r, const struct runtime_attempt *a, struct err *err)
{
    if (check_attempt(r, a, err))
        return -1;
    struct held *h = held_find(r, a->job, a->attempt);
    if (!h) {
        h = held_add(r, a->job, a->attempt);
        h->grouped = r->cgroups.n && cgroup_exists(&r->cgroups, h->name);
        claim_gpus(r, h);
        gpus_give(&r->gpus, &h->gpus, a->gpus);
        held_claim(r, h, a);
    }
    held_weigh(r);
    return held_apply(r, h, err);
}

static int local_freeze(struct runtime *r, const struct runtime_attempt *a, bool frozen,
                        struct err *err)
{
    struct held *h;
    if (find_attempt(r, a, &h, err))
        return -1;
    if (h->grouped && r->cgroups.can_freeze)
        return r->cgroups.version->freeze(&r->cgroups, h->name, frozen, err);
    pid_list pids = {0};
    held_processes(r, h, &pids);
    process_signal(&pids, frozen ? SIGSTOP : SIGCONT);
    VEC_DONE(&pids);
    return 0;
}

/* Kills the processes of an attempt without groups; 1 while there are any. */
static int kill_processes(const struct runtime *r, const struct held *h)
{
    pid_list pids = {0};
    held_processes(r, h, &pids);
    process_signal(&pids, SIGKILL);
    int left = pids.n > 0;
    VEC_DONE(&pids);
    return left;
}

static int local_clean(struct runtime *r, const struct runtime_attempt *a, struct err *err)
{
    struct held *h = held_find(r, a->job, a->attempt);
    struct held unknown = {.job = a->job, .attempt = a->attempt};
    snprintf(unknown.name, sizeof unknown.name, "%lld.%u", (long long)a->job, a->attempt);
    const struct held *which = h ? h : &unknown;
    int left = r->cgroups.n ? cgroup_destroy(&r->cgroups, which->name, err) : 0;
    if (left < 0)
        return -1;
    if (!which->grouped)
        left |= kill_processes(r, which);
    if (left || !h)
        return left;
    held_drop(r, h);
    held_weigh(r);
    return 0;
}

/* ---- what was left behind ---------------------------------------------------- */

struct found {
    const struct runtime *r;
    VEC(struct runtime_attempt) at;
};

static void add_found(struct found *f, const char *text, char separator)
{
    long long job;
    unsigned attempt;
    char between, end;
    if (sscanf(text, "%lld%c%u%c", &job, &between, &attempt, &end) != 3 || between != separator ||
        job <= 0)
        return;
    for (size_t i = 0; i < f->at.n; i++)
        if (f->at.at[i].job == job && f->at.at[i].attempt == attempt)
            return;
    VEC_PUSH(&f->at, (struct runtime_attempt){.job = job, .attempt = attempt});
}

static void add_group(void *ctx, const char *name)
{
    add_found(ctx, name, '.');
}

static void add_directory(void *ctx, const char *dir)
{
    struct found *f = ctx;
    add_found(f, dir + strlen(f->r->jobs_dir) + 1, '/');
}

static void local_leftovers(struct runtime *r, void (*fn)(void *ctx, int64_t job, uint32_t attempt),
                            void *ctx)
{
    struct found f = {.r = r};
    if (r->cgroups.n)
        cgroup_each(&r->cgroups, add_group, &f);
    /* Also with groups: an earlier server may have had none. */
    process_each_attempt(r->jobs_dir, add_directory, &f);
    for (size_t i = 0; i < f.at.n; i++)
        fn(ctx, f.at.at[i].job, f.at.at[i].attempt);
    VEC_DONE(&f.at);
}

static const char *local_cpuset(const struct runtime *r, const struct runtime_attempt *a)
{
    const struct held *h = held_find(r, a->job, a->attempt);
    return h ? h->set.at : NULL;
}

const struct runtime_ops runtime_local = {
    .name = "local",
    .open = local_open,
    .close = local_close,
    .nodes = local_nodes,
    .prepare = local_prepare,
    .spawn = local_spawn,
    .resize = local_resize,
    .freeze = local_freeze,
    .adopt = local_adopt,
    .clean = local_clean,
    .leftovers = local_leftovers,
    .cpuset = local_cpuset,
};
