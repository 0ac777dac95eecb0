/* Owns taking over what an earlier server left running. The kernel is the record: its
 * control groups, and the processes that carry an attempt in their environment. */
#include "runtime/local/adopt.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "runtime/local/clean.h"
#include "runtime/local/fate.h"
#include "runtime/local/files.h"
#include "runtime/local/local.h"
#include "runtime/local/process.h"

/* Enters the GPUs that the attempt was started with. */
static void claim_gpus(struct runtime *r, struct held *h)
{
    AUTO_FREE char *path = files_dir(r, h->id);
    AUTO_CLOSE int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
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

/* Whatever its size is, it runs: what this machine would refuse to start is adopted as
 * well. Its limits are set by the resize that follows. */
void adopt_attempt(struct runtime *r, struct attempt_id id, const char *node,
                   const struct runtime_size *size)
{
    (void)node; /* there is one */
    if (held_find(r, id))
        return;
    struct held *h = held_add(r, id);
    h->grouped = r->cgroups.n && cgroup_exists(&r->cgroups, h->name);
    claim_gpus(r, h);
    gpus_give(&r->gpus, &h->gpus, size->gpus);
    held_claim(r, h, size);
}

/* ---- the rest ---------------------------------------------------------------------- */

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
        job <= 0)
        return;
    struct attempt_id id = {.job = job, .n = attempt};
    if (held_find(f->r, id))
        return;
    for (size_t i = 0; i < f->at.n; i++)
        if (f->at.at[i].job == id.job && f->at.at[i].n == id.n)
            return;
    VEC_PUSH(&f->at, id);
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

/* Its conductor may not have claimed it yet. */
static void end_unknown(struct runtime *r, struct attempt_id id)
{
    struct runtime_op op = {.kind = OP_SETTLE, .id = id, .give_up = true};
    struct err err;
    (void)fate_settle(r, &op, &err); /* its processes are ended in any case */
    arena_done(&op.arena);
    clean_unknown(r, id);
}

void adopt_sweep(struct runtime *r)
{
    struct found f = {.r = r};
    if (r->cgroups.n)
        cgroup_each(&r->cgroups, add_group, &f);
    /* Also with groups: an earlier server may have had none. */
    process_each_attempt(r->jobs_dir, add_directory, &f);
    for (size_t i = 0; i < f.at.n; i++)
        end_unknown(r, f.at.at[i]);
    VEC_DONE(&f.at);
}
