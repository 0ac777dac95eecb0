/* Owns what explanations say about the future. A copy of the engine that runs on in virtual
 * time (advisor/rollout.h) computes it. The remaining time of a job is known if the job
 * reports steps; otherwise its time limit bounds it, if it has one. */
#include "server/explain/forecast.h"

#include <math.h>

#include "base/str.h"
#include "server/explain/text.h"
#include "server/jobs/reports.h"

/* The horizon is longer than anyone waits; the number of looks bounds the time of a request. */
static const struct rollout_limits limits = {366LL * 86400 * USEC_PER_SEC, 100000};

enum end_basis forecast_basis(const struct live_job *j)
{
    if (estimate_knows_work(j))
        return END_KNOWN;
    return j->terms.time_limit > 0 ? END_LIMITED : END_ASSUMED;
}

double forecast_limited_work(const struct yard *y, const struct live_job *j)
{
    const struct task *t = yard_task(y, j);
    usec_t left = j->terms.time_limit;
    unsigned pool = t->pool < POOLS_MAX ? t->pool : POOL_GPU;
    if (j->attempt && j->attempt->started)
        left -= clock_wall(&y->clock) - j->attempt->started;
    double speed = t->rate > 0 ? t->rate : speed_at(job_speed(t->job, pool), t->asked);
    return task_done(t, clock_now(&y->clock)) + (left > 0 ? (double)left * speed : 0);
}

static struct rollout *begin_rollout(const struct explanation *x)
{
    struct rollout *r = rollout_create(&x->y->engine, x->now);
    struct err err;
    for (struct live_job *j = x->y->jobs.first; j; j = j->next) {
        if (j->task != TASK_NONE && forecast_basis(j) == END_LIMITED)
            rollout_set_work(r, j->task, forecast_limited_work(x->y, j), &err);
    }
    return r;
}

void forecast_make(const struct explanation *x, enum rollout_until until, struct forecast *out)
{
    struct rollout *r = begin_rollout(x);
    struct err err;
    *out = (struct forecast){0};
    out->made = rollout_run(r, x->j->task, until, &limits, &out->r, &err) == 0;
    rollout_free(r);
}

void forecast_done(struct forecast *f)
{
    if (f->made)
        rollout_result_done(&f->r);
}

/* The job that ended, if it held what the explained job can use; NULL otherwise. */
static const struct live_job *made_room(const struct explanation *x, const struct rollout_end *end)
{
    const struct live_job *j = yard_job_of_task(x->y, end->task);
    const struct task *t = j ? yard_task(x->y, j) : NULL;
    if (!t || end->task == x->j->task)
        return NULL;
    unsigned pool = t->phase == TASK_RUNNING ? t->pool : t->job->pool;
    return x->t->job->pool == pool || job_takes_pool(x->t->job, pool) ? j : NULL;
}

enum end_basis forecast_rests_on(const struct explanation *x, const struct forecast *f)
{
    enum end_basis worst = END_KNOWN;
    for (size_t i = 0; f->made && i < f->r.ended.n; i++) {
        const struct live_job *j = made_room(x, &f->r.ended.at[i]);
        enum end_basis basis = j ? forecast_basis(j) : END_KNOWN;
        worst = basis > worst ? basis : worst;
    }
    return worst;
}

static void add_condition(struct str *out, const struct explanation *x, const struct live_job *j)
{
    double rate = estimate_rate(x->y, j);
    phrase_job(out, j);
    if (forecast_basis(j) == END_LIMITED) {
        str_add(out, " runs for its whole time limit of ");
        phrase_span(out, j->terms.time_limit);
    } else {
        str_add(out, " continues");
        if (rate > 0)
            str_addf(out, " at %.3g steps/s", rate);
    }
}

/* The jobs whose ends the forecast rests on, in the order of these ends. Leaves out those
 * whose end is better known than `basis`. */
static uint32_t find_ends(const struct explanation *x, const struct forecast *f,
                          enum end_basis basis, const struct live_job **out, uint32_t max)
{
    uint32_t n = 0;
    for (size_t i = 0; i < f->r.ended.n; i++) {
        const struct live_job *j = made_room(x, &f->r.ended.at[i]);
        if (!j || forecast_basis(j) < basis)
            continue;
        if (n < max)
            out[n] = j;
        n++;
    }
    return n;
}

void forecast_phrase(struct str *out, const struct explanation *x, const struct forecast *f)
{
    enum { SHOWN = 3 };
    const struct live_job *jobs[SHOWN];
    bool assumed = forecast_rests_on(x, f) == END_ASSUMED;
    uint32_t n = find_ends(x, f, assumed ? END_ASSUMED : END_KNOWN, jobs, SHOWN);
    str_add(out, assumed || n == 0 ? "" : "if ");
    for (uint32_t i = 0; i < n && i < SHOWN; i++) {
        str_add(out, i == 0 ? "" : i + 1 == n ? " and " : ", ");
        if (assumed)
            phrase_job(out, jobs[i]);
        else
            add_condition(out, x, jobs[i]);
    }
    if (n > SHOWN) {
        str_add(out, " and ");
        phrase_count(out, n - SHOWN, "other");
        str_add(out, assumed ? "" : n - SHOWN == 1 ? " ends as expected" : " end as expected");
    }
    if (assumed)
        str_addf(out, " %s not report how long %s", n == 1 ? "does" : "do",
                 n == 1 ? "it takes" : "they take");
}

usec_t forecast_end(const struct explanation *x, const struct live_job *j)
{
    const struct task *t = yard_task(x->y, j);
    struct range left;
    if (!t || t->phase != TASK_RUNNING)
        return USEC_NEVER;
    switch (forecast_basis(j)) {
    case END_KNOWN:
        return estimate_left(x->y, j, &left) ? x->now + (usec_t)fmin(left.mid * 1e6, 1e17)
                                             : task_end(t, x->now);
    case END_LIMITED:
        return j->attempt && j->attempt->started
                   ? x->now + j->attempt->started + j->terms.time_limit - x->wall
                   : USEC_NEVER;
    case END_ASSUMED:
        break;
    }
    return USEC_NEVER;
}

units_t forecast_units(const struct explanation *x, uint32_t task, const struct job *terms)
{
    /* Up to the next decision: no other job ends before it. */
    struct rollout_limits now = {x->y->engine.config.resched_min, limits.looks};
    bool runs = x->t->phase == TASK_RUNNING;
    struct rollout *r = begin_rollout(x);
    struct rollout_result found = {0};
    struct err err;
    units_t n = 0;
    int rc = terms ? rollout_set_job(r, task, terms, &err) : rollout_cancel(r, task, &err);
    if (rc == 0)
        rc = rollout_run(r, x->j->task, runs ? ROLLOUT_RESIZE : ROLLOUT_START, &now, &found, &err);
    if (rc == 0 && found.ended.n == 0)
        n = runs ? found.resized_to : found.units;
    if (rc == 0)
        rollout_result_done(&found);
    rollout_free(r);
    return n;
}
