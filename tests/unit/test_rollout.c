/* Tests of forecasts: what they say comes true when the engine itself is driven the
 * same way, and the engine is not touched by them. */
#include "advisor/rollout.h"
#include "engine/copy.h"
#include "journal/journal.h"
#include "policy/registry.h"
#include "support/chaos.h"
#include "support/test.h"
#include "support/world.h"

#define SECOND (double)USEC_PER_SEC

static const struct rollout_limits ample = {1000000 * USEC_PER_SEC, 1000000};

static struct rollout_result forecast(const struct world *w, uint32_t task,
                                      enum rollout_until until)
{
    struct rollout *r = rollout_create(&w->e, w->now);
    struct rollout_result found;
    struct err err;
    assert_ok(rollout_run(r, task, until, &ample, &found, &err), err);
    rollout_free(r);
    return found;
}

static usec_t at(double seconds)
{
    return (usec_t)(seconds * SECOND);
}

/* One CPU each for a and b; c needs both. */
static void test_waits_for_ends(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2c", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, (struct job){.req = UNIT, .work = 30 * SECOND});
    uint32_t b = world_submit(&w, 0, (struct job){.req = UNIT, .work = 10 * SECOND});
    uint32_t c = world_submit(&w, 0, (struct job){.req = 2 * UNIT, .work = 8 * SECOND});
    world_decide(&w, 0, "t=0 start a 1 on n1:1\nt=0 start b 1 on n1:1\n");
    struct rollout_result r = forecast(&w, c, ROLLOUT_START);
    assert_int_equal(r.start, at(30));
    assert_int_equal(r.units, 2 * UNIT);
    assert_int_equal(r.ended.n, 2);
    assert_int_equal(r.ended.at[0].task, b);
    assert_int_equal(r.ended.at[0].at, at(10));
    assert_int_equal(r.ended.at[1].task, a);
    assert_true(r.end == USEC_NEVER && !r.cut);
    rollout_result_done(&r);
    r = forecast(&w, c, ROLLOUT_END);
    assert_int_equal(r.start, at(30));
    assert_int_equal(r.end, at(34));
    rollout_result_done(&r);
    /* It came true: nothing of this has happened yet. */
    assert_int_equal(world_task(&w, c)->phase, TASK_QUEUED);
    world_end(&w, 10, b);
    world_take(&w, 10, (struct event){.kind = EVENT_TICK});
    world_end(&w, 30, a);
    world_decide(&w, 30, "t=30 start c 2 on n1:2\n");
    world_done(&w);
}

static void test_runs_already(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2c", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, (struct job){.req = UNIT, .work = 30 * SECOND});
    world_decide(&w, 0, "t=0 start a 1 on n1:1\n");
    w.now = at(5);
    struct rollout_result r = forecast(&w, a, ROLLOUT_END);
    assert_int_equal(r.start, at(5));
    assert_int_equal(r.end, at(30));
    assert_int_equal(r.resized, USEC_NEVER);
    rollout_result_done(&r);
    world_done(&w);
}

/* An elastic job grows when its neighbour ends. */
static void test_grows(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4c", "elastic-fifo", NULL);
    uint32_t a = world_submit(&w, 0, (struct job){.req = 2 * UNIT, .work = 20 * SECOND});
    uint32_t b = world_submit(
        &w, 0,
        (struct job){.kind = JOB_MALLEABLE, .min = UNIT, .max = 4 * UNIT, .work = 100 * SECOND});
    world_decide(&w, 0, "t=0 start a 2 on n1:2\nt=0 start b 2 on n1:2\n");
    struct rollout_result r = forecast(&w, b, ROLLOUT_RESIZE);
    assert_int_equal(r.resized, at(10));
    assert_int_equal(r.resized_to, 4 * UNIT);
    assert_int_equal(r.ended.n, 1);
    assert_int_equal(r.ended.at[0].task, a);
    rollout_result_done(&r);
    r = forecast(&w, b, ROLLOUT_END);
    assert_int_equal(r.end, at(30)); /* 20 of 100 in 10 s, then 4 a second */
    rollout_result_done(&r);
    world_done(&w);
}

static void test_what_if(void **state)
{
    (void)state;
    struct world w;
    struct rollout_result found;
    struct err err;
    world_init(&w, "1x2c", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, (struct job){.req = 2 * UNIT, .work = 30 * SECOND});
    uint32_t b = world_submit(&w, 0, (struct job){.req = UNIT, .work = 10 * SECOND});
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    struct rollout *r = rollout_create(&w.e, at(1));
    assert_ok(rollout_cancel(r, a, &err), err);
    assert_ok(rollout_run(r, b, ROLLOUT_START, &ample, &found, &err), err);
    assert_int_equal(found.start, at(1));
    rollout_free(r);
    r = rollout_create(&w.e, at(1));
    assert_ok(rollout_set_work(r, a, 60 * SECOND, &err), err);
    assert_ok(rollout_run(r, b, ROLLOUT_START, &ample, &found, &err), err);
    assert_int_equal(found.start, at(30)); /* two CPUs, 60 s of work, 2 done */
    rollout_result_done(&found);
    assert_error(rollout_run(r, 7, ROLLOUT_START, &ample, &found, &err), err, ERR_NOT_FOUND,
                 "no task 7");
    assert_error(rollout_cancel(r, 7, &err), err, ERR_NOT_FOUND, "no task 7");
    assert_error(rollout_set_work(r, 7, 1, &err), err, ERR_NOT_FOUND, "no task 7");
    rollout_free(r);
    rollout_free(NULL);
    world_done(&w);
}

/* What is being stopped counts as gone, and what is held stays. */
static void test_stops_and_holds(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2c", "srtf", &(struct world_options){.slow_stops = true});
    uint32_t a = world_submit(&w, 0, (struct job){.req = 2 * UNIT, .work = 300 * SECOND});
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    uint32_t b = world_submit(&w, 1, (struct job){.req = 2 * UNIT, .work = 10 * SECOND});
    uint32_t c = world_submit(&w, 1, (struct job){.req = UNIT, .work = 10 * SECOND});
    world_take(&w, 1, (struct event){.kind = EVENT_HOLD, .task = c});
    world_decide(&w, 1, "t=1 preempt a 2\n");
    struct rollout_result r = forecast(&w, b, ROLLOUT_START);
    assert_int_equal(r.start, at(1));
    rollout_result_done(&r);
    r = forecast(&w, c, ROLLOUT_START);
    assert_int_equal(r.start, USEC_NEVER);
    assert_false(r.cut);
    assert_int_equal(r.ended.n, 2);
    rollout_result_done(&r);
    assert_int_equal(world_task(&w, a)->phase, TASK_STOPPING);
    world_done(&w);
}

static void test_limits(void **state)
{
    (void)state;
    struct world w;
    struct err err;
    struct rollout_result found;
    static const struct rollout_limits limits[] = {{20 * USEC_PER_SEC, 1000}, {1LL << 50, 2}};
    world_init(&w, "1x1c", "fifo", NULL);
    world_submit(&w, 0, (struct job){.req = UNIT, .work = 30 * SECOND});
    uint32_t b = world_submit(&w, 0, (struct job){.req = UNIT, .work = 10 * SECOND});
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        struct rollout *r = rollout_create(&w.e, 0);
        assert_ok(rollout_run(r, b, ROLLOUT_START, &limits[i], &found, &err), err);
        assert_true(found.cut);
        assert_int_equal(found.start, USEC_NEVER);
        rollout_result_done(&found);
        rollout_free(r);
    }
    world_done(&w);
}

/* ---- random worlds ------------------------------------------------------- */

struct twin {
    uint64_t steps, compared;
    bool on;
    struct engine e;
};

/* A copy, once made, decides what the original does, when it is told the same. */
static void follow(void *ctx, const struct engine *e, const struct event *v, usec_t now)
{
    struct twin *t = ctx;
    struct str a = {0}, b = {0};
    struct err err;
    if (t->on) {
        assert_ok(engine_step(&t->e, v, now, &err), err);
        if (v->kind == EVENT_TICK) {
            journal_write_plan(e, now, &a);
            journal_write_plan(&t->e, now, &b);
            assert_string_equal(a.at, b.at);
            t->compared++;
        }
        str_done(&a);
        str_done(&b);
    }
    if (v && ++t->steps == 30) {
        engine_copy(&t->e, e);
        t->on = true;
    }
}

static void test_copies_decide_the_same(void **state)
{
    (void)state;
    uint64_t compared = 0;
    for (size_t i = 0; presets[i].name; i++) {
        struct twin twin = {0};
        struct chaos_options o = {.seed = i + 1,
                                  .jobs = 30,
                                  .policy = presets[i].name,
                                  .slow_stops = i % 2,
                                  .explain = true,
                                  .observe = follow,
                                  .ctx = &twin};
        struct chaos_result result;
        if (!chaos_run(&o, &result))
            fail_msg("%s: %s", presets[i].name, result.why);
        if (twin.on) /* some worlds are small */
            engine_done(&twin.e);
        chaos_done(&result);
        compared += twin.compared;
    }
    assert_true(compared > 300);
}

static const struct CMUnitTest tests[] = {
    TEST(test_waits_for_ends),
    TEST(test_runs_already),
    TEST(test_grows),
    TEST(test_what_if),
    TEST(test_stops_and_holds),
    TEST(test_limits),
    TEST(test_copies_decide_the_same),
};

int main(void)
{
    return RUN(tests);
}
