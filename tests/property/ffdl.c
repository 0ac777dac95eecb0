/* ffdl against all ways to divide a few units: the sum of speedups is the largest
 * there is, on concave curves (where giving each unit to the largest gain finds it,
 * too) and on any others. */
#include "base/rng.h"
#include "support/chaos_world.h"
#include "support/test.h"
#include "support/world.h"

enum { WORLDS = 3000, LARGEST = 9, JOBS_MAX = 11 };

/* A curve of up to 5 units: concave, or anything, with gaps. */
static struct speed draw_speed(struct rng *r, struct arena *a, uint32_t n, bool concave)
{
    double speeds[8], gain = 1, sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        sum += gain;
        speeds[k] = concave ? sum : 0.1 + 5 * rng_uniform(r);
        if (!concave && k > 0 && chaos_maybe(r, 25))
            speeds[k] = NAN;
        gain *= 0.3 + 0.7 * rng_uniform(r);
    }
    return speed_table(a, speeds, n);
}

static void draw(struct rng *r, struct world *w, bool concave)
{
    char nodes[16];
    snprintf(nodes, sizeof nodes, "1x%d", (int)chaos_between(r, 1, LARGEST));
    world_init(w, nodes, "ffdl", NULL);
    uint32_t jobs = (uint32_t)chaos_between(r, 1, JOBS_MAX);
    for (uint32_t i = 0; i < jobs; i++) {
        uint32_t n = (uint32_t)chaos_between(r, 1, 5);
        struct speed *s = ARENA_NEW(&w->arena, struct speed);
        *s = draw_speed(r, &w->arena, n, concave);
        struct job like = {.pool = POOL_GPU,
                           .kind = JOB_MALLEABLE,
                           .work = 1e9,
                           .speeds = s,
                           .nspeeds = 1,
                           .min = UNIT};
        like.max = speed_floor(s, n * UNIT);
        if (!concave && chaos_maybe(r, 40))
            like.min = speed_floor(s, chaos_between(r, 1, n) * UNIT);
        if (cluster_most(&w->e.cluster, &like, POOL_GPU, false) >= like.min)
            world_submit(w, 0, like);
    }
}

/* The most that jobs from i on can make of these units. */
static double best_from(const struct world *w, uint32_t i, uint32_t jobs, units_t left)
{
    if (i == jobs)
        return 0;
    const struct job *j = world_task(w, i)->job;
    double best = best_from(w, i + 1, jobs, left);
    for (units_t n = j->min; n && n <= left; n = speed_next(j->speeds, n, j->max)) {
        double sum = speed_at(j->speeds, n) + best_from(w, i + 1, jobs, left - n);
        best = sum > best ? sum : best;
    }
    return best;
}

/* Each unit to the largest gain. */
static double greedy(const struct world *w, uint32_t jobs, units_t units)
{
    units_t n[JOBS_MAX] = {0};
    double sum = 0;
    for (; units > 0; units -= UNIT) {
        uint32_t best = jobs;
        double most = 0;
        for (uint32_t i = 0; i < jobs; i++) {
            const struct job *j = world_task(w, i)->job;
            double gain = n[i] + UNIT > j->max
                              ? 0
                              : speed_at(j->speeds, n[i] + UNIT) - speed_at(j->speeds, n[i]);
            if (gain > most) {
                most = gain;
                best = i;
            }
        }
        if (best == jobs)
            break;
        n[best] += UNIT;
        sum += most;
    }
    return sum;
}

static void check_worlds(uint64_t seed, bool concave)
{
    for (uint64_t i = 0; i < WORLDS; i++) {
        struct rng r;
        struct world w;
        rng_init(&r, seed + i);
        draw(&r, &w, concave);
        world_take(&w, 0, (struct event){.kind = EVENT_TICK});
        units_t size = w.e.snapshot.size[POOL_GPU];
        uint32_t jobs = w.e.tasks_n; /* only the first K are looked at */
        jobs = jobs < size / UNIT ? jobs : (uint32_t)(size / UNIT);
        double sum = 0;
        for (uint32_t k = 0; k < w.e.tasks_n; k++) {
            const struct task *t = world_task(&w, k);
            sum += t->n ? speed_at(t->job->speeds, t->n) : 0;
            assert_true(k < jobs || t->n == 0);
        }
        double best = best_from(&w, 0, jobs, size);
        if (fabs(sum - best) > 1e-9)
            fail_msg("seed %llu: %.12g instead of %.12g", (unsigned long long)(seed + i), sum,
                     best);
        if (concave)
            assert_near(greedy(&w, jobs, size), best, 1e-9);
        world_done(&w);
    }
}

static void test_concave(void **state)
{
    (void)state;
    check_worlds(1000000, true);
}

static void test_any_curve(void **state)
{
    (void)state;
    check_worlds(2000000, false);
}

static const struct CMUnitTest tests[] = {TEST(test_concave), TEST(test_any_curve)};

int main(void)
{
    return RUN(tests);
}
