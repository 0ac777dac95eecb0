/* The lower bound on completion times, and finish-time fairness, by hand. */
#include "sim/bound.h"

#include <math.h>

#include "policy/combo.h"
#include "sim/fairness.h"
#include "sim/nodes.h"
#include "sim/sim.h"
#include "support/test.h"

struct world {
    struct arena arena;
    struct cluster cluster;
    struct trace trace;
};

static void world_init(struct world *w, const char *nodes, const char *text)
{
    struct err err;
    *w = (struct world){0};
    struct trace_options o = {.cluster = &w->cluster};
    assert_ok(nodes_parse(nodes, &w->arena, &w->cluster, &err), err);
    assert_ok(trace_parse("trace", text, strlen(text), &o, &w->trace, &err), err);
}

static void world_done(struct world *w)
{
    trace_done(&w->trace);
    arena_done(&w->arena);
}

static void bounds_jobs_alone(void **state)
{
    struct world w;
    (void)state;
    /* Far apart: 100/2.5 and 90/1 s, each at its fastest size. */
    world_init(&w, "1x4",
               "id,submit,work,min,max,speeds\na,0,100,1,4,1/1.8/2.5/2.4\nb,500,90,1,1,1\n");
    assert_near(bound_mean_jct(&w.trace, &w.cluster), (40 + 90) / 2.0, 1e-6);
    world_done(&w);
}

static void bounds_a_full_cluster(void **state)
{
    struct world w;
    (void)state;
    /* On one unit all are most efficient. As one machine of 2: 10, 20 and 30 s, one after the
     * other, end at 10, 30 and 60. */
    world_init(&w, "1x2", "id,submit,duration,req\na,0,20,1\nb,0,40,1\nc,0,60,1\n");
    assert_near(bound_mean_jct(&w.trace, &w.cluster), 40, 1e-6); /* alone, the mean is 40 too */
    world_done(&w);
    world_init(&w, "1x1", "id,submit,duration,req\na,0,20,1\nb,0,40,1\nc,10,5,1\n");
    /* c overtakes: it ends at 15, a at 25, b at 65. */
    assert_near(bound_mean_jct(&w.trace, &w.cluster), (25 + 65 + 5) / 3.0, 1e-6);
    world_done(&w);
}

static void bounds_the_makespan(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "1x2", "id,submit,duration,req\na,10,30,1\nb,20,40,1\nc,30,10,2\n");
    assert_near(bound_makespan(&w.trace, &w.cluster), 50, 1e-6); /* b, from 20 to 60 */
    world_done(&w);
    world_init(&w, "1x2", "id,submit,duration,req\na,0,1,1\nb,20,40,1\nc,20,30,1\nd,30,20,2\n");
    assert_near(bound_makespan(&w.trace, &w.cluster), 20 + 110 / 2.0, 1e-6); /* from b on */
    world_done(&w);
}

static void shares_equally(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "1x4",
               "id,submit,work,min,max,speeds\na,0,100,1,4,1/1.8/2.5/3\nb,0,100,4,4,-/-/-/4\n");
    const struct job *a = &w.trace.jobs[0], *b = &w.trace.jobs[1];
    assert_near(fairness_equal_share(a, &w.cluster, 1), 100 / 3.0, 1e-9);
    assert_near(fairness_equal_share(a, &w.cluster, 2), 100 / 1.8, 1e-9);
    assert_near(fairness_equal_share(a, &w.cluster, 8), 200, 1e-9); /* half of the time */
    assert_near(fairness_equal_share(b, &w.cluster, 2), 50, 1e-9);  /* it needs all four */
    world_done(&w);
    /* Two types, and half of each: on the fast one for half of the time. */
    world_init(&w, "1x1:v100,1x1:k80",
               "id,submit,work,min,max,speeds\na,0,100,1,1,v100=1 k80=0.2\n");
    assert_near(fairness_equal_share(&w.trace.jobs[0], &w.cluster, 2), 100 / 0.6, 1e-9);
    world_done(&w);
}

static void reports_fairness(void **state)
{
    struct world w;
    struct sim_result r;
    struct err err;
    (void)state;
    /* One at a time: a takes 10 s among two jobs, half of its fair 20; b 30 s, among 4/3 jobs on
     * average, over a fair 20 x 4/3. */
    world_init(&w, "1x1", "id,submit,duration,req\na,0,10,1\nb,0,20,1\n");
    struct sim_options o = {.trace = &w.trace, .cluster = &w.cluster};
    assert_ok(combo_parse("fifo", &o.combo, &err), err);
    assert_ok(sim_run(&o, &r, &err), err);
    assert_near(result_fairness(&r.job[0]), 0.5, 1e-9);
    assert_near(result_fairness(&r.job[1]), 30 / (20 * 4 / 3.0), 1e-9);
    assert_near(r.worst_fairness, 1.125, 1e-9);
    assert_near(r.unfair, 0.5, 0);
    result_done(&r);
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(bounds_jobs_alone), TEST(bounds_a_full_cluster), TEST(bounds_the_makespan),
    TEST(shares_equally),    TEST(reports_fairness),
};

int main(void)
{
    return RUN(tests);
}
