/* Owns what would let a waiting job start: other jobs that end, and actions of users. Each
 * suggestion has been tried on a copy of the engine. */
#include "server/explain/frees.h"

#include <inttypes.h>

#include "base/str.h"
#include "server/explain/ahead.h"
#include "server/explain/forecast.h"
#include "server/explain/queued.h"
#include "server/explain/text.h"

/* Jobs that end before this one starts, according to the forecast. */
static void free_by_ends(struct explanation *x, const struct forecast *f)
{
    enum { SHOWN = 3 };
    uint32_t n = 0;
    for (size_t i = 0; f->made && i < f->r.ended.n && n < SHOWN; i++) {
        uint32_t task = f->r.ended.at[i].task;
        const struct live_job *j = explain_holds(x, task) ? yard_job_of_task(x->y, task) : NULL;
        struct str s = {0};
        if (!j)
            continue;
        n++;
        phrase_job(&s, j);
        if (forecast_basis(j) == END_ASSUMED) {
            str_add(&s, " does not report when it ends; its end frees ");
        } else {
            str_add(&s, forecast_basis(j) == END_KNOWN ? " ends in about " : " ends in at most ");
            phrase_span(&s, f->r.ended.at[i].at - x->now);
            str_add(&s, " and frees ");
        }
        phrase_units(&s, x->y->engine.tasks[task].pool, x->y->engine.tasks[task].n);
        str_add(&s, ".");
        explain_free(x, &s);
    }
}

static void suggest_resize(struct explanation *x, const struct live_job *j, units_t n)
{
    struct str s = {0};
    str_add(&s, "With ");
    if (j != x->j) {
        phrase_job(&s, j);
        str_add(&s, " on ");
    }
    phrase_units(&s, POOL_CPU, n);
    str_addf(&s, " it could start at once: `trainyard resize %" PRId64 " --cpus %g`.", j->row.id,
             (double)n / UNIT);
    explain_free(x, &s);
}

/* Whether resizing this job to exactly n CPUs would help. A user can choose from the range
 * that it was submitted with. */
static bool try_resize(struct explanation *x, const struct live_job *j, units_t n)
{
    struct job terms = j->job[j->job_now];
    if (terms.pool != POOL_CPU || n < j->terms.asked_min || n > j->terms.asked_max)
        return false;
    terms.min = terms.max = terms.req = n;
    terms.kind = JOB_RIGID;
    if (!forecast_units(x, j->task, &terms))
        return false;
    suggest_resize(x, j, n);
    return true;
}

/* Whether it would start if the other one were gone. */
static bool try_cancel(struct explanation *x, const struct live_job *j)
{
    struct str s = {0};
    if (!forecast_units(x, j->task, NULL))
        return false;
    str_add(&s, "Without ");
    phrase_job(&s, j);
    str_addf(&s, " it would start at once: `trainyard cancel %" PRId64 "`.", j->row.id);
    explain_free(x, &s);
    return true;
}

/* Of the jobs that hold units, one that could shrink, and one that could be cancelled. */
static void free_by_users(struct explanation *x, const struct space *space)
{
    enum { TRIES = 4 };
    struct holders holders = explain_holders(x);
    units_t missing = explain_needed(x, space) - space->free;
    bool resized = false, cancelled = false;
    if (space->free > 0 && missing > 0)
        try_resize(x, x->j, space->free);
    for (size_t i = 0; i < holders.n && i < TRIES; i++) {
        const struct live_job *j = holders.at[i].j;
        const struct task *t = yard_task(x->y, j);
        if (t->phase != TASK_RUNNING)
            continue;
        if (!resized && t->job->kind == JOB_MALLEABLE && missing > 0 &&
            t->n - missing >= t->job->min)
            resized = try_resize(x, j, t->n - missing);
        cancelled = cancelled || try_cancel(x, j);
    }
    VEC_DONE(&holders);
}

/* A priority above all other jobs, if that would let it start. */
static void free_by_priority(struct explanation *x)
{
    const struct engine *e = &x->y->engine;
    int32_t top = x->j->row.priority;
    struct job terms = x->j->job[x->j->job_now];
    for (uint32_t i = 0; i < e->tasks_n; i++)
        if (e->tasks[i].job && e->tasks[i].priority > top)
            top = e->tasks[i].priority;
    if (top == INT32_MAX)
        return;
    terms.priority = top + 1;
    if (!forecast_units(x, x->j->task, &terms))
        return;
    struct str s = {0};
    str_addf(&s,
             "With a higher priority it would start at once, at the expense of others: `trainyard "
             "set %" PRId64 " --priority %d`.",
             x->j->row.id, terms.priority);
    explain_free(x, &s);
}

void explain_frees(struct explanation *x, const struct space *space, const struct forecast *f)
{
    free_by_ends(x, f);
    free_by_users(x, space);
    free_by_priority(x);
}
