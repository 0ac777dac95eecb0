/* Owns the start of an attempt: its directory, what it holds, its groups, its files, and
 * last its conductor. The claim decides whether that conductor may run the command
 * (fate.c). */
#include "runtime/local/start.h"

#include <math.h>

#include "base/str.h"
#include "runtime/local/fate.h"
#include "runtime/local/files.h"
#include "runtime/local/links.h"
#include "runtime/local/local.h"
#include "runtime/local/spawn.h"

int start_check_size(const struct runtime *r, struct attempt_id id, const struct runtime_size *s,
                     struct err *err)
{
    if (s->cpus < 0 || (s->cpus == 0 && s->gpus == 0) || !(s->cpu_weight > 0) ||
        isinf(s->cpu_weight) || s->gpus < 0 || s->memory_mb < 0 || s->memory_mb > INT64_MAX >> 21 ||
        s->pids < 0)
        return err_set(err, ERR_INVALID,
                       "job %lld: CPUs and weight must be more than 0, limits not less",
                       (long long)id.job);
    if (s->gpus > r->node.gpus)
        return err_set(err, ERR_LIMIT, "job %lld wants %g GPUs, %s has %g", (long long)id.job,
                       (double)s->gpus / UNIT, r->node.name, (double)r->node.gpus / UNIT);
    return 0;
}

/* ---- what it holds --------------------------------------------------------------- */

static void let_go(struct runtime *r, struct held *h)
{
    if (h->grouped)
        cgroup_destroy(&r->cgroups, h->name, NULL);
    held_drop(r, h);
    held_weigh(r);
}

/* Somebody may have removed the groups above ours while they were empty. */
static int create_groups(struct runtime *r, const struct held *h, struct err *err)
{
    if (cgroup_create(&r->cgroups, h->name, err) == 0)
        return 0;
    if (err->code != ERR_NOT_FOUND || local_open_groups_again(r, err) < 0)
        return -1;
    if (cgroup_create(&r->cgroups, h->name, err) == 0)
        return 0;
    err->code = ERR_IO;
    return -1;
}

static int hold(struct runtime *r, const struct runtime_op *op, struct held **out, struct err *err)
{
    struct held *h = held_add(r, op->id);
    held_size(r, h, &op->size);
    gpus_give(&r->gpus, &h->gpus, op->size.gpus);
    held_weigh(r);
    h->grouped = h->limits.is_new = r->cgroups.n > 0;
    if (h->grouped && (create_groups(r, h, err) < 0 || held_apply(r, h, err) < 0)) {
        let_go(r, h);
        return -1;
    }
    *out = h;
    return 0;
}

/* ---- what its conductor is told --------------------------------------------------- */

static void add_groups(const struct runtime *r, const struct held *h, const struct runtime_start *s)
{
    struct launch_spec *spec = s->spec;
    spec->cgroups.n = r->cgroups.n;
    spec->cgroups.at = ARENA_ARRAY(s->arena, r->cgroups.n, struct launch_cgroup);
    for (uint32_t i = 0; i < r->cgroups.n; i++) {
        struct str path = {0};
        str_addf(&path, "%s/%s", r->cgroups.at[i].base, h->name);
        spec->cgroups.at[i] =
            (struct launch_cgroup){arena_strdup(s->arena, path.at), LAUNCH_CGROUP_PROCS};
        str_done(&path);
    }
}

/* By UUID, to the conductor and to the job. */
static void add_gpus(const struct runtime *r, const struct held *h, const struct runtime_start *s)
{
    struct str list = {0};
    size_t n = h->gpus.share.n;
    /* What the submitter or the server had set would let it use the GPUs of others. */
    if (!n && r->gpus.gpu.n)
        launch_spec_set(s->spec, s->arena, "CUDA_VISIBLE_DEVICES", "%s", "");
    if (!n)
        return;
    s->spec->gpus = ARENA_ARRAY(s->arena, n + 1, const char *);
    for (size_t i = 0; i < n; i++) {
        const char *uuid = r->gpus.gpu.at[h->gpus.share.at[i].gpu].uuid;
        s->spec->gpus[i] = arena_strdup(s->arena, uuid);
        str_addf(&list, "%s%s", i ? "," : "", uuid);
    }
    launch_spec_set(s->spec, s->arena, "CUDA_VISIBLE_DEVICES", "%s", list.at);
    str_done(&list);
}

/* The kernel kills the process with the highest score first: its part of the memory in
 * thousandths, plus this. So of jobs without a limit, whose share is that of their CPUs, the one
 * that exceeds its share by most is the first. A job with a limit cannot exceed it, and comes
 * after all that do. */
static void set_share(const struct runtime *r, const struct runtime_size *size,
                      struct launch_spec *spec)
{
    double has = (double)r->node.memory_mb;
    double part =
        size->memory_mb ? (double)size->memory_mb / has : (double)size->cpus / (double)r->node.cpus;
    if (!(has > 0) || !r->node.cpus)
        return;
    part = part < 1 ? part : 1;
    spec->memory_share = (int64_t)(part * has);
    spec->oom_score_adj = (int32_t)lround((size->memory_mb ? 500 : 1000) * (1 - part));
}

static void complete_spec(const struct runtime *r, const struct held *h,
                          const struct runtime_start *s)
{
    unsigned by_groups = h->grouped ? r->cgroups.controllers : 0;
    s->spec->socket = arena_strdup(s->arena, r->socket);
    s->spec->cpuset = arena_strdup(s->arena, h->set.at);
    s->spec->nice = by_groups & CGROUP_CPU ? 0 : held_nice(h);
    add_groups(r, h, s);
    add_gpus(r, h, s);
}

/* ---- the whole --------------------------------------------------------------------- */

int start_attempt(struct runtime *r, struct runtime_op *op, struct err *err)
{
    AUTO_FREE char *dir = files_dir(r, op->id);
    bool is_new, is_decided = false;
    struct held *h;
    op->pid = 0;
    if (start_check_size(r, op->id, &op->size, err) < 0)
        return -1;
    if (held_find(r, op->id))
        return 0; /* it was started before */
    if (files_make_dir(dir, &is_new, err) < 0 ||
        (!is_new && fate_is_decided(dir, &is_decided, err) < 0))
        return -1;
    if (is_decided)
        return 0;
    if (hold(r, op, &h, err) < 0)
        return -1;
    complete_spec(r, h, op->start);
    set_share(r, &op->size, op->start->spec);
    if (files_write(dir, op->start, err) == 0 &&
        (links_give(r->links, dir, &op->pid) ||
         spawn_detached(r->conductor, dir, r->host->job_descriptors, &op->pid, err) == 0))
        return 0;
    let_go(r, h);
    return -1;
}
