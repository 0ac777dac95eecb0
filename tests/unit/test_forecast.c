/* Tests of policy/forecast: the slots, the sizes of a demand and what they cost, and
 * how a demand is fitted into what is free. Times are in seconds here. */
#include "policy/allocate/forecast.h"

#include "support/test.h"
#include "support/world.h"

#define S 1e6 /* a second */

/* A demand that runs on 1, 2 and 4 units, linear. */
struct trial {
    struct demand d;
    uint16_t level[FORECAST_SLOTS];
};

static const units_t sizes[] = {1 * UNIT, 2 * UNIT, 4 * UNIT};
static const double rates[] = {1, 2, 4};

static struct demand *demand(struct trial *t, double work, double deadline)
{
    t->d = (struct demand){.size = sizes,
                           .rate = rates,
                           .sizes = 3,
                           .work = work * S,
                           .deadline = deadline * S,
                           .level = t->level};
    return &t->d;
}

static void test_slots(void **state)
{
    (void)state;
    struct forecast f;
    forecast_init(&f, 8 * UNIT, 60 * S, 1000 * S);
    assert_near(f.edge[0], 0, 0);
    assert_near(f.edge[1], 60 * S, 0);
    assert_near(f.edge[10], 600 * S, 1e-3); /* from here on a tenth of the distance */
    assert_near(f.edge[11], 660 * S, 1e-3);
    assert_near(f.edge[12], 726 * S, 1e-3);
    assert_true(f.edge[f.n] >= 1000 * S && f.edge[f.n - 1] < 1000 * S);
    for (uint32_t k = 0; k < f.n; k++)
        assert_near(f.free[k], 8 * UNIT, 0);
    forecast_init(&f, 8 * UNIT, 1 * S, 1e18); /* more than there are slots for */
    assert_true(f.n <= FORECAST_SLOTS);
    assert_true(f.edge[f.n] > 0);
}

static void test_levels(void **state)
{
    (void)state;
    struct trial t;
    struct demand *d = demand(&t, 100, 1000);
    assert_int_equal(demand_level(d, 999), -1);
    assert_int_equal(demand_level(d, UNIT), 0);
    assert_int_equal(demand_level(d, 3 * UNIT), 1);
    assert_int_equal(demand_level(d, 100 * UNIT), 2);
}

static void test_costs(void **state)
{
    (void)state;
    struct trial t;
    struct demand *d = demand(&t, 100, 1000);
    d->resize = 20 * S;
    d->resume = 50 * S;
    assert_near(demand_finish(d, 2), 25 * S, 0); /* the first start is free */
    d->started = true;
    assert_near(demand_finish(d, 2), 75 * S, 0);
    d->held = 2 * UNIT;
    assert_near(demand_finish(d, 2), 45 * S, 0);
    assert_near(demand_finish(d, 1), 50 * S, 0); /* stays as it is */
    d->pause = 5 * S;
    assert_near(demand_finish(d, 1), 55 * S, 0); /* what is left of the last stop */
    assert_near(demand_finish(d, 0), 20 * S + d->work / d->rate[0], 0); /* a change */
}

static void test_smallest_size(void **state)
{
    (void)state;
    struct forecast f;
    struct trial t;
    forecast_init(&f, 4 * UNIT, 60 * S, 600 * S);
    struct demand *d = demand(&t, 200, 200);
    assert_true(forecast_place(&f, d, 0));
    assert_int_equal(d->level[0], 1);
    assert_int_equal(d->last, 3);
    assert_near(d->tail, 20 * S, 1e-3);
    d = demand(&t, 201, 200);
    assert_true(forecast_place(&f, d, 0));
    assert_int_equal(d->level[0], 2); /* one unit is too slow by a second */
    d = demand(&t, 800, 200);
    assert_true(forecast_place(&f, d, 0));
    assert_int_equal(d->level[0], 3);
    d = demand(&t, 801, 200);
    assert_false(forecast_place(&f, d, 0));
}

static void test_what_is_left(void **state)
{
    (void)state;
    struct forecast f;
    struct trial t, u;
    forecast_init(&f, 4 * UNIT, 60 * S, 600 * S);
    struct demand *first = demand(&t, 480, 120); /* all 4 units for two slots */
    assert_true(forecast_place(&f, first, 0));
    forecast_book(&f, first, 1);
    assert_near(f.free[0], 0, 1e-6);
    assert_near(f.free[1], 0, 1e-6);
    assert_near(f.free[2], 4 * UNIT, 1e-6);
    struct demand *second = demand(&u, 200, 200); /* 80 s are left: 4 units would do */
    assert_true(forecast_place(&f, second, 0));
    assert_int_equal(second->level[0], 0);
    assert_int_equal(second->level[1], 0);
    assert_int_equal(second->level[2], 3);
    second = demand(&u, 321, 200);
    assert_false(forecast_place(&f, second, 0));
    forecast_book(&f, first, -1);
    assert_near(f.free[0], 4 * UNIT, 1e-6);
    assert_true(forecast_place(&f, second, 0));
    forecast_clear(&f);
    assert_near(f.free[1], 4 * UNIT, 0);
}

/* The slot in which one ends is booked in part, and a deadline within a slot counts
 * up to it. */
static void test_parts_of_slots(void **state)
{
    (void)state;
    struct forecast f;
    struct trial t, u;
    forecast_init(&f, 4 * UNIT, 60 * S, 600 * S);
    struct demand *d = demand(&t, 80, 20); /* 4 units for 20 of 60 s */
    assert_true(forecast_place(&f, d, 0));
    forecast_book(&f, d, 1);
    assert_near(f.free[0], 4 * UNIT * 2 / 3.0, 1e-3);
    /* By 30 s, 10 s of 4 units are left; the mean of the slot would say 2.67. */
    d = demand(&u, 20, 30);
    assert_true(forecast_place(&f, d, 0) && d->level[0] == 1);
    d = demand(&u, 41, 30);
    assert_false(forecast_place(&f, d, 0));
}

static void test_resize_on_the_way(void **state)
{
    (void)state;
    struct forecast f;
    struct trial t, u;
    forecast_init(&f, 4 * UNIT, 60 * S, 600 * S);
    struct demand *first = demand(&t, 120, 60); /* 2 units in the first slot */
    assert_true(forecast_place(&f, first, 0));
    forecast_book(&f, first, 1);
    struct demand *d = demand(&u, 280, 120);
    d->resize = 20 * S;
    /* 2 x 60, then a stop of 20 and 4 x 40: 280 just in time. */
    assert_true(forecast_place(&f, d, 0));
    assert_int_equal(d->level[0], 2);
    assert_int_equal(d->level[1], 3);
    d->resize = 21 * S;
    assert_false(forecast_place(&f, d, 0));
}

/* Sizes that are slower than smaller ones are no choice. */
static void test_demand_of_a_task(void **state)
{
    (void)state;
    static const double bumpy[] = {1, 1.5, 1.4, 2};
    struct world w;
    struct arena a = {0};
    world_init(&w, "1x8", "deadline", NULL);
    struct speed *speed = ARENA_NEW(&w.arena, struct speed);
    *speed = speed_table(&w.arena, bumpy, 4);
    struct job like = {.pool = POOL_GPU,
                       .kind = JOB_MALLEABLE,
                       .min = UNIT,
                       .max = 4 * UNIT,
                       .work = 100 * S,
                       .deadline = (usec_t)(300 * S),
                       .speeds = speed,
                       .nspeeds = 1,
                       .cost = {.restart = (usec_t)(7 * S), .resize = (usec_t)(9 * S)}};
    uint32_t task = world_submit(&w, 0, like);
    struct demand d;
    demand_init(&d, engine_snapshot(&w.e, (usec_t)(100 * S)), task, POOL_GPU, &a);
    assert_int_equal(d.sizes, 3);
    assert_int_equal(d.size[1], 2 * UNIT);
    assert_int_equal(d.size[2], 4 * UNIT);
    assert_near(d.deadline, 200 * S, 0);
    assert_near(d.resume, 9 * S, 0); /* the larger one */
    assert_false(d.started);
    assert_int_equal(d.held, 0);
    arena_done(&a);
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_slots),
    TEST(test_levels),
    TEST(test_costs),
    TEST(test_smallest_size),
    TEST(test_what_is_left),
    TEST(test_parts_of_slots),
    TEST(test_resize_on_the_way),
    TEST(test_demand_of_a_task),
};

int main(void)
{
    return RUN(tests);
}
