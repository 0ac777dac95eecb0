/* fifo with backfilling in random worlds where estimates are exact: the time at which
 * the first waiting job will find enough units free, worked out from what runs, never
 * moves back, and it has started by then. So no job that overtakes it delays it. */
#include "base/rng.h"
#include "policy/combo.h"
#include "sim/nodes.h"
#include "sim/sim.h"
#include "support/chaos_world.h"
#include "support/test.h"

enum { WORLDS = 400, JOBS = 60 };

struct watch {
    usec_t promised[JOBS]; /* by job: the earliest time that it was promised */
    uint32_t waited, overtaken;
    char why[128];
};

struct future {
    usec_t at;
    units_t n;
};

static int by_time(const void *a, const void *b)
{
    const struct future *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* When `need` units will be free on the node (UINT32_MAX: on all of them). */
static usec_t when(const struct engine *e, uint32_t node, units_t need, usec_t now)
{
    struct future ends[JOBS * 8]; /* a job may be on several nodes */
    size_t n = 0;
    for (size_t i = 0; i < e->running.n; i++) {
        const struct task *t = &e->tasks[e->running.at[i]];
        for (uint32_t k = 0; k < t->at.n; k++)
            if (node == UINT32_MAX || t->at.at[k].node == node)
                ends[n++] = (struct future){task_end(t, now), t->at.at[k].units};
    }
    qsort(ends, n, sizeof *ends, by_time);
    for (uint32_t i = 0; i < e->cluster.n; i++)
        if (node == UINT32_MAX || i == node)
            need -= e->cluster.nodes[i].gpus - e->cluster.nodes[i].gpu_held;
    for (size_t i = 0; i < n && need > 0; i++) {
        need -= ends[i].n;
        if (need <= 0)
            return ends[i].at;
    }
    return need > 0 ? USEC_NEVER : now;
}

static usec_t when_it_can_start(const struct engine *e, const struct job *j, usec_t now)
{
    usec_t first = USEC_NEVER;
    if (!j->whole)
        return when(e, UINT32_MAX, j->req, now);
    for (uint32_t i = 0; i < e->cluster.n; i++) {
        usec_t at = e->cluster.nodes[i].gpus < j->req ? USEC_NEVER : when(e, i, j->req, now);
        first = at < first ? at : first;
    }
    return first;
}

/* After a decision: looks at the first that waits, and at those that run. */
static void observe(void *ctx, const struct engine *e, usec_t now)
{
    struct watch *w = ctx;
    const struct job *head = NULL;
    for (uint32_t i = e->snapshot.first; i != TASK_NONE && !e->dirty; i = e->links[i].next) {
        const struct task *t = &e->tasks[i];
        usec_t *promised = &w->promised[t->job->id];
        if (t->phase == TASK_RUNNING) {
            w->overtaken += head != NULL && t->started_at == now;
            if (t->started_at > *promised && !*w->why)
                snprintf(w->why, sizeof w->why, "%s was promised %.6f, started at %.6f",
                         t->job->name, time_seconds(*promised), time_seconds(t->started_at));
            *promised = USEC_NEVER;
        } else if (!head) {
            head = t->job;
            usec_t at = when_it_can_start(e, head, now);
            if (at > *promised && !*w->why)
                snprintf(w->why, sizeof w->why, "%s was promised %.6f, then %.6f", head->name,
                         time_seconds(*promised), time_seconds(at));
            *promised = at < *promised ? at : *promised;
            w->waited++;
        }
    }
}

/* Rigid GPU jobs, all whole or none; ends fall onto whole seconds. */
static void draw_jobs(struct rng *r, struct arena *a, struct trace *t, bool whole)
{
    usec_t at = 0;
    t->n = JOBS;
    t->jobs = ARENA_ARRAY(a, JOBS, struct job);
    for (uint32_t i = 0; i < JOBS; i++) {
        struct err err;
        units_t n = chaos_maybe(r, 70) ? chaos_between(r, 1, 2) : chaos_between(r, 1, 6);
        char name[8];
        snprintf(name, sizeof name, "j%u", i);
        t->jobs[i] = (struct job){.id = i,
                                  .name = arena_strdup(a, name),
                                  .submit = at,
                                  .pool = POOL_GPU,
                                  .req = n * UNIT,
                                  .whole = whole};
        t->jobs[i].work = (double)(n * chaos_between(r, 1, 100)) * USEC_PER_SEC;
        assert_ok(job_normalise(&t->jobs[i], &err), err);
        at += chaos_maybe(r, 60) ? chaos_between(r, 1, 30) * USEC_PER_SEC : 0;
    }
}

static void check_world(uint64_t seed, const char *placer, struct watch *w)
{
    struct rng r;
    struct arena a = {0};
    struct trace trace = {0};
    struct cluster cluster;
    struct sim_result result;
    struct err err;
    char nodes[32], policy[64];
    rng_init(&r, seed);
    snprintf(nodes, sizeof nodes, "%dx%d,%dx6", (int)chaos_between(&r, 1, 3),
             (int)chaos_between(&r, 2, 5), (int)chaos_between(&r, 1, 2));
    snprintf(policy, sizeof policy, "allocate=fifo,place=%s", placer);
    assert_ok(nodes_parse(nodes, &a, &cluster, &err), err);
    draw_jobs(&r, &a, &trace, seed % 2);
    for (uint32_t i = 0; i < JOBS; i++)
        w->promised[i] = USEC_NEVER;
    struct sim_options o = {
        .trace = &trace, .cluster = &cluster, .seed = seed, .observe = observe, .ctx = w};
    assert_ok(combo_parse(policy, &o.combo, &err), err);
    assert_ok(sim_run(&o, &result, &err), err);
    assert_int_equal(result.finished, JOBS);
    if (*w->why)
        fail_msg("seed %llu, %s, %s: %s", (unsigned long long)seed, nodes, placer, w->why);
    result_done(&result);
    arena_done(&a);
}

static void check_placer(const char *placer)
{
    struct watch w = {0};
    for (uint64_t seed = 1; seed <= WORLDS; seed++)
        check_world(seed, placer, &w);
    /* The property is not empty: jobs waited, and others went past them. */
    assert_true(w.waited > WORLDS);
    assert_true(w.overtaken > WORLDS / 4);
}

static void test_first_fit(void **state)
{
    (void)state;
    check_placer("first-fit");
}

static void test_round_robin(void **state)
{
    (void)state;
    check_placer("round-robin");
}

static void test_spread(void **state)
{
    (void)state;
    check_placer("spread");
}

static const struct CMUnitTest tests[] = {
    TEST(test_first_fit),
    TEST(test_round_robin),
    TEST(test_spread),
};

int main(void)
{
    return RUN(tests);
}
