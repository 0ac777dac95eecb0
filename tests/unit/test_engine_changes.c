/* Tests of what a plan does to tasks: what starts, resizes, moves and failures
 * cost, what a pause keeps, and what happens while stops take their time. */
#include "policy/policies.h"
#include "support/test.h"
#include "support/world.h"

static usec_t seconds(double s)
{
    return (usec_t)(s * USEC_PER_SEC);
}

static struct job gpus(units_t n, double work)
{
    return (struct job){.pool = POOL_GPU, .req = n * UNIT, .work = work * 1e6};
}

static struct job elastic(units_t min, units_t max, double work)
{
    return (struct job){.pool = POOL_GPU,
                        .kind = JOB_MALLEABLE,
                        .min = min * UNIT,
                        .max = max * UNIT,
                        .work = work * 1e6};
}

static void test_restart_cost(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x1", "srtf", NULL);
    struct job like = gpus(1, 100);
    like.cost.restart = seconds(7);
    uint32_t a = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 1 on n1:1\n"); /* the first start is free */
    uint32_t b = world_submit(&w, 10, gpus(1, 5));
    world_decide(&w, 10, "t=10 preempt a 1\nt=10 start b 1 on n1:1\n");
    world_end(&w, 15, b);
    world_decide(&w, 15, "t=15 start a 1 on n1:1 stops 7\n");
    /* 90 s are left, behind the stop. */
    assert_int_equal(task_end(world_task(&w, a), w.now), seconds(112));
    assert_near(task_done(world_task(&w, a), seconds(20)), 10e6, 0);
    assert_near(task_done(world_task(&w, a), seconds(23)), 11e6, 0);
    /* Units that are held count as service, stopped or not. */
    assert_near(task_attained(world_task(&w, a), seconds(22)), 17e6, 0);
    world_done(&w);
}

static void test_resize_cost(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "elastic-fifo", NULL);
    struct job like = elastic(1, 4, 400);
    like.cost.resize = seconds(10);
    uint32_t a = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 4 on n1:4\n");
    world_submit(&w, 20, gpus(2, 1000));
    world_decide(&w, 20, "t=20 resize a 4->2 on n1:2 stops 10\nt=20 start b 2 on n1:2\n");
    assert_int_equal(task_end(world_task(&w, a), w.now), seconds(30 + 320 / 2));
    /* A second change while it is stopped does not shorten the stop. */
    world_submit(&w, 25, gpus(1, 1000));
    world_decide(&w, 25, "t=25 resize a 2->1 on n1:1 stops 10\nt=25 start c 1 on n1:1\n");
    assert_int_equal(task_end(world_task(&w, a), w.now), seconds(35 + 320));
    world_done(&w);
}

/* What would not pay yet is done when it does, though nothing else happens. */
static void test_growth_waits_for_the_last_change(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "elastic-fifo", NULL);
    struct job like = elastic(1, 4, 1e5);
    like.cost.resize = seconds(10);
    world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 4 on n1:4\n");
    uint32_t b = world_submit(&w, 20, gpus(2, 1000));
    world_decide(&w, 20, "t=20 resize a 4->2 on n1:2 stops 10\nt=20 start b 2 on n1:2\n");
    world_end(&w, 22, b);
    world_decide(&w, 22, "");
    assert_int_equal(engine_due(&w.e), seconds(40));
    world_decide(&w, 40, "t=40 resize a 2->4 on n1:4 stops 10\n");
    world_done(&w);
}

/* Puts every grant on the node that the test says. */
static uint32_t wanted_node;

static void place_on_wanted(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    for (uint32_t i = 0; i < plan->n; i++) {
        struct grant *g = &plan->grants[i];
        const struct task *t = &s->tasks[g->task];
        if (task_running(t) && t->at.at[0].node == wanted_node && t->n == g->n)
            continue;
        g->place.at = ARENA_ARRAY(plan->arena, 1, struct slot);
        g->place.at[0] = (struct slot){wanted_node, g->n};
        g->place.n = 1;
        g->moved = true;
    }
}

static const struct policy mover = {.axis = AXIS_PLACE, .name = "mover", .decide = place_on_wanted};

static void test_move_cost(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "2x4", "elastic-fifo", NULL);
    w.e.config.combo.policy[AXIS_PLACE] = &mover;
    struct job like = elastic(1, 4, 400);
    like.cost = (struct job_cost){.resize = seconds(5), .move = seconds(30)};
    wanted_node = 0;
    uint32_t a = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 4 on n1:4\n");
    wanted_node = 1;
    world_set_node(&w, 10, 0, NODE_UP); /* a reason to decide */
    world_decide(&w, 10, "t=10 move a 4 on n2:4 stops 30\n");
    assert_int_equal(task_end(world_task(&w, a), w.now), seconds(10 + 30 + 360 / 4));
    assert_int_equal(world_task(&w, a)->moves, 1);
    assert_int_equal(w.e.cluster.nodes[0].gpu_held, 0);
    assert_int_equal(w.e.cluster.nodes[1].gpu_held, 4 * UNIT);
    /* Both at once: one stop, the longer one. */
    struct job *j = ARENA_NEW(&w.arena, struct job);
    *j = *world_task(&w, a)->job;
    j->max = 2 * UNIT;
    wanted_node = 0;
    world_take(&w, 40, (struct event){.kind = EVENT_JOB, .task = a, .job = j});
    world_decide(&w, 40, "t=40 resize a 4->2 on n1:2 stops 30\nt=40 move a 2 on n1:2\n");
    world_done(&w);
}

static void test_pause_keeps_memory(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2@8g", "srtf", NULL);
    struct job like = gpus(2, 200);
    like.can_pause = true;
    like.memory_mb = 5000;
    like.cost.restart = seconds(50);
    uint32_t a = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    uint32_t b = world_submit(&w, 10, gpus(2, 20));
    world_decide(&w, 10, "t=10 pause a 2\nt=10 start b 2 on n1:2\n");
    assert_int_equal(world_task(&w, a)->phase, TASK_PAUSED);
    assert_int_equal(world_task(&w, a)->n, 0);
    assert_int_equal(w.e.cluster.nodes[0].memory_held, 5000);
    assert_int_equal(w.e.snapshot.npaused, 1);
    world_end(&w, 20, b);
    world_decide(&w, 20, "t=20 resume a 2 on n1:2\n"); /* no restart, no cost */
    assert_int_equal(task_end(world_task(&w, a), w.now), seconds(110));
    assert_int_equal(w.e.snapshot.npaused, 0);
    assert_int_equal(w.e.cluster.nodes[0].memory_held, 5000);
    world_done(&w);
}

/* A job that is frozen on two nodes goes on there and nowhere else, even when one
 * of them could now hold it alone. */
static void test_resume_on_the_same_nodes(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "2x4", "srtf", NULL);
    uint32_t x = world_submit(&w, 0, gpus(2, 20)), y = world_submit(&w, 0, gpus(3, 21));
    struct job like = gpus(3, 300);
    like.can_pause = true;
    uint32_t c = world_submit(&w, 0, like);
    world_decide(&w, 0,
                 "t=0 start b 3 on n1:3\nt=0 start a 2 on n2:2\n"
                 "t=0 start c 3 on n2:2 n1:1\n");
    uint32_t d = world_submit(&w, 1, gpus(3, 3));
    world_decide(&w, 1, "t=1 pause c 3\nt=1 start d 3 on n2:2 n1:1\n");
    world_end(&w, 2, d);
    world_end(&w, 2, x);
    world_end(&w, 2, y);
    world_decide(&w, 2, "t=2 resume c 3 on n2:2 n1:1\n");
    assert_int_equal(world_task(&w, c)->n, 3 * UNIT);
    world_done(&w);
}

static void test_memory_of_the_paused_yields(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2@10g", "srtf", NULL);
    struct job like = gpus(2, 400);
    like.can_pause = true;
    like.memory_mb = 4000;
    uint32_t a = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    like.work = 100e6;
    uint32_t b = world_submit(&w, 1, like);
    world_decide(&w, 1, "t=1 pause a 2\nt=1 start b 2 on n1:2\n");
    struct job big = gpus(2, 10);
    big.memory_mb = 6000;
    uint32_t c = world_submit(&w, 2, big);
    /* 4 + 4 + 6 GB: one of the two must go, the one that is last in the order. */
    world_decide(&w, 2, "t=2 pause b 2\nt=2 preempt a 0\nt=2 start c 2 on n1:2\n");
    assert_int_equal(world_task(&w, a)->phase, TASK_QUEUED);
    assert_int_equal(world_task(&w, b)->phase, TASK_PAUSED);
    assert_int_equal(w.e.cluster.nodes[0].memory_held, 10000);
    world_end(&w, 7, c);
    world_decide(&w, 7, "t=7 resume b 2 on n1:2\n");
    world_done(&w);
}

static void test_node_down(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "2x2", "fifo", NULL);
    struct job like = gpus(2, 400);
    like.cost = (struct job_cost){.restart = seconds(9), .checkpoint = seconds(60)};
    uint32_t a = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    world_set_node(&w, 150, 0, NODE_DOWN);
    /* Checkpoints at 60 and 120 s: 30 s of work on 2 units are lost. */
    assert_near(world_task(&w, a)->done, 240e6, 0);
    assert_int_equal(world_task(&w, a)->failures, 1);
    assert_int_equal(w.e.cluster.nodes[0].gpu_held, 0);
    world_decide(&w, 150, "t=150 start a 2 on n2:2 stops 9\n");
    assert_int_equal(task_end(world_task(&w, a), w.now), seconds(159 + 80));
    world_done(&w);
}

static void test_node_down_saves_all_the_time(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, gpus(2, 400));
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    world_set_node(&w, 150, 0, NODE_DOWN);
    assert_near(world_task(&w, a)->done, 300e6, 0);
    world_done(&w);
}

/* What is frozen in the memory of a node that fails is lost with it. */
static void test_node_down_with_a_paused_job(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "2x2", "srtf", NULL);
    struct job like = gpus(2, 400);
    like.can_pause = true;
    like.memory_mb = 100;
    like.cost.checkpoint = seconds(60);
    uint32_t a = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    world_submit(&w, 70, gpus(2, 300));
    world_submit(&w, 70, gpus(2, 20));
    world_decide(&w, 70, "t=70 start c 2 on n2:2\n");
    world_submit(&w, 71, gpus(2, 10));
    world_decide(&w, 71, "t=71 pause a 2\nt=71 start d 2 on n1:2\n");
    assert_near(world_task(&w, a)->done, 142e6, 0);
    world_set_node(&w, 72, 0, NODE_DOWN);
    assert_int_equal(world_task(&w, a)->phase, TASK_QUEUED);
    assert_near(world_task(&w, a)->done, 120e6, 0);
    assert_int_equal(w.e.cluster.nodes[0].memory_held, 0);
    world_done(&w);
}

static void test_drain(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "2x2", "srtf", NULL);
    struct job like = gpus(2, 400);
    like.can_pause = true;
    uint32_t a = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    world_set_node(&w, 10, 0, NODE_DRAINING);
    uint32_t b = world_submit(&w, 10, gpus(2, 1000));
    world_submit(&w, 10, gpus(2, 2000));
    /* What runs there may end, nothing new starts there. */
    world_decide(&w, 10, "t=10 start b 2 on n2:2\n");
    assert_true(task_running(world_task(&w, a)));
    world_end(&w, 200, a);
    world_decide(&w, 200, "");
    world_set_node(&w, 300, 0, NODE_UP);
    world_decide(&w, 300, "t=300 start c 2 on n1:2\n");
    assert_true(task_running(world_task(&w, b)));
    world_done(&w);
}

/* A paused job would keep a drained node from ever getting empty. */
static void test_drain_with_a_paused_job(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "2x2", "srtf", NULL);
    world_set_node(&w, 0, 1, NODE_DOWN);
    struct job like = gpus(2, 400);
    like.can_pause = true;
    uint32_t a = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    world_submit(&w, 1, gpus(2, 100));
    world_decide(&w, 1, "t=1 pause a 2\nt=1 start b 2 on n1:2\n");
    world_set_node(&w, 2, 0, NODE_DRAINING);
    world_expect(&w, "t=2 preempt a 0\n");
    assert_int_equal(world_task(&w, a)->phase, TASK_QUEUED);
    world_set_node(&w, 3, 1, NODE_UP);
    world_decide(&w, 3, "t=3 start a 2 on n2:2\n");
    world_done(&w);
}

static void test_slow_stop(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2", "srtf", &(struct world_options){.slow_stops = true, .explain = true});
    uint32_t a = world_submit(&w, 0, gpus(2, 400));
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    uint32_t b = world_submit(&w, 10, gpus(2, 100));
    world_decide(&w, 10, "t=10 preempt a 2\n"); /* b must wait for the units */
    assert_int_equal(w.e.why[b].why, WHY_RELEASING);
    assert_int_equal(w.e.cluster.nodes[0].gpu_held, 2 * UNIT);
    assert_near(task_done(world_task(&w, a), seconds(15)), 20e6, 0); /* no progress any more */
    world_take(&w, 15, (struct event){.kind = EVENT_STOPPED, .task = a});
    world_decide(&w, 15, "t=15 start b 2 on n1:2\n");
    assert_int_equal(world_task(&w, a)->phase, TASK_QUEUED);
    world_done(&w);
}

/* A running job must not grow into units that a stopping one still holds. */
static void test_slow_stop_and_growth(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "elastic-srjf", &(struct world_options){.slow_stops = true});
    uint32_t a = world_submit(&w, 0, elastic(2, 4, 100));
    uint32_t b = world_submit(&w, 0, gpus(2, 200));
    world_decide(&w, 0, "t=0 start a 2 on n1:2\nt=0 start b 2 on n1:2\n");
    struct job *j = ARENA_NEW(&w.arena, struct job);
    *j = *world_task(&w, a)->job;
    j->min = j->req = 4 * UNIT;
    world_take(&w, 10, (struct event){.kind = EVENT_JOB, .task = a, .job = j});
    world_decide(&w, 10, "t=10 preempt b 2\n");
    assert_int_equal(world_task(&w, a)->n, 2 * UNIT);
    world_take(&w, 12, (struct event){.kind = EVENT_STOPPED, .task = b});
    world_decide(&w, 12, "t=12 resize a 2->4 on n1:4\n");
    world_done(&w);
}

/* Two that stop one after the other: the one that grows waits for both as it is, though
 * that size is not allowed any more. */
static void test_slow_stops_and_growth(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "elastic-srjf",
               &(struct world_options){.slow_stops = true, .explain = true});
    struct job like = elastic(2, 4, 100);
    like.whole = true;
    uint32_t a = world_submit(&w, 0, like);
    uint32_t b = world_submit(&w, 0, gpus(1, 200)), c = world_submit(&w, 0, gpus(1, 200));
    world_decide(&w, 0, "t=0 start a 2 on n1:2\nt=0 start b 1 on n1:1\nt=0 start c 1 on n1:1\n");
    struct job *j = ARENA_NEW(&w.arena, struct job);
    *j = *world_task(&w, a)->job;
    j->min = j->req = 4 * UNIT;
    world_take(&w, 10, (struct event){.kind = EVENT_JOB, .task = a, .job = j});
    world_decide(&w, 10, "t=10 preempt b 1\nt=10 preempt c 1\n");
    world_take(&w, 12, (struct event){.kind = EVENT_STOPPED, .task = b});
    world_decide(&w, 12, "");
    assert_int_equal(w.e.why[a].why, WHY_RELEASING);
    assert_int_equal(world_task(&w, a)->n, 2 * UNIT);
    world_take(&w, 13, (struct event){.kind = EVENT_STOPPED, .task = c});
    world_decide(&w, 13, "t=13 resize a 2->4 on n1:4\n");
    world_done(&w);
}

/* The checkpoint of a preemption counts only once it is complete. */
static void test_node_down_while_stopping(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2", "srtf", &(struct world_options){.slow_stops = true});
    struct job like = gpus(2, 400);
    like.cost.checkpoint = seconds(60);
    uint32_t a = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    world_submit(&w, 100, gpus(2, 10));
    world_decide(&w, 100, "t=100 preempt a 2\n");
    world_set_node(&w, 101, 0, NODE_DOWN);
    assert_int_equal(world_task(&w, a)->phase, TASK_QUEUED);
    assert_near(world_task(&w, a)->done, 120e6, 0);
    struct err err;
    struct event late = {.kind = EVENT_STOPPED, .task = a};
    assert_error(engine_step(&w.e, &late, w.now, &err), err, ERR_CONFLICT, "the job is queued");
    world_done(&w);
}

static void test_hold_while_stopping(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2", "srtf", &(struct world_options){.slow_stops = true});
    uint32_t a = world_submit(&w, 0, gpus(2, 400));
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    world_submit(&w, 10, gpus(2, 10));
    world_decide(&w, 10, "t=10 preempt a 2\n");
    struct err err;
    struct event release = {.kind = EVENT_RELEASE, .task = a};
    assert_error(engine_step(&w.e, &release, w.now, &err), err, ERR_CONFLICT, "stopping");
    world_take(&w, 11, (struct event){.kind = EVENT_HOLD, .task = a});
    world_take(&w, 12, (struct event){.kind = EVENT_STOPPED, .task = a});
    assert_int_equal(world_task(&w, a)->phase, TASK_HELD);
    world_take(&w, 13, release);
    assert_int_equal(world_task(&w, a)->phase, TASK_QUEUED);
    world_done(&w);
}

static void test_hold_of_a_paused_job(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2@8g", "srtf", &(struct world_options){.slow_stops = true});
    struct job like = gpus(2, 400);
    like.can_pause = true;
    like.memory_mb = 8000;
    uint32_t a = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    world_submit(&w, 10, gpus(2, 100));
    world_decide(&w, 10, "t=10 pause a 2\nt=10 start b 2 on n1:2\n");
    world_take(&w, 11, (struct event){.kind = EVENT_HOLD, .task = a});
    world_expect(&w, "t=11 preempt a 0\n");
    assert_int_equal(w.e.cluster.nodes[0].memory_held, 8000); /* until it is gone */
    world_take(&w, 12, (struct event){.kind = EVENT_STOPPED, .task = a});
    assert_int_equal(w.e.cluster.nodes[0].memory_held, 0);
    assert_int_equal(world_task(&w, a)->phase, TASK_HELD);
    world_done(&w);
}

static void test_failed(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2", "fifo", NULL);
    struct job like = gpus(2, 400);
    like.cost = (struct job_cost){.restart = seconds(5), .checkpoint = seconds(100)};
    uint32_t a = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    world_take(&w, 150, (struct event){.kind = EVENT_FAILED, .task = a});
    assert_near(world_task(&w, a)->done, 200e6, 0);
    assert_int_equal(world_task(&w, a)->run_time, seconds(150));
    world_decide(&w, 150, "t=150 start a 2 on n1:2 stops 5\n");
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_restart_cost),
    TEST(test_resize_cost),
    TEST(test_growth_waits_for_the_last_change),
    TEST(test_move_cost),
    TEST(test_pause_keeps_memory),
    TEST(test_resume_on_the_same_nodes),
    TEST(test_memory_of_the_paused_yields),
    TEST(test_node_down),
    TEST(test_node_down_saves_all_the_time),
    TEST(test_node_down_with_a_paused_job),
    TEST(test_drain),
    TEST(test_drain_with_a_paused_job),
    TEST(test_slow_stop),
    TEST(test_slow_stop_and_growth),
    TEST(test_slow_stops_and_growth),
    TEST(test_node_down_while_stopping),
    TEST(test_hold_while_stopping),
    TEST(test_hold_of_a_paused_job),
    TEST(test_failed),
};

int main(void)
{
    return RUN(tests);
}
