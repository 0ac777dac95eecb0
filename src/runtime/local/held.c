/* Owns what attempts hold on this machine: the entry of each, its limits, and putting
 * them into force.
 *
 * Where a controller is missing, each process is changed by itself: CPUs by affinity,
 * weights by nice values. That reaches only processes that exist; those that start later
 * inherit it from them. */
#include "runtime/local/held.h"

#include <math.h>
#include <stdio.h>

#include "runtime/local/files.h"
#include "runtime/local/local.h"
#include "runtime/local/process.h"

enum {
    WEIGHT_MAX = 1000,
    NICE_MAX = 19,
    PIDS_DEFAULT = 8192, /* far above what training needs, far below what a machine has */
    ROUNDS = 4,          /* of looking for processes that were born meanwhile */
};

static int compare(struct attempt_id a, struct attempt_id b)
{
    int by_job = (a.job > b.job) - (a.job < b.job);
    return by_job ? by_job : (a.n > b.n) - (a.n < b.n);
}

/* The index of the first entry that is not before the attempt. */
static size_t position(const struct runtime *r, struct attempt_id id)
{
    size_t lo = 0, hi = r->held.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (compare(r->held.at[mid]->id, id) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct held *held_find(const struct runtime *r, struct attempt_id id)
{
    size_t i = position(r, id);
    return i < r->held.n && compare(r->held.at[i]->id, id) == 0 ? r->held.at[i] : NULL;
}

struct held held_nothing(struct attempt_id id)
{
    struct held h = {.id = id};
    snprintf(h.name, sizeof h.name, "%lld.%u", (long long)id.job, id.n);
    return h;
}

struct held *held_add(struct runtime *r, struct attempt_id id)
{
    struct held *h = xmalloc(sizeof *h);
    size_t i = position(r, id);
    *h = held_nothing(id);
    VEC_PUSH(&r->held, h);
    memmove(r->held.at + i + 1, r->held.at + i, (r->held.n - 1 - i) * sizeof *r->held.at);
    r->held.at[i] = h;
    return h;
}

void held_drop(struct runtime *r, struct held *h)
{
    size_t i = position(r, h->id);
    r->held.n--;
    memmove(r->held.at + i, r->held.at + i + 1, (r->held.n - i) * sizeof *r->held.at);
    cpus_take(&r->cpus, &h->cpus);
    gpus_take(&r->gpus, &h->gpus);
    str_done(&h->set);
    free(h);
}

/* Under a soft sharer the CPUs are everybody's, and only weights and quota act. */
static bool is_soft(const struct runtime_size *s)
{
    return s->cpu_limit > s->cpus || s->cpus == 0;
}

static void set_cpus(const struct runtime *r, struct held *h)
{
    h->bits = h->is_hard ? cpus_set(&r->cpus, &h->cpus) : cpus_all(&r->cpus);
    cpuset_format(&h->bits, &h->set);
    h->limits.cpus = h->set.at;
}

static void set_limits(struct runtime *r, struct held *h, const struct runtime_size *s)
{
    h->weight = s->cpu_weight;
    h->limits.quota = s->cpu_limit > s->cpus ? s->cpu_limit : s->cpus;
    h->limits.memory = s->memory_mb << 20;
    h->limits.pids = s->pids ? s->pids : PIDS_DEFAULT;
    h->is_hard = !is_soft(s);
    set_cpus(r, h);
}

void held_move(struct runtime *r, struct held *h)
{
    struct err err; /* one that is gone by now needs no CPUs */
    if (h->is_hard)
        cpus_give(&r->cpus, &h->cpus, h->limits.quota);
    set_cpus(r, h);
    (void)held_apply(r, h, &err);
}

void held_size(struct runtime *r, struct held *h, const struct runtime_size *s)
{
    if (is_soft(s))
        cpus_take(&r->cpus, &h->cpus);
    else
        cpus_give(&r->cpus, &h->cpus, s->cpus);
    set_limits(r, h, s);
}

/* Where the kernel says that the attempt is now. */
static bool read_cpus(const struct runtime *r, const struct held *h, struct cpuset *out)
{
    pid_list pids = {0};
    struct str text = {0};
    bool found = h->grouped && cgroup_cpus(&r->cgroups, h->name, &text) == 0 &&
                 cpuset_parse(text.at, out, NULL) == 0 && cpuset_count(out) > 0;
    if (!found) {
        held_processes(r, h, &pids);
        for (size_t i = 0; i < pids.n && !found; i++)
            found = process_cpus(pids.at[i], out) == 0;
    }
    str_done(&text);
    VEC_DONE(&pids);
    return found;
}

void held_claim(struct runtime *r, struct held *h, const struct runtime_size *s)
{
    struct cpuset now = {0};
    if (!is_soft(s) && read_cpus(r, h, &now))
        cpus_claim(&r->cpus, &h->cpus, &now, s->cpus);
    held_size(r, h, s);
}

void held_processes(const struct runtime *r, const struct held *h, pid_list *out)
{
    if (h->grouped) {
        cgroup_processes(&r->cgroups, h->name, out);
        return;
    }
    AUTO_FREE char *dir = files_dir(r, h->id);
    process_find(dir, out);
}

int held_nice(const struct held *h)
{
    /* One step of nice is a factor of about 1.25 in the kernel's table of weights. */
    double steps = log((double)WEIGHT_MAX / h->limits.weight) / log(1.25);
    return steps < NICE_MAX ? (int)lround(steps) : NICE_MAX;
}

/* On the processes themselves, again when new ones have appeared meanwhile. */
static void apply_to_processes(struct runtime *r, struct held *h, bool cpus, bool nice)
{
    size_t before = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        pid_list pids = {0};
        held_processes(r, h, &pids);
        if (cpus)
            process_set_cpus(&pids, &h->bits);
        if (nice)
            process_set_nice(&pids, held_nice(h));
        bool settled = pids.n <= before;
        before = pids.n;
        VEC_DONE(&pids);
        if (settled)
            return;
    }
}

int held_apply(struct runtime *r, struct held *h, struct err *err)
{
    unsigned by_groups = h->grouped ? r->cgroups.controllers : 0;
    if (h->grouped && r->cgroups.version->set(&r->cgroups, h->name, &h->limits, err))
        return -1;
    h->limits.is_new = false;
    if ((by_groups & CGROUP_CPUSET) == 0 || (by_groups & CGROUP_CPU) == 0)
        apply_to_processes(r, h, !(by_groups & CGROUP_CPUSET), !(by_groups & CGROUP_CPU));
    return 0;
}

void held_weigh(struct runtime *r)
{
    double heaviest = 0;
    for (size_t i = 0; i < r->held.n; i++)
        heaviest = fmax(heaviest, r->held.at[i]->weight);
    for (size_t i = 0; i < r->held.n; i++) {
        struct held *h = r->held.at[i];
        uint32_t weight = (uint32_t)lround(fmax(1, h->weight / heaviest * WEIGHT_MAX));
        if (weight == h->limits.weight)
            continue;
        bool first = h->limits.weight == 0;
        h->limits.weight = weight;
        /* A group that is gone by now has nothing left to weigh. */
        if (!first)
            held_apply(r, h, NULL);
    }
}
