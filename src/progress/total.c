/* Owns how long a run is: what the output says about its end, what the user gave, the plan, and an
 * earlier run, in that order of trust. Whatever the output contradicts is dropped. */
#include "progress/total.h"

static void drop_limit(struct progress_track *t, enum progress_unit unit)
{
    t->plan.limit[unit].value = 0;
}

void progress_track_drop_given(struct progress_track *t, int64_t step)
{
    if (!t->given_total || step <= t->given_total)
        return;
    t->given_total = 0;
    t->now.has &= ~PROGRESS_TOTAL;
    t->now.total_from = NULL;
}

/* A limit that the output has gone beyond is not the run's. */
static void check_limits(struct progress_track *t)
{
    struct progress_run *r = &t->run;
    struct progress_limit *l = t->plan.limit;
    if (r->has_epoch && r->epoch - r->base + 1 > (double)l[PROGRESS_UNIT_EPOCH].value)
        drop_limit(t, PROGRESS_UNIT_EPOCH);
    if (!r->has_epoch && r->resets >= l[PROGRESS_UNIT_EPOCH].value)
        drop_limit(t, PROGRESS_UNIT_EPOCH);
    if (r->has_at && !r->within && !r->resets && r->unit != PROGRESS_UNIT_NONE &&
        r->at > l[r->unit].value)
        drop_limit(t, r->unit);
    r->planned = l[PROGRESS_UNIT_EPOCH].value;
    r->exact = r->epochs == r->planned || r->epochs == l[PROGRESS_UNIT_STEP].value;
    r->job = r->job || (r->of && r->of == l[PROGRESS_UNIT_STEP].value);
}

/* For a place that has no name: the limit of epochs or steps when there is only one. */
static const struct progress_limit *only_limit(const struct progress_track *t)
{
    const struct progress_limit *epochs = &t->plan.limit[PROGRESS_UNIT_EPOCH],
                                *steps = &t->plan.limit[PROGRESS_UNIT_STEP];
    if (!epochs->value == !steps->value)
        return NULL;
    const struct progress_limit *only = epochs->value ? epochs : steps;
    if (only == epochs && t->run.has_epoch)
        return NULL; /* {"epoch": 1, "batch": 10}: the place is another count */
    /* A log by epochs counts them one by one. */
    bool one_by_one = t->run.at - t->run.first_at == t->run.moves && t->run.moves;
    if (t->run.trust == TRUST_LOGGED && only == epochs && !one_by_one)
        return NULL;
    return only->value >= t->run.at ? only : NULL;
}

/* The limit that counts what the run counts from the job's beginning; NULL = none. */
static const struct progress_limit *step_limit(const struct progress_track *t)
{
    const struct progress_run *r = &t->run;
    const struct progress_limit *l = t->plan.limit;
    if (!r->has_at || r->within || r->per_epoch || r->resets)
        return NULL;
    if (r->unit == PROGRESS_UNIT_NONE)
        return r->of ? NULL : only_limit(t);
    if (l[r->unit].value && !(l[r->unit].rollout && t->rewards))
        return &l[r->unit];
    bool timesteps = r->unit == PROGRESS_UNIT_STEP && l[PROGRESS_UNIT_TIMESTEP].value >= r->at;
    return timesteps && l[PROGRESS_UNIT_TIMESTEP].value ? &l[PROGRESS_UNIT_TIMESTEP] : NULL;
}

/* What this run says about its length, or what is known about it. */
static int64_t find_own_total(const struct progress_track *t, const char **from)
{
    bool planned;
    int64_t total = progress_run_total(&t->run, &planned);
    const struct progress_limit *limit = step_limit(t);
    *from = planned ? t->plan.limit[PROGRESS_UNIT_EPOCH].from : "output";
    if (t->given_total > 0) {
        *from = "--total";
        return t->given_total;
    }
    bool user = limit && limit->origin == PROGRESS_FROM_USER;
    if (t->outer && !user)
        return 0;
    if (total && !planned)
        return total;
    /* Of two limits the one that is reached first ends the run. */
    if (limit && (!total || limit->value < total)) {
        *from = limit->from;
        return limit->value;
    }
    return total;
}

int64_t progress_track_total(struct progress_track *t, int64_t step, const char **from)
{
    check_limits(t);
    progress_track_drop_given(t, step);
    int64_t total = find_own_total(t, from);
    if (step > t->past)
        t->past = 0; /* it goes on for longer than that run */
    if (total || !t->past)
        return total;
    *from = "earlier runs";
    return t->past;
}
