/* Tests of what-ifs: figures of small cases by hand, that all policies see the same draws, and
 * that the engine is not touched. */
#include "advisor/whatif.h"

#include <math.h>

#include "support/test.h"
#include "support/world.h"

#define SECOND (double)USEC_PER_SEC

static struct combo policy(const char *text)
{
    struct combo c;
    struct err err;
    assert_ok(combo_parse(text, &c, &err), err);
    return c;
}

static void add_policy(struct whatif *w, const char *text)
{
    struct combo c = policy(text);
    whatif_add_policy(w, &c);
}

static void work_until(struct whatif *w, int draws)
{
    while (whatif_draws(w) < draws)
        assert_true(whatif_work(w));
}

static struct whatif_policy result(const struct whatif *w, uint32_t i)
{
    struct whatif_policy p;
    whatif_result(w, i, &p);
    assert_false(p.failed);
    return p;
}

/* One CPU; the long job came first, and the short one has a deadline that only srtf meets. */
static void test_policies(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "1x1c", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, (struct job){.req = UNIT, .work = 100 * SECOND});
    world_decide(&w, 0, "t=0 start a 1 on n1:1\n");
    uint32_t b = world_submit(
        &w, 10, (struct job){.req = UNIT, .work = 20 * SECOND, .deadline = (usec_t)(60 * SECOND)});
    struct whatif *f = whatif_create(&w.e, w.now);
    whatif_add_policy(f, NULL);
    add_policy(f, "srtf");
    work_until(f, 0);
    struct whatif_policy fifo = result(f, 0), srtf = result(f, 1);
    assert_string_equal(fifo.name, "fifo");
    assert_string_equal(srtf.name, "srtf");
    assert_int_equal(whatif_tasks(f), 2);
    assert_float_equal(fifo.expected.mean_s, (100 + 110) / 2.0, 1e-6);
    assert_float_equal(fifo.expected.makespan_s, 110, 1e-6);
    assert_true(fifo.expected.missed == 1 && fifo.expected.preemptions == 0);
    assert_float_equal(srtf.expected.mean_s, (120 + 20) / 2.0, 1e-6);
    assert_true(srtf.expected.missed == 0 && srtf.expected.preemptions == 1);
    assert_true(fifo.end[b] > srtf.end[b] && fifo.end[a] < srtf.end[a]);
    assert_true(fifo.mean_s.low == fifo.expected.mean_s && isnan(srtf.better));
    whatif_free(f);
    assert_int_equal(world_task(&w, b)->phase, TASK_QUEUED);
    world_done(&w);
}

/* A second node halves the wait; another job lengthens it. The engine's job may go away. */
static void test_changes(void **state)
{
    struct world w;
    struct err err;
    const struct capacity node = {.name = "more", .cpus = UNIT};
    struct job extra = {.id = 9, .name = "extra", .req = UNIT, .work = 50 * SECOND};
    uint32_t task;
    (void)state;
    world_init(&w, "1x1c", "fifo", NULL);
    world_submit(&w, 0, (struct job){.req = UNIT, .work = 100 * SECOND});
    world_decide(&w, 0, "t=0 start a 1 on n1:1\n");
    assert_ok(job_normalise(&extra, &err), err);
    struct whatif *f = whatif_create(&w.e, 0), *g = whatif_create(&w.e, 0);
    whatif_add_policy(f, NULL);
    whatif_add_policy(g, NULL);
    assert_ok(whatif_add_job(f, &extra, &task, &err), err);
    assert_ok(whatif_add_job(g, &extra, &task, &err), err);
    assert_ok(whatif_add_node(g, &node, &err), err);
    assert_ok(whatif_set_work(g, task, 60 * SECOND, &err), err);
    extra.work = 1; /* it was copied */
    work_until(f, 0);
    work_until(g, 0);
    assert_float_equal(result(f, 0).expected.makespan_s, 150, 1e-6);
    assert_float_equal(result(g, 0).expected.makespan_s, 100, 1e-6);
    assert_int_equal(result(g, 0).end[task], 60 * USEC_PER_SEC);
    assert_string_equal(whatif_job(g, task)->name, "extra");
    struct job large = {.id = 10, .req = 5 * UNIT, .work = 1};
    assert_ok(job_normalise(&large, &err), err);
    assert_error(whatif_add_job(f, &large, &task, &err), err, ERR_LIMIT, "");
    whatif_free(f);
    whatif_free(g);
    world_done(&w);
}

/* 80 % of the lengths are in the band, and the same policy under two names does the same. */
static void test_draws(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "1x1c", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, (struct job){.req = UNIT, .work = 100 * SECOND});
    world_decide(&w, 0, "t=0 start a 1 on n1:1\n");
    struct whatif *f = whatif_create(&w.e, 0);
    whatif_set_band(f, a, 0.5, 2);
    whatif_add_policy(f, NULL);
    add_policy(f, "fifo:order=strict");
    work_until(f, WHATIF_DRAWS);
    assert_false(whatif_work(f));
    struct whatif_policy p = result(f, 0), same = result(f, 1);
    assert_float_equal(p.expected.mean_s, 100, 1e-6);
    assert_float_equal(p.mean_s.low, 50, 15);
    assert_float_equal(p.mean_s.mid, 100, 15);
    assert_float_equal(p.mean_s.high, 200, 40);
    assert_true(same.mean_s.low == p.mean_s.low && same.mean_s.high == p.mean_s.high);
    assert_true(same.better == 0);
    whatif_free(f);
    world_done(&w);
}

/* No tasks, held tasks, bands that are none. */
static void test_nothing(void **state)
{
    struct world w;
    (void)state;
    world_init(&w, "1x1c", "fifo", NULL);
    uint32_t held = world_submit(&w, 0, (struct job){.req = UNIT, .work = 100 * SECOND});
    world_take(&w, 0, (struct event){.kind = EVENT_HOLD, .task = held});
    struct whatif *f = whatif_create(&w.e, 0);
    assert_false(whatif_work(f));
    whatif_set_band(f, held, 0, 1);
    whatif_set_band(f, held, 2, 1);
    whatif_set_band(f, held, NAN, INFINITY);
    whatif_add_policy(f, NULL);
    work_until(f, 2);
    struct whatif_policy p = result(f, 0);
    assert_true(isnan(p.expected.mean_s) && p.expected.makespan_s == 0 && p.expected.missed == 0);
    assert_int_equal(whatif_tasks(f), 0);
    assert_null(whatif_job(f, held));
    whatif_free(f);
    whatif_free(NULL);
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_policies),
    TEST(test_changes),
    TEST(test_draws),
    TEST(test_nothing),
};

int main(void)
{
    return RUN(tests);
}
