/* Admission by deadline on random sets of jobs: those that are admitted can all be
 * done in time. Checked in two ways: their plans, slot by slot, against the work, the
 * costs and the capacity; and by running the policy, with nothing else arriving. */
#include "base/rng.h"
#include "policy/allocate/admission.h"
#include "policy/budget.h"
#include "policy/order.h"
#include "support/chaos_world.h"
#include "support/test.h"
#include "support/world.h"

enum { WORLDS = 2000, JOBS_MAX = 12 };

static const double width = 60e6;

static void draw(struct rng *r, struct world *w, bool costs)
{
    char nodes[16];
    snprintf(nodes, sizeof nodes, "%dx%d", (int)chaos_between(r, 1, 3),
             (int)chaos_between(r, 1, 8));
    world_init(w, nodes, "deadline", NULL);
    uint32_t jobs = (uint32_t)chaos_between(r, 1, JOBS_MAX);
    for (uint32_t i = 0; i < jobs; i++) {
        struct job like = {.pool = POOL_GPU, .kind = JOB_MALLEABLE};
        struct err err;
        like.min = chaos_between(r, 1, 2) * UNIT;
        like.max = like.min + chaos_between(r, 0, 6) * UNIT;
        like.work = (double)chaos_between(r, 1, 3000) * 1e6;
        like.deadline = chaos_maybe(r, 85) ? chaos_between(r, 10, 2000) * USEC_PER_SEC : 0;
        if (costs && chaos_maybe(r, 50))
            like.cost = (struct job_cost){.restart = chaos_between(r, 1, 60) * USEC_PER_SEC,
                                          .resize = chaos_between(r, 1, 60) * USEC_PER_SEC};
        const struct job *j = world_job(w, like);
        if (cluster_can_hold(&w->e.cluster, j, &err) == 0)
            world_take(w, 0, (struct event){.kind = EVENT_SUBMIT, .job = j});
    }
}

static struct admission admit(struct world *w, struct arena *a)
{
    struct admission m;
    struct plan plan;
    const struct snapshot *s = engine_snapshot(&w->e, w->now);
    plan_init(&plan, s, a, false);
    const uint32_t *order = order_by_submit(s, &plan);
    admission_init(&m, s, order, budget_pools(s, order, a), POOL_GPU, a);
    admission_fill(&m, width);
    return m;
}

/* Time that the plan uses of the slot, and the work that it does there. */
struct use {
    double units, time, work;
};

/* Follows the plan of a demand; use[k] for each slot. Returns the work left. */
static double follow(const struct forecast *f, const struct demand *d, struct use *use)
{
    double work = d->work, stop = d->pause;
    units_t held = d->held;
    bool started = d->started;
    for (uint32_t k = 0; k <= d->last; k++) {
        double until = fmin(f->edge[k + 1], d->deadline), length = until - f->edge[k];
        use[k] = (struct use){0};
        if (!d->level[k]) {
            held = 0;
            continue;
        }
        units_t n = d->size[d->level[k] - 1];
        if (n != held)
            stop = held ? d->resize : started ? d->resume : 0;
        held = n;
        started = true;
        double used = k == d->last ? d->tail : length;
        double pause = fmin(stop, used);
        stop -= pause;
        use[k] = (struct use){(double)n, used, (used - pause) * d->rate[d->level[k] - 1]};
        work -= use[k].work;
        assert_true(used <= length * (1 + 1e-9));
    }
    return work;
}

/* No slot is overfull, and neither is any slot up to a deadline within it, if work
 * with an earlier deadline comes first. */
static void check_capacity(const struct admission *m, struct use (*use)[FORECAST_SLOTS])
{
    const struct forecast *f = &m->forecast;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct demand *limit = &m->at[i].demand;
        for (uint32_t k = 0; m->at[i].state == ADMISSION_ADMITTED && k < f->n; k++) {
            double until = fmin(f->edge[k + 1], limit->deadline), booked = 0;
            if (until <= f->edge[k])
                break;
            for (uint32_t q = 0; q < m->n; q++) {
                const struct demand *d = &m->at[q].demand;
                if (m->at[q].state == ADMISSION_ADMITTED && d->deadline <= limit->deadline &&
                    k <= d->last)
                    booked += use[q][k].units * use[q][k].time;
            }
            assert_true(booked <= f->size * (until - f->edge[k]) * (1 + 1e-6));
        }
    }
}

static void test_plans(void **state)
{
    (void)state;
    static struct use use[JOBS_MAX][FORECAST_SLOTS];
    uint32_t admitted = 0, at_risk = 0;
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct rng r;
        struct world w;
        struct arena a = {0};
        rng_init(&r, seed);
        draw(&r, &w, true);
        struct admission m = admit(&w, &a);
        memset(use, 0, sizeof use);
        for (uint32_t i = 0; i < m.n; i++) {
            at_risk += m.at[i].state == ADMISSION_AT_RISK;
            if (m.at[i].state != ADMISSION_ADMITTED)
                continue;
            admitted++;
            assert_near(follow(&m.forecast, &m.at[i].demand, use[i]), 0,
                        1e-6 * m.at[i].demand.work);
        }
        check_capacity(&m, use);
        arena_done(&a);
        world_done(&w);
    }
    assert_true(admitted > WORLDS && at_risk > WORLDS / 4);
}

static void step(struct world *w, struct event event, usec_t now)
{
    struct err err;
    assert_ok(engine_step(&w->e, &event, now, &err), err);
}

/* What became of the jobs that were admitted at first, and of all. */
struct outcome {
    uint32_t promised, late, met;
};

/* Runs the policy to the end. */
static void run(struct world *w, const struct admission *m, struct outcome *out)
{
    bool sure[JOBS_MAX] = {0};
    for (uint32_t i = 0; i < m->n; i++)
        sure[m->at[i].demand.task] = m->at[i].state == ADMISSION_ADMITTED;
    while (w->e.snapshot.active) {
        usec_t next = engine_due(&w->e) > w->now ? engine_due(&w->e) : w->now;
        for (size_t i = 0; i < w->e.running.n; i++) {
            usec_t end = task_end(&w->e.tasks[w->e.running.at[i]], w->now);
            next = end < next ? end : next;
        }
        assert_true(next != USEC_NEVER);
        for (uint32_t i = 0; i < w->e.tasks_n; i++) {
            const struct task *t = &w->e.tasks[i];
            if (!t->job || !task_running(t) || task_end(t, w->now) > next)
                continue;
            out->promised += sure[i];
            out->late += sure[i] && next > t->job->deadline;
            out->met += t->job->deadline != USEC_NEVER && next <= t->job->deadline;
            step(w, (struct event){.kind = EVENT_END, .task = i}, next);
        }
        w->now = next;
        if (engine_due(&w->e) <= next)
            step(w, (struct event){.kind = EVENT_TICK}, next);
    }
}

/* The admission is made again at each decision, and slots are filled on average: now
 * and then an admitted job is given up for another after all. That must be rare, and
 * as many deadlines must be met as were promised at first. */
static void test_promises(void **state)
{
    (void)state;
    struct outcome all = {0};
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct rng r;
        struct world w;
        struct arena a = {0};
        struct outcome here = {0};
        rng_init(&r, seed);
        draw(&r, &w, false);
        struct admission m = admit(&w, &a);
        run(&w, &m, &here);
        if (here.late > 1 || here.met + 1 < here.promised)
            fail_msg("seed %llu: %u promised, %u late, %u met", (unsigned long long)seed,
                     here.promised, here.late, here.met);
        all.promised += here.promised;
        all.late += here.late;
        all.met += here.met;
        arena_done(&a);
        world_done(&w);
    }
    assert_true(all.promised > WORLDS);
    assert_true(all.met >= all.promised);
    assert_in_range(all.late, 0, all.promised / 200);
}

static const struct CMUnitTest tests[] = {TEST(test_plans), TEST(test_promises)};

int main(void)
{
    return RUN(tests);
}
