/* Owns the samples of how busy the cluster is. */
#include "server/load.h"

#include <math.h>

#include "server/log.h"
#include "server/yard.h"

/* Between two samples. The first change after a quiet time waits for those that follow it, such
 * as the starts after a submission. */
#define APART (15 * USEC_PER_SEC)
#define SETTLE USEC_PER_SEC

void load_changed(struct yard *y)
{
    usec_t now = clock_now(&y->clock), next = y->load_last + APART;
    if (y->load_at == USEC_NEVER)
        y->load_at = y->load_last && next > now + SETTLE ? next : now + SETTLE;
}

/* ---- what was measured ------------------------------------------------------------- */

/* The use since the last sample is known when that is this old: reports come once a second. */
#define KNOWN_AFTER (5 * USEC_PER_SEC)

void load_used(struct yard *y, uint32_t node, double cpu_s)
{
    y->nodes.at[node].use.cpu_s += cpu_s;
    load_changed(y);
}

static void read_moves(const struct yard *y, struct yard_node *n)
{
    struct err err;
    if (!n->use.moves_read && store_load_moves(y->store, n->name, &n->use.moves, &err) < 0)
        log_warning("node=%s moves: %s", n->name, err.text);
    n->use.moves_read = true;
}

void load_moved(struct yard *y, uint32_t node)
{
    read_moves(y, &y->nodes.at[node]);
    y->nodes.at[node].use.moves++;
}

double load_cpus_used(const struct yard *y, uint32_t node)
{
    const struct node_use *u = &y->nodes.at[node].use;
    usec_t age = clock_now(&y->clock) - y->load_last;
    return y->load_last && age >= KNOWN_AFTER ? u->cpu_s / time_seconds(age)
           : y->load_samples > 1              ? u->cpus_used
                                              : NAN;
}

double load_memory_used(const struct yard *y, uint32_t node)
{
    double sum = 0;
    for (size_t i = 0; i < y->attempts.n; i++) {
        const struct attempt *a = y->attempts.at[i];
        const struct live_job *j = a->node == node ? yard_live(y, a->job) : NULL;
        if (j && j->attempt == a && j->usage.known)
            sum += j->usage.memory_mb;
    }
    return sum;
}

/* The next sample counts from now. */
static void begin_use(struct yard *y, usec_t now)
{
    for (uint32_t i = 0; i < y->nodes.n; i++) {
        struct node_use *u = &y->nodes.at[i].use;
        u->cpus_used = load_cpus_used(y, i);
        u->cpu_s = 0;
    }
    y->load_last = now;
    y->load_samples++;
}

/* ---- samples ----------------------------------------------------------------------- */

static bool is_waiting(enum job_state s)
{
    return s == JOB_HELD || s == JOB_QUEUED;
}

static void count_jobs(const struct yard *y, struct load_row *out)
{
    for (const struct live_job *j = y->jobs.first; j; j = j->next)
        if (is_waiting(j->row.state))
            out->waiting++;
        else
            out->running++;
}

static struct load_row node_load(const struct yard *y, uint32_t index, usec_t at)
{
    read_moves(y, &y->nodes.at[index]);
    const struct node *has = &y->cluster.nodes[index], *held = &y->engine.cluster.nodes[index];
    return (struct load_row){.at = at,
                             .running = (int64_t)held->tasks.n,
                             .cpus = has->cpus,
                             .cpus_held = held->cpu_held,
                             .gpus = has->gpus,
                             .gpus_held = held->gpu_held,
                             .node = has->name,
                             .cpus_used = load_cpus_used(y, index),
                             .memory_mb = has->memory_mb,
                             .memory_used_mb = load_memory_used(y, index),
                             .moves = y->nodes.at[index].use.moves};
}

static struct load_row cluster_load(const struct yard *y, usec_t at)
{
    struct load_row all = {.at = at, .node = ""};
    count_jobs(y, &all);
    for (uint32_t i = 0; i < y->nodes.n; i++) {
        struct load_row one = node_load(y, i, at);
        if (y->nodes.at[i].gone)
            continue;
        all.cpus += one.cpus;
        all.cpus_held += one.cpus_held;
        all.gpus += one.gpus;
        all.gpus_held += one.gpus_held;
        all.cpus_used += one.cpus_used;
        all.memory_mb += one.memory_mb;
        all.memory_used_mb += one.memory_used_mb;
        all.moves += one.moves;
    }
    return all;
}

int load_now(const struct yard *y, store_load_fn fn, void *ctx, struct err *err)
{
    usec_t at = clock_wall(&y->clock);
    struct load_row row = cluster_load(y, at);
    if (fn(ctx, &row, err) < 0)
        return -1;
    for (uint32_t i = 0; i < y->nodes.n; i++) {
        if (y->nodes.at[i].gone)
            continue;
        row = node_load(y, i, at);
        if (fn(ctx, &row, err) < 0)
            return -1;
    }
    return 0;
}

static int add_row(void *ctx, const struct load_row *row, struct err *err)
{
    return store_load_add(ctx, row, err);
}

void load_turn(struct yard *y)
{
    usec_t now = clock_now(&y->clock), wall = clock_wall(&y->clock);
    struct err err;
    if (y->load_at > now)
        return;
    y->load_at = USEC_NEVER;
    if (load_now(y, add_row, y->store, &err) < 0 ||
        store_load_thin(y->store, wall, wall - y->config.keep, &err) < 0)
        log_warning("load: %s", err.text);
    begin_use(y, now);
}
