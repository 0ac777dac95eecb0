/* Goodput: shapes, batches, step times and gains by hand, and what is left of a job. */
#include "model/goodput.h"
#include "model/learning.h"

#include <math.h>

#include "sim/trace/goodput_read.h"
#include "support/test.h"

/* Four replicas on a node, two epochs, batch sizes 8 and 32. */
static const struct goodput_point one[] = {{4, 1, 0.1}, {8, 2, 0.1}};
static const struct goodput_point two[] = {{4, 1.2, 0.3}, {8, 2.2, 0.3}};
static const struct goodput_point spread[] = {{4, 1.6, 0.7}, {8, 2.6, 0.7}};
static const struct goodput_point wide[] = {{4, 2, 1}, {8, 3, 1}};
static const struct goodput_curve shapes[] = {
    {{1, 1, 0x1}, one, 2}, {{1, 2, 0x2}, two, 2}, {{2, 2, 0x11}, spread, 2}};
static const struct goodput_curve means[] = {
    {{1, 1, 0}, one, 2}, {{1, 2, 0}, two, 2}, {{2, 2, 0}, spread, 2}, {{4, 4, 0}, wide, 2}};
static const double batches[] = {8, 32}, sqr[] = {1, 1, 3, 1}, var[] = {1, 9, 1, 9};
static const double progress[] = {0, 100, 300};
static const struct goodput app = {.shapes = shapes,
                                   .means = means,
                                   .nshapes = 3,
                                   .nmeans = 4,
                                   .per_node = 4,
                                   .min_local = 4,
                                   .max_local = 8,
                                   .largest = 4,
                                   .pace = 1,
                                   .nbatches = 2,
                                   .epochs = 2,
                                   .batches = batches,
                                   .sqr = sqr,
                                   .var = var,
                                   .progress = progress};

static void turns_shapes(void **state)
{
    struct slot a[] = {{7, 4 * UNIT}, {2, 2 * UNIT}, {3, 3 * UNIT}};
    struct slot b[] = {{7, 2 * UNIT}, {2, 3 * UNIT}, {3, 4 * UNIT}};
    struct slot c[] = {{7, 4 * UNIT}, {2, 3 * UNIT}, {3, 2 * UNIT}};
    (void)state;
    assert_int_equal(shape_of(&(struct placement){a, 3}).key, 0x234);
    assert_int_equal(shape_of(&(struct placement){b, 3}).key, 0x234);
    assert_int_equal(shape_of(&(struct placement){c, 3}).key, 0x243);
    struct shape s = shape_packed(10, 4);
    assert_true(s.nodes == 3 && s.replicas == 10 && s.key == 0x244);
    assert_int_equal(shape_packed(80, 4).key, 0); /* 20 nodes */
}

static void divides_batches(void **state)
{
    (void)state;
    /* 8 samples are the initial batch: one pass. Any more are two on one replica. */
    struct shape one_replica = {1, 1, 0x1}, pair = {1, 2, 0x2}, three = {1, 3, 0x3};
    struct goodput_batch b = goodput_divide(&app, &one_replica, 8);
    assert_true(b.local == 8 && b.passes == 1);
    b = goodput_divide(&app, &one_replica, 10);
    assert_true(b.local == 5 && b.passes == 2);
    b = goodput_divide(&app, &pair, 20); /* 10 each, in two passes of 5 */
    assert_true(b.local == 5 && b.passes == 2);
    b = goodput_divide(&app, &three, 32); /* 11 each in two of 6, but 3 x 2 x 6 is more than 32 */
    assert_true(b.local == 5 && b.passes == 2);
}

static void times_steps(void **state)
{
    struct shape packed = {1, 2, 0x2}, apart = {2, 2, 0x11}, odd = {3, 3, 0};
    (void)state;
    assert_near(goodput_step_time(&app, &packed, (struct goodput_batch){6, 1}), 1.7, 1e-12);
    assert_near(goodput_step_time(&app, &apart, (struct goodput_batch){6, 1}), 2.1, 1e-12);
    /* Only the last of three passes synchronises. */
    assert_near(goodput_step_time(&app, &packed, (struct goodput_batch){6, 3}), 1.7 + 2 * 1.4,
                1e-12);
    /* Halfway between one replica on each of two nodes and of four. */
    assert_near(goodput_step_time(&app, &odd, (struct goodput_batch){4, 1}), 1.8, 1e-12);
    assert_true(isnan(goodput_step_time(&app, &packed, (struct goodput_batch){3, 1})));
    assert_true(isnan(goodput_step_time(&app, &packed, (struct goodput_batch){9, 1})));
}

static void gains_by_noise(void **state)
{
    (void)state;
    assert_near(goodput_gain(&app, 0, 8), 1, 1e-12);
    /* Four times the batch: little noise, (1 + 3) / (1/4 + 3); much, (9 + 1) / (9/4 + 1). */
    assert_near(goodput_gain(&app, 0, 32), 4 / 3.25, 1e-12);
    assert_near(goodput_gain(&app, 1, 32), 10 / 3.25, 1e-12);
    /* In between, the squared norm is: 2.5 x 8 samples have 2 and 1. */
    assert_near(goodput_gain(&app, 0, 20), 3 / (1 / 2.5 + 2), 1e-12);
}

static void finds_the_best_batch(void **state)
{
    struct shape packed = {1, 2, 0x2};
    (void)state;
    for (uint32_t epoch = 0; epoch < 2; epoch++) {
        struct goodput_batch best = goodput_best(&app, &packed, epoch);
        double top = goodput_rate(&app, &packed, epoch, best);
        for (double global = 8; global <= 32; global++) {
            struct goodput_batch b = goodput_divide(&app, &packed, global);
            assert_true(goodput_rate(&app, &packed, epoch, b) <= top * 1.02);
        }
    }
    struct shape many = {4, 9, 0}; /* 9 x 4 samples are more than the largest batch */
    assert_int_equal(goodput_best(&app, &many, 0).passes, 0);
    assert_true(goodput_rate(&app, &many, 0, goodput_best(&app, &many, 0)) == 0);
}

static void knows_what_is_left(void **state)
{
    struct arena a = {0};
    struct learning l;
    (void)state;
    assert_true(learning_init(&l, &app, 1, 8, 2, &a));
    /* One replica: 8 samples in 2 s; two: 4 each in 1.2 s; the gain is 1 throughout. */
    assert_near(l.left[0], 600, 1e-9);
    assert_near(l.left[1], 400, 1e-9);
    assert_near(l.left[2], 0, 0);
    assert_near(learning_left(&l, 0, 50), 500, 1e-9);
    assert_near(learning_left(&l, 1, 100), 400, 1e-9);
    assert_near(learning_left(&l, 2, 300), 0, 0);
    assert_near(speed_at(&l.speeds[0], 2 * UNIT), 2 / 1.2, 1e-12);
    arena_done(&a);
}

/* A second type on which each step takes half as long, and which has one replica only. */
static void knows_types(void **state)
{
    static const struct goodput_point fast_one[] = {{4, 0.5, 0.05}, {8, 1, 0.05}};
    static const struct goodput_curve fast_shapes[] = {{{1, 1, 0x1}, fast_one, 2}};
    static const struct goodput_curve fast_means[] = {{{1, 1, 0}, fast_one, 2}};
    struct goodput types[] = {app, app};
    struct arena a = {0};
    struct learning l;
    (void)state;
    types[1].shapes = fast_shapes;
    types[1].means = fast_means;
    types[1].nshapes = types[1].nmeans = types[1].largest = 1;
    assert_true(learning_init(&l, types, 2, 8, 2, &a));
    assert_int_equal(l.nspeeds, 3);
    const struct speed *s = learning_speeds(&l, 1);
    assert_false(speed_runs(&s[0])); /* CPUs */
    assert_near(speed_at(&s[1], UNIT), 1, 1e-12);
    assert_near(speed_at(&s[1], 2 * UNIT), 2 / 1.2, 1e-12);
    assert_near(speed_at(&s[2], UNIT), 2, 1e-12);
    assert_int_equal(speed_floor(&s[2], 2 * UNIT), UNIT);
    /* Jobs that reach half of the measured speed take twice as long on each type. */
    types[0].pace = types[1].pace = 0.5;
    assert_true(learning_init(&l, types, 2, 8, 2, &a));
    assert_near(l.left[0], 1200, 1e-9);
    assert_near(speed_at(&learning_speeds(&l, 0)[2], UNIT), 2, 1e-12);
    arena_done(&a);
}

/* A shape that was measured up to 4 samples only makes more passes, if that is the rule. */
static void limits_batches_by_shape(void **state)
{
    static const struct goodput_point small[] = {{4, 1, 0.1}};
    static const struct goodput_curve own[] = {{{1, 1, 0x1}, small, 1}, {{1, 2, 0x2}, two, 2}};
    struct goodput g = app;
    struct shape alone = {1, 1, 0x1}, pair = {1, 2, 0x2}, apart = {2, 2, 0x11};
    (void)state;
    g.shapes = own;
    g.nshapes = 2;
    assert_true(isnan(goodput_step_time(&g, &alone, goodput_divide(&g, &alone, 8))));
    g.limited_by_shape = true;
    struct goodput_batch b = goodput_divide(&g, &alone, 8);
    assert_true(b.local == 4 && b.passes == 2);
    b = goodput_divide(&g, &pair, 16);
    assert_true(b.local == 8 && b.passes == 1);
    b = goodput_divide(&g, &apart,
                       16); /* not measured itself: as much as means that are as large */
    assert_true(b.local == 8 && b.passes == 1);
}

/* Every profile that we have can be read, and runs on one GPU at the best batch. */
static void reads_profiles(void **state)
{
    static const char *const names[] = {"bert",        "cifar10", "ncf",
                                        "deepspeech2", "yolov3",  "imagenet"};
    struct arena a = {0};
    struct goodput g;
    struct err err;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_ok(goodput_read("data/pollux/profiles", names[i], "", &a, &g, &err), err);
        assert_true(g.per_node == 4 && g.largest == 64 && g.epochs > 1);
        for (uint32_t n = 1; n <= 64; n *= 4) {
            struct shape s = shape_packed(n, 4);
            double rate = goodput_rate(&g, &s, 0, goodput_best(&g, &s, 0));
            if (n * g.min_local <= goodput_largest(&g))
                assert_true(rate > 0);
        }
    }
    assert_error(goodput_read("data/pollux/profiles", "cifar", "", &a, &g, &err), err, ERR_INVALID,
                 "no application 'cifar'; did you mean 'cifar10'?");
    arena_done(&a);
}

static const struct CMUnitTest tests[] = {
    TEST(turns_shapes),   TEST(divides_batches),      TEST(times_steps),
    TEST(gains_by_noise), TEST(finds_the_best_batch), TEST(knows_what_is_left),
    TEST(reads_profiles), TEST(knows_types),          TEST(limits_batches_by_shape),
};

int main(void)
{
    return RUN(tests);
}
