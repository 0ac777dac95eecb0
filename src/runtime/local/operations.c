/* Owns the operations of the local runtime.
 *
 * Whether an attempt may be started or given up is decided by its claim file, and only
 * there: link(2) makes it appear for one of those who try, a conductor or this server. */
#include "runtime/local/operations.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "protocol/claim.h"
#include "runtime/local/files.h"
#include "runtime/local/links.h"
#include "runtime/local/local.h"
#include "runtime/local/process.h"
#include "runtime/local/spawn.h"

/* Between two looks at processes that are dying. */
enum { DYING_LOOK = 5000 };

/* ---- start ----------------------------------------------------------------------- */

static int check_size(const struct runtime *r, struct attempt_id id, const struct runtime_size *s,
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

static void add_groups(const struct runtime *r, const struct held *h, const struct runtime_start *s)
{
    struct launch_spec *spec = s->spec;
    spec->cgroups.n = r->cgroups.n;
    spec->cgroups.at = ARENA_ARRAY(s->arena, r->cgroups.n, struct launch_cgroup);
    for (uint32_t i = 0; i < r->cgroups.n; i++) {
        struct str path = {0};
        str_addf(&path, "%s/%s", r->cgroups.at[i].base, h->name);
        spec->cgroups.at[i] =
            (struct launch_cgroup){arena_strdup(s->arena, path.at), "cgroup.procs"};
        str_done(&path);
    }
}

/* By UUID, to the conductor and to the job. */
static void add_gpus(const struct runtime *r, const struct held *h, const struct runtime_start *s)
{
    struct str list = {0};
    size_t n = h->gpus.share.n;
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

static int hold(struct runtime *r, const struct runtime_op *op, struct held **out, struct err *err)
{
    struct held *h = held_add(r, op->id.job, op->id.n);
    held_size(r, h, &op->size);
    gpus_give(&r->gpus, &h->gpus, op->size.gpus);
    held_weigh(r);
    h->grouped = r->cgroups.n > 0;
    if (!h->grouped ||
        (cgroup_create(&r->cgroups, h->name, err) == 0 && held_apply(r, h, err) == 0)) {
        *out = h;
        return 0;
    }
    cgroup_destroy(&r->cgroups, h->name, NULL);
    held_drop(r, h);
    held_weigh(r);
    return -1;
}

static int start(struct runtime *r, struct runtime_op *op, struct err *err)
{
    const struct runtime_start *s = op->start;
    struct held *h;
    if (check_size(r, op->id, &op->size, err) < 0)
        return -1;
    if (held_find(r, op->id.job, op->id.n))
        return 0;
    if (hold(r, op, &h, err) < 0)
        return -1;
    unsigned by_groups = h->grouped ? r->cgroups.controllers : 0;
    s->spec->socket = r->links ? links_path(r->links) : "/nonexistent";
    s->spec->cpuset = h->set.at;
    s->spec->nice = by_groups & CGROUP_CPU ? 0 : held_nice(h);
    add_groups(r, h, s);
    add_gpus(r, h, s);
    AUTO_FREE char *dir = files_dir(r, op->id);
    if (files_write(dir, s, err) < 0)
        return -1;
    return spawn_detached(r->conductor, dir, &op->pid, err);
}

/* ---- what became of it ------------------------------------------------------------ */

static int read_fate(struct runtime_op *op, int dir, const struct claim *claim, struct err *err)
{
    struct err none;
    switch (claim->state) {
    case CLAIM_NONE:
        op->fate = FATE_PENDING;
        return 0;
    case CLAIM_VOID:
        op->fate = FATE_NEVER_RAN;
        return 0;
    case CLAIM_HELD:
        op->fate = FATE_RUNNING;
        return 0;
    case CLAIM_DEAD:
        break;
    }
    int rc = exit_record_read(dir, &op->arena, &op->record, &none);
    if (rc < 0 && none.code == ERR_IO)
        return err_set(err, ERR_IO, "%s", none.text);
    op->fate = rc == 0 ? FATE_ENDED : FATE_LOST;
    return 0;
}

/* An attempt whose directory is not there has never begun, and nobody can begin it: who
 * would, finds no spec.json. */
static int settle(struct runtime *r, struct runtime_op *op, struct err *err)
{
    AUTO_FREE char *path = files_dir(r, op->id);
    AUTO_CLOSE int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct claim claim = {.state = CLAIM_NONE};
    struct err lost;
    if (dir < 0 && errno != ENOENT)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (dir < 0) {
        op->fate = op->give_up ? FATE_NEVER_RAN : FATE_PENDING;
        return 0;
    }
    if (claim_look(dir, &claim, err) < 0)
        return -1;
    if (claim.state == CLAIM_NONE && op->give_up && claim_void(dir, &lost) < 0 &&
        lost.code != ERR_CONFLICT)
        return err_set(err, lost.code, "%s", lost.text);
    if (claim.state == CLAIM_NONE && op->give_up && claim_look(dir, &claim, err) < 0)
        return -1;
    return read_fate(op, dir, &claim, err);
}

/* ---- sizes ------------------------------------------------------------------------- */

static int find_held(const struct runtime *r, struct attempt_id id, struct held **out,
                     struct err *err)
{
    *out = held_find(r, id.job, id.n);
    return *out ? 0
                : err_set(err, ERR_NOT_FOUND, "job %lld, attempt %u: nothing is held for it here",
                          (long long)id.job, id.n);
}

static int resize(struct runtime *r, const struct runtime_op *op, struct err *err)
{
    struct held *h;
    if (check_size(r, op->id, &op->size, err) < 0 || find_held(r, op->id, &h, err) < 0)
        return -1;
    held_size(r, h, &op->size);
    held_weigh(r);
    return held_apply(r, h, err);
}

static int freeze(struct runtime *r, const struct runtime_op *op, struct err *err)
{
    struct held *h;
    if (find_held(r, op->id, &h, err) < 0)
        return -1;
    if (h->grouped && r->cgroups.can_freeze)
        return r->cgroups.version->freeze(&r->cgroups, h->name, op->frozen, err);
    pid_list pids = {0};
    held_processes(r, h, &pids);
    process_signal(&pids, op->frozen ? SIGSTOP : SIGCONT);
    VEC_DONE(&pids);
    return 0;
}

/* ---- the end ----------------------------------------------------------------------- */

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

/* Ends all of it but its conductor. 1 while processes are dying, -1 on failure. */
static int end_processes(struct runtime *r, struct attempt_id id, struct err *err)
{
    struct held *h = held_find(r, id.job, id.n);
    struct held unknown = {.job = id.job, .attempt = id.n};
    snprintf(unknown.name, sizeof unknown.name, "%lld.%u", (long long)id.job, id.n);
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

static int clean(struct runtime *r, const struct runtime_op *op, struct err *err)
{
    int left = end_processes(r, op->id, err);
    if (left)
        return left;
    AUTO_FREE char *dir = files_dir(r, op->id);
    exit_record_remove(dir);
    return 0;
}

/* ---- all of them ------------------------------------------------------------------- */

static int carry_out(struct runtime *r, struct runtime_op *op)
{
    switch (op->kind) {
    case OP_START:
        return start(r, op, &op->err);
    case OP_SETTLE:
        return settle(r, op, &op->err);
    case OP_RESIZE:
        return resize(r, op, &op->err);
    case OP_FREEZE:
        return freeze(r, op, &op->err);
    case OP_CLEAN:
        break;
    }
    return clean(r, op, &op->err);
}

void operation_begin(struct runtime *r, struct runtime_op *op)
{
    op->err = (struct err){.code = ERR_OK};
    if (carry_out(r, op) <= 0) {
        runtime_complete(r->host, op);
        return;
    }
    if (!r->cleaning.n)
        r->clean_at = 0; /* at the next turn */
    VEC_PUSH(&r->cleaning, op);
}

void operation_turn(struct runtime *r, usec_t now)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->cleaning.n; i++) {
        struct runtime_op *op = r->cleaning.at[i];
        if (clean(r, op, &op->err) <= 0)
            runtime_complete(r->host, op);
        else if (now >= op->deadline)
            err_set(&op->err, ERR_IO, "processes of it do not end"), runtime_complete(r->host, op);
        else
            r->cleaning.at[kept++] = op;
    }
    r->cleaning.n = kept;
    r->clean_at = now + DYING_LOOK;
}

/* ---- after a restart of the server -------------------------------------------------- */

/* Enters the GPUs that the attempt was started with. */
static void claim_gpus(struct runtime *r, struct held *h)
{
    AUTO_FREE char *path = files_dir(r, (struct attempt_id){h->job, h->attempt});
    AUTO_CLOSE int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct launch_spec spec;
    struct arena arena = {0};
    struct str unknown = {0};
    struct err err;
    if (dir >= 0 && launch_spec_read(dir, &arena, &spec, &unknown, &err) == 0)
        for (size_t i = 0; spec.gpus && spec.gpus[i]; i++)
            gpus_claim(&r->gpus, &h->gpus, spec.gpus[i]);
    str_done(&unknown);
    arena_done(&arena);
}

void operation_adopt(struct runtime *r, struct attempt_id id, const char *node,
                     const struct runtime_size *size)
{
    struct err err;
    (void)node;
    if (held_find(r, id.job, id.n) || check_size(r, id, size, &err) < 0)
        return;
    struct held *h = held_add(r, id.job, id.n);
    h->grouped = r->cgroups.n && cgroup_exists(&r->cgroups, h->name);
    claim_gpus(r, h);
    gpus_give(&r->gpus, &h->gpus, size->gpus);
    held_claim(r, h, size); /* its limits are set by the resize that follows */
}

struct found {
    const struct runtime *r;
    VEC(struct attempt_id) at;
};

static void add_found(struct found *f, const char *text, char separator)
{
    long long job;
    unsigned attempt;
    char between, end;
    if (sscanf(text, "%lld%c%u%c", &job, &between, &attempt, &end) != 3 || between != separator ||
        job <= 0 || held_find(f->r, job, attempt))
        return;
    for (size_t i = 0; i < f->at.n; i++)
        if (f->at.at[i].job == job && f->at.at[i].n == attempt)
            return;
    VEC_PUSH(&f->at, (struct attempt_id){job, attempt});
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

void operation_sweep(struct runtime *r)
{
    struct found f = {.r = r};
    struct err err;
    if (r->cgroups.n)
        cgroup_each(&r->cgroups, add_group, &f);
    /* Also with groups: an earlier server may have had none. */
    process_each_attempt(r->jobs_dir, add_directory, &f);
    for (size_t i = 0; i < f.at.n; i++)
        (void)end_processes(r, f.at.at[i], &err);
    VEC_DONE(&f.at);
}
