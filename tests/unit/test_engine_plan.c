/* Tests of the engine's check: a policy that breaks an invariant is told so with
 * ERR_INTERNAL, and nothing of its plan is carried out. The world has a running
 * job on n1 (2 of 4 GPUs), a queued, a held and a paused one. */
#include "policy/combo.h"
#include "policy/policies.h"
#include "support/test.h"
#include "support/world.h"

enum { RUNNING, QUEUED, HELD, PAUSED, TYPED, TASKS };

/* What the policy under test does to an otherwise legal plan. */
static void (*mischief)(const struct snapshot *s, struct plan *plan);

static void keep_running(const struct snapshot *s, struct plan *plan)
{
    for (uint32_t i = 0; i < s->nrunning; i++)
        plan_give(plan, s->running[i], s->tasks[s->running[i]].pool, s->tasks[s->running[i]].n);
}

static void allocate(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    keep_running(s, plan);
    mischief(s, plan);
}

static void place_nothing(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)s, (void)p, (void)plan;
}

static const struct policy bad = {.axis = AXIS_ALLOCATE, .name = "bad", .decide = allocate};
static const struct policy idle = {.axis = AXIS_PLACE, .name = "idle", .decide = place_nothing};

/* n1 has 4 GPUs and 4 CPUs, n2 and n3 too, n4 has 2 GPUs of another type; 10 GB each. */
static void build(struct world *w)
{
    struct job small = {.pool = POOL_GPU, .req = 2 * UNIT, .work = 1e8};
    struct job malleable = {.pool = POOL_GPU,
                            .kind = JOB_MALLEABLE,
                            .min = UNIT,
                            .max = 4 * UNIT,
                            .work = 1e9,
                            .memory_mb = 6000,
                            .cpus = UNIT};
    struct job frozen = {
        .pool = POOL_GPU, .req = 4 * UNIT, .work = 1e9, .can_pause = true, .memory_mb = 4000};
    struct job typed = {.pool = POOL_GPU + 1, .req = UNIT, .work = 1e9, .whole = true};
    world_init(w, "3x4:small+4c@10g,1x2:big+4c@10g", "srtf", NULL);
    world_submit(w, 0, small);
    world_submit(w, 0, malleable);
    world_submit(w, 0, malleable);
    world_submit(w, 0, frozen);
    world_submit(w, 0, typed);
    world_take(w, 0, (struct event){.kind = EVENT_HOLD, .task = QUEUED});
    world_take(w, 0, (struct event){.kind = EVENT_HOLD, .task = HELD});
    world_take(w, 0, (struct event){.kind = EVENT_HOLD, .task = TYPED});
    world_set_node(w, 0, 2, NODE_DOWN);
    world_decide(w, 0, "t=0 start a 2 on n1:2\nt=0 start d 4 on n2:4\n");
    struct job urgent = {.pool = POOL_GPU, .req = 4 * UNIT, .work = 1, .whole = true};
    uint32_t task = world_submit(w, 1, urgent);
    world_decide(w, 1, "t=1 pause d 4\nt=1 start f 4 on n2:4\n");
    world_end(w, 1, task);
    world_take(w, 1, (struct event){.kind = EVENT_RELEASE, .task = QUEUED});
    world_take(w, 1, (struct event){.kind = EVENT_RELEASE, .task = TYPED});
    w->e.config.combo.policy[AXIS_ALLOCATE] = &bad;
    w->e.config.combo.policy[AXIS_PLACE] = &idle;
}

/* Grants n units on up to two nodes (units2 = 0: one). */
static void put(struct plan *plan, uint32_t task, unsigned pool, struct slot one, struct slot two)
{
    plan_give(plan, task, pool, one.units + two.units);
    struct grant *g = plan_grant(plan, task);
    g->place.at = ARENA_ARRAY(plan->arena, 2, struct slot);
    g->place.at[0] = one;
    g->place.at[1] = two;
    g->place.n = two.units ? 2 : 1;
    g->moved = true;
}

#define ON(node, units) ((struct slot){node, (units)*UNIT})
#define NOWHERE ((struct slot){0, 0})

/* The engine must refuse, and be as it was. */
static void refuse(void (*what)(const struct snapshot *s, struct plan *plan), const char *words)
{
    struct world w;
    struct err err;
    struct event tick = {.kind = EVENT_TICK};
    build(&w);
    mischief = what;
    uint32_t first = w.e.snapshot.first, last = w.e.snapshot.last;
    assert_error(engine_step(&w.e, &tick, w.now, &err), err, ERR_INTERNAL, words);
    assert_int_equal(w.e.effects.n, 0);
    assert_int_equal(w.e.decisions, 2);
    assert_true(w.e.dirty);
    assert_int_equal(w.e.running.n, 1);
    assert_int_equal(world_task(&w, RUNNING)->n, 2 * UNIT);
    assert_int_equal(w.e.cluster.nodes[0].gpu_held, 2 * UNIT);
    assert_int_equal(w.e.snapshot.npaused, 1);
    assert_int_equal(w.e.snapshot.first, first);
    assert_int_equal(w.e.snapshot.last, last);
    /* Another policy goes on from here. */
    struct combo good;
    assert_ok(combo_parse("fifo", &good, &err), err);
    world_take(&w, 2, (struct event){.kind = EVENT_POLICY, .combo = &good});
    world_take(&w, 2, tick);
    assert_int_equal(w.e.running.n, 4);
    world_done(&w);
}

static void below_min(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    plan_give(plan, RUNNING, POOL_GPU, UNIT);
}

static void above_max(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, QUEUED, POOL_GPU, ON(0, 3), ON(1, 2));
}

static void of_a_held_task(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, HELD, POOL_GPU, ON(1, 1), NOWHERE);
}

static void of_nobody(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    plan_give(plan, RUNNING, POOL_GPU, 2 * UNIT);
    plan->grants[0].task = 4000;
}

static void in_the_wrong_pool(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, QUEUED, POOL_GPU + 1, ON(3, 1), NOWHERE);
}

static void on_a_node_of_another_pool(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, QUEUED, POOL_GPU, ON(3, 1), NOWHERE);
}

static void in_no_place(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    plan_give(plan, QUEUED, POOL_GPU, UNIT);
}

static void on_no_node(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, QUEUED, POOL_GPU, ON(9, 1), NOWHERE);
}

static void with_no_units(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, QUEUED, POOL_GPU, ON(0, 2), ON(1, 1));
    plan_grant(plan, QUEUED)->place.at[1].units = 0;
}

static void with_half_a_gpu(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, QUEUED, POOL_GPU, (struct slot){0, 500}, (struct slot){1, 500});
}

static void twice_on_a_node(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, QUEUED, POOL_GPU, ON(1, 1), ON(1, 1));
}

static void with_a_wrong_sum(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, QUEUED, POOL_GPU, ON(1, 1), NOWHERE);
    plan_grant(plan, QUEUED)->n = 2 * UNIT;
}

static void grown_without_a_place(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, QUEUED, POOL_GPU, ON(1, 1), NOWHERE);
    plan_grant(plan, QUEUED)->moved = false;
}

static void not_whole(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, TYPED, POOL_GPU + 1, ON(3, 1), NOWHERE);
    plan_grant(plan, TYPED)->place.n = 2;
    plan_grant(plan, TYPED)->place.at[0].units = 500;
    plan_grant(plan, TYPED)->place.at[1] = (struct slot){3, 500};
}

static void on_a_node_that_is_down(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, QUEUED, POOL_GPU, ON(2, 1), NOWHERE);
}

static void too_many_gpus(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, QUEUED, POOL_GPU, ON(0, 3), NOWHERE);
}

static void paused_elsewhere(const struct snapshot *s, struct plan *plan)
{
    plan_give(plan, RUNNING, POOL_GPU, 0);
    put(plan, PAUSED, POOL_GPU, ON(0, 4), NOWHERE);
    (void)s;
}

static void order_with_one_twice(const struct snapshot *s, struct plan *plan)
{
    uint32_t *order = ARENA_ARRAY(plan->arena, s->active, uint32_t);
    for (uint32_t i = 0; i < s->active; i++)
        order[i] = RUNNING;
    plan->order = order;
}

static void order_with_a_held_one(const struct snapshot *s, struct plan *plan)
{
    uint32_t *order = ARENA_ARRAY(plan->arena, s->active, uint32_t), n = 0;
    SNAPSHOT_EACH (s, i)
        order[n++] = i == QUEUED ? HELD : i;
    plan->order = order;
}

static void share_of_nobody(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    plan_share(plan, 4000, UNIT, 1);
}

static void share_without_weight(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    plan_share(plan, RUNNING, UNIT, 0);
}

static void share_that_is_not_a_number(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    plan_share(plan, RUNNING, UNIT, NAN);
}

static void memo_for_no_node(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    struct memo m = {0};
    plan_remember(plan, AXIS_PLACE, MEMO_NODE, 99, &m);
}

static void memo_for_no_task(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    struct memo m = {0};
    plan_remember(plan, AXIS_PLACE, MEMO_TASK, 4000, &m);
}

static void list_of_nobody(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    plan->lists = ARENA_ARRAY(plan->arena, 1, struct list_write);
    plan->lists[plan->nlists++] = (struct list_write){AXIS_SHARE, 4000, 1};
}

static void test_sizes(void **state)
{
    (void)state;
    refuse(below_min, "job a gets 1000 units, not 2000 to 2000");
    refuse(above_max, "job b gets 5000 units, not 1000 to 4000");
    refuse(of_a_held_task, "job c is granted units, but it is held");
    refuse(of_nobody, "no task 4000");
    refuse(in_the_wrong_pool, "job b cannot use pool 2");
}

static void test_places(void **state)
{
    (void)state;
    refuse(in_no_place, "job b has no place");
    refuse(grown_without_a_place, "job b has no place");
    refuse(on_no_node, "job b is in an impossible place");
    refuse(with_no_units, "job b is in an impossible place");
    refuse(with_half_a_gpu, "job b is in an impossible place");
    refuse(not_whole, "job e is in an impossible place");
    refuse(twice_on_a_node, "job b is on n2 twice");
    refuse(with_a_wrong_sum, "job b has 1000 units in 1 places, not 2000");
    refuse(on_a_node_of_another_pool, "job b is on n4, which has no units of its pool");
    refuse(on_a_node_that_is_down, "job b takes units on n3, which is down");
    refuse(paused_elsewhere, "job d is paused, but not on n1");
}

static void test_capacity(void **state)
{
    (void)state;
    refuse(too_many_gpus, "node n1 would hold more than it has");
}

static void test_order_shares_and_memos(void **state)
{
    (void)state;
    refuse(order_with_one_twice, "the order has task 0");
    refuse(order_with_a_held_one, "the order has task 2");
    refuse(share_of_nobody, "a share of");
    refuse(share_without_weight, "weight 0");
    refuse(share_that_is_not_a_number, "weight nan");
    refuse(memo_for_no_node, "a memo for number 99, but there are 4");
    refuse(memo_for_no_task, "a memo for number 4000");
    refuse(list_of_nobody, "a list for task 4000");
}

/* Malleable b (a CPU beside each GPU, 6 GB) on n1, where a runs: what fits. */
static void fill_the_node(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, QUEUED, POOL_GPU, ON(0, 2), NOWHERE);
}

static void test_legal(void **state)
{
    (void)state;
    struct world w;
    build(&w);
    mischief = fill_the_node;
    world_decide(&w, 2, "t=2 start b 2 on n1:2\n");
    world_done(&w);
}

/* Two jobs of 3 GPUs each with 2 CPUs beside them, on a node of 8 and 10. */
static void side_by_side(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, 0, POOL_GPU, ON(0, 3), NOWHERE);
    put(plan, 1, POOL_GPU, ON(0, 3), NOWHERE);
}

static void refuse_pair(const char *nodes, struct job like)
{
    struct world w;
    struct err err;
    struct event tick = {.kind = EVENT_TICK};
    world_init(&w, nodes, "fifo", NULL);
    w.e.config.combo.policy[AXIS_ALLOCATE] = &bad;
    w.e.config.combo.policy[AXIS_PLACE] = &idle;
    world_submit(&w, 0, like);
    world_submit(&w, 0, like);
    mischief = side_by_side;
    assert_error(engine_step(&w.e, &tick, 0, &err), err, ERR_INTERNAL, "n1 would hold more");
    assert_int_equal(w.e.running.n, 0);
    assert_int_equal(w.e.cluster.nodes[0].gpu_held, 0);
    world_done(&w);
}

static void test_cpus_and_memory(void **state)
{
    (void)state;
    struct job like = {.pool = POOL_GPU, .req = 3 * UNIT, .work = 1e9};
    like.cpus = 2 * UNIT;
    refuse_pair("1x8+10c", like);
    like.cpus = 0;
    like.memory_mb = 6000;
    refuse_pair("1x8@10g", like);
}

/* A size between min and max that the job's curve does not have. */
static void on_three(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, 0, POOL_GPU, ON(0, 3), NOWHERE);
}

static void test_inadmissible_size(void **state)
{
    (void)state;
    static const double powers[] = {1, 1.9, NAN, 3.5};
    static const enum job_kind kinds[] = {JOB_MOLDABLE, JOB_MALLEABLE};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct world w;
        struct err err;
        struct event tick = {.kind = EVENT_TICK};
        world_init(&w, "1x4", "fifo", NULL);
        struct speed *speed = ARENA_NEW(&w.arena, struct speed);
        *speed = speed_table(&w.arena, powers, 4);
        world_submit(&w, 0,
                     (struct job){.pool = POOL_GPU,
                                  .kind = kinds[i],
                                  .min = UNIT,
                                  .max = 4 * UNIT,
                                  .work = 1e9,
                                  .speeds = speed,
                                  .nspeeds = 1});
        w.e.config.combo.policy[AXIS_ALLOCATE] = &bad;
        w.e.config.combo.policy[AXIS_PLACE] = &idle;
        mischief = on_three;
        assert_error(engine_step(&w.e, &tick, 0, &err), err, ERR_INTERNAL,
                     "job a cannot run on 3000 units");
        world_done(&w);
    }
}

/* Shrinks what runs on a draining node and starts something there instead. */
static void sneak_onto_a_draining_node(const struct snapshot *s, struct plan *plan)
{
    (void)s;
    put(plan, 0, POOL_GPU, ON(0, 1), NOWHERE);
    put(plan, 1, POOL_GPU, ON(0, 1), NOWHERE);
}

static void test_draining_node(void **state)
{
    (void)state;
    struct world w;
    struct err err;
    struct event tick = {.kind = EVENT_TICK};
    struct job like = {
        .pool = POOL_GPU, .kind = JOB_MALLEABLE, .min = UNIT, .max = 4 * UNIT, .work = 1e9};
    world_init(&w, "1x4", "elastic-fifo", NULL);
    world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 4 on n1:4\n");
    world_set_node(&w, 1, 0, NODE_DRAINING);
    world_submit(&w, 1, like);
    w.e.config.combo.policy[AXIS_ALLOCATE] = &bad;
    w.e.config.combo.policy[AXIS_PLACE] = &idle;
    mischief = sneak_onto_a_draining_node;
    assert_error(engine_step(&w.e, &tick, w.now, &err), err, ERR_INTERNAL,
                 "job b takes units on n1, which is draining");
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_legal),
    TEST(test_sizes),
    TEST(test_places),
    TEST(test_capacity),
    TEST(test_order_shares_and_memos),
    TEST(test_cpus_and_memory),
    TEST(test_inadmissible_size),
    TEST(test_draining_node),
};

int main(void)
{
    return RUN(tests);
}
