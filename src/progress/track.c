/* Owns the choice among what was seen: which source says where the job is, which
 * bar is the training's, which loss is the job's.
 *
 * Trust decides: what the job said itself, then places of a training, then bare
 * bars and titles. Of equals the first one stays until it has ended or has been
 * silent for long. Only when a better source is found may the step fall. */
#include "progress/track.h"

#include <math.h>
#include <string.h>

#include "progress/shown.h"

/* Places of other sources of the same trust until the followed one is given up.
 * A bar is drawn ten times a second, also that of a long evaluation. */
#define SILENCE 2000
#define LINE_WEIGHT 40

void progress_track_init(struct progress_track *t, int64_t given_total,
                         const struct progress_plan *plan)
{
    *t = (struct progress_track){.given_total = given_total, .loss_rank = PROGRESS_LOSS_NONE};
    if (plan)
        t->plan = *plan;
    t->outer = t->plan.repeats;
    if (given_total > 0) {
        t->now.total = given_total;
        t->now.total_from = "--total";
        t->now.has = PROGRESS_TOTAL;
    }
}

/* ---- which source --------------------------------------------------------- */

static bool is_followed(const struct progress_run *r, const struct sighting *s)
{
    if (!r->source || !s->source || strcmp(r->source, s->source) != 0)
        return false;
    /* A bar may change its words on the way: "warmup", then "sample". */
    bool goes_on = s->bar && (s->has & SIGHTING_OF) && s->of == r->of && s->at >= r->at &&
                   r->at < r->of && r->moves && !(s->has & SIGHTING_EPOCH);
    return r->key == s->key || goes_on;
}

/* A place by epochs alone, where the run has finer ones: says how many there
 * are, at most. */
static bool is_coarse(const struct progress_run *r, const struct sighting *s)
{
    return r->has_at && !(s->has & SIGHTING_AT);
}

/* Epochs with their number say more than steps without an end. */
static bool says_more(const struct progress_track *t, const struct sighting *s)
{
    const struct progress_run *r = &t->run;
    return is_coarse(r, s) && (s->has & SIGHTING_EPOCHS) && !r->has_epoch && !r->of &&
           !(t->now.has & PROGRESS_TOTAL);
}

/* Steps where the run has only epochs, unless they would hide the end. */
static bool is_finer(const struct progress_run *r, const struct sighting *s)
{
    return !r->has_at && (s->has & SIGHTING_AT) &&
           ((s->has & (SIGHTING_OF | SIGHTING_EPOCH)) || !r->epochs);
}

/* Whether to follow the source of *s from now on, and from which step. */
static bool should_follow(struct progress_track *t, const struct sighting *s, int64_t *before)
{
    const struct progress_run *r = &t->run;
    *before = 0;
    if (s->trust != r->trust)
        return s->trust > r->trust;
    bool finer = is_finer(r, s);
    if (says_more(t, s))
        return true;
    if (finer || (!r->moves && (s->has & SIGHTING_AT) && !progress_run_step(r)))
        return true;
    if (is_coarse(r, s))
        return false;
    *before = t->now.step;
    t->others += s->bar ? 1 : LINE_WEIGHT;
    return progress_run_finished(r) || t->others > SILENCE;
}

/* A line names a later epoch, and the bar had come to its end: it is drawn again for
 * each epoch. */
static bool take_coarse(struct progress_track *t, const struct sighting *s)
{
    struct progress_run *r = &t->run;
    bool later =
        (s->has & SIGHTING_EPOCH) && (t->now.has & PROGRESS_EPOCH) && s->epoch > t->now.epoch;
    if (later && !r->has_epoch && !r->job && r->of && r->at >= r->of && !r->per_epoch) {
        r->per_epoch = true;
        bool news = progress_show_run(t, s);
        return progress_show_epoch(t, s) || news;
    }
    return progress_show_epoch(t, s);
}

/* Begins to follow the source of *s, `before` steps into the job. */
static bool follow_again(struct progress_track *t, const struct sighting *s, int64_t before)
{
    struct progress_run fresh;
    progress_run_start(&fresh, s, before, before ? t->run.resets + 1 : 0);
    fresh.planned = t->run.planned;
    if (!progress_run_advance(&fresh, s))
        return false;
    t->run = fresh;
    return true;
}

/* A place by epochs alone, where the run has steps. */
static bool follow_coarse(struct progress_track *t, const struct sighting *s)
{
    struct progress_run *r = &t->run;
    if ((s->has & SIGHTING_EPOCHS) && (!r->epochs || !r->has_epoch))
        r->epochs = s->epochs;
    return take_coarse(t, s);
}

/* ---- loops around the training ---------------------------------------------- */

/* A round counts before the training begins; the first is 0 or 1, which tells it from a count such
 * as "matched 320/322 weights". */
static void note_round(struct progress_track *t, const struct sighting *s)
{
    bool trains = t->run.source && (t->run.trust >= TRUST_GOOD || t->run.has_epoch);
    if (s->round_sure)
        t->outer = true;
    if (trains && !progress_run_finished(&t->run))
        return;
    bool goes_on = t->round.open && t->round.of == s->round_of;
    if (s->round_at > 1 && s->round_of && !goes_on)
        return;
    t->round.open = true;
    t->round.at = s->round_at;
    t->round.of = s->round_of;
}

/* The training begins: inside a round that others follow, or in epochs below steps. */
static void enter_round(struct progress_track *t, const struct sighting *s)
{
    const struct progress_run *r = &t->run;
    if (s->trust < TRUST_GOOD && !(s->has & SIGHTING_EPOCH) && !s->bar)
        return;
    if (t->round.open && (!t->round.of || t->round.at < t->round.of))
        t->outer = true;
    t->round.open = false;
    bool steps = r->source && r->has_at && !r->has_epoch && r->trust == TRUST_WEAK &&
                 r->unit != PROGRESS_UNIT_NONE && r->at < r->of && r->at <= 1;
    if (steps && (s->has & SIGHTING_EPOCH) && !(s->has & SIGHTING_AT))
        t->outer = true;
}

static bool follow(struct progress_track *t, const struct sighting *s)
{
    struct progress_run *r = &t->run;
    int64_t before = 0;
    bool followed = is_followed(r, s) && s->trust <= r->trust;
    bool again = followed ? says_more(t, s) || is_finer(r, s) : should_follow(t, s, &before);
    if (again) {
        enter_round(t, s);
        if (!follow_again(t, s, before))
            return false;
    } else if (is_coarse(r, s)) {
        return (followed || s->trust == r->trust) && follow_coarse(t, s);
    } else if (!followed || (!r->has_at && (s->has & SIGHTING_AT))) {
        return false;
    } else if (!progress_run_advance(r, s)) {
        t->behind = true;
        return false;
    }
    t->others = 0;
    bool news = progress_show_run(t, s);
    return progress_show_epoch(t, s) || news;
}

/* ---- special places ------------------------------------------------------- */

/* Hugging Face's trainer prints its epochs in lines and its steps by a bare bar,
 * the one that was drawn last before a line with a learning rate. */
static bool take_chief(struct progress_track *t, const struct sighting *s)
{
    bool news = progress_show_epoch(t, s);
    if (s->chief && !t->chief && t->bar_key) {
        t->chief = t->bar_key;
        struct sighting bar;
        sighting_init(&bar, s->source);
        bar.key = t->chief;
        bar.trust = TRUST_GOOD;
        bar.bar = true;
        bar.scope = SCOPE_JOB;
        bar.at = t->bar_at;
        bar.of = t->bar_of;
        bar.has = SIGHTING_AT | (t->bar_of ? SIGHTING_OF : 0);
        return follow(t, &bar) || news;
    }
    if (t->chief || (s->has & SIGHTING_AT))
        return (!t->chief && follow(t, s)) || news;
    const struct progress_limit *steps = &t->plan.limit[PROGRESS_UNIT_STEP],
                                *epochs = &t->plan.limit[PROGRESS_UNIT_EPOCH];
    if (!steps->value || !epochs->value || !(s->has & SIGHTING_EPOCH) ||
        steps->origin != PROGRESS_FROM_OUTPUT)
        return news;
    struct sighting share = *s;
    share.has = SIGHTING_AT | SIGHTING_OF;
    share.at = llround(fmin(s->epoch / (double)epochs->value, 1) * (double)steps->value);
    share.of = steps->value;
    share.scope = SCOPE_JOB;
    return follow(t, &share) || news;
}

/* A bare bar: remembered, and followed when it is known to be the training's. */
static bool take_bar(struct progress_track *t, struct sighting *s)
{
    /* A bar that has not moved yet may never do so. */
    if (!s->at && (s->has & SIGHTING_AT) && !t->run.source && !t->header.open)
        return false;
    if (s->trust == TRUST_WEAK) {
        t->bar_key = s->key ? s->key : 1;
        t->bar_at = s->at;
        t->bar_of = s->has & SIGHTING_OF ? s->of : 0;
        if (t->chief && t->chief == t->bar_key) {
            s->scope = SCOPE_JOB;
            s->trust = TRUST_GOOD;
            s->source = "huggingface";
            return follow(t, s);
        }
    }
    if (!(s->has & SIGHTING_EPOCH) && t->header.open)
        progress_header_adopt(&t->header, s);
    return follow(t, s);
}

static bool take_header(struct progress_track *t, const struct sighting *s)
{
    /* "epoch: 5" in a list of settings: so many there are. */
    const struct progress_limit *epochs = &t->plan.limit[PROGRESS_UNIT_EPOCH];
    if (!t->run.has_epoch && !(s->has & SIGHTING_EPOCHS) && epochs->value > 1 &&
        s->epoch == (double)epochs->value)
        return false;
    progress_header_open(&t->header, s);
    if (t->header.again && t->run.has_at && t->run.has_epoch && t->run.epoch == s->epoch)
        t->run.closed = true; /* a second fit of one epoch */
    return follow(t, s);
}

/* "Fitting 5 folds ..., totalling 60 fits", and then a line for each. */
static bool take_tick(struct progress_track *t, struct sighting *s)
{
    t->ticks++;
    if (s->has & SIGHTING_OF)
        t->ticks = 0;
    if (!(s->has & SIGHTING_OF) && !t->run.of)
        return false;
    s->at = t->ticks;
    s->has |= SIGHTING_AT;
    return follow(t, s);
}

/* A bare fraction is a place within the epoch that a line has named, if nothing finer is known. */
static bool take_loose(struct progress_track *t, struct sighting *s)
{
    const struct progress *p = &t->now;
    if (!(p->has & PROGRESS_EPOCH) || t->header.taken || (t->run.has_at && !t->loose))
        return false;
    s->epoch = p->epoch;
    s->epochs = p->epochs;
    s->has |= SIGHTING_EPOCH | (p->has & PROGRESS_EPOCHS ? SIGHTING_EPOCHS : 0);
    s->scope = SCOPE_EPOCH;
    s->trust = TRUST_GOOD;
    t->loose = true;
    return true;
}

static bool take_place(struct progress_track *t, struct sighting *s)
{
    if (s->source && !strcmp(s->source, "huggingface"))
        return take_chief(t, s);
    t->outer = t->outer || s->looped;
    if (s->timesteps && t->plan.limit[PROGRESS_UNIT_TIMESTEP].value) {
        s->at = s->timesteps; /* what the plan limits */
        s->unit = PROGRESS_UNIT_TIMESTEP;
        s->has &= ~(unsigned)SIGHTING_OF;
    }
    if ((s->has & SIGHTING_OF) && s->of == t->plan.limit[PROGRESS_UNIT_STEP].value &&
        s->unit != PROGRESS_UNIT_EPOCH && s->of > 1)
        s->scope = SCOPE_JOB; /* "Epoch 0:  5%|..| 500/10000" with max_steps=10000 */
    if (s->loose && !take_loose(t, s))
        return false;
    if (s->header && !(s->has & SIGHTING_EPOCH)) {
        t->step_header = (struct progress_step_header){!t->run.of, s->at, s->unit};
        return false;
    }
    if (s->header)
        return take_header(t, s);
    if (s->bar)
        return take_bar(t, s);
    if ((s->has & SIGHTING_AT) && !(s->has & SIGHTING_EPOCH) && t->header.open &&
        (s->scope == SCOPE_UNKNOWN || s->scope == SCOPE_EPOCH) && s->trust == TRUST_GOOD)
        progress_header_adopt(&t->header, s);
    return follow(t, s);
}

/* "Epoch 0/24", then "train Loss: 0.66": the epochs of those lines are the
 * training's. */
static bool confirm_header(struct progress_track *t, const struct sighting *s)
{
    struct progress_run *r = &t->run;
    if (s->loss_rank != PROGRESS_LOSS_NONE && t->step_header.open) {
        t->step_header.open = false;
        struct sighting place = *s;
        place.has = SIGHTING_AT;
        place.at = t->step_header.at;
        place.unit = t->step_header.unit;
        place.trust = TRUST_GOOD;
        return take_place(t, &place);
    }
    if (s->loss_rank == PROGRESS_LOSS_NONE || r->trust > TRUST_GOOD)
        return false;
    /* "Learning iteration 3/1500" is the training's, too. */
    if (r->trust == TRUST_WEAK && r->unit != PROGRESS_UNIT_NONE && r->of) {
        r->trust = TRUST_GOOD;
        return progress_show_run(t, s);
    }
    if (!t->header.open || r->has_at || !r->has_epoch)
        return false;
    r->trust = TRUST_GOOD;
    r->closed = r->closed || s->closes;
    return progress_show_run(t, s);
}

/* "Epoch 3/50", "Train: Loss 0.4", "Valid: Loss 0.5": the evaluation ends an epoch that has no
 * steps. */
static bool close_epoch(struct progress_track *t, const struct sighting *s)
{
    struct progress_run *r = &t->run;
    if (!t->header.open || !s->n_metrics || r->has_at || !r->has_epoch || r->closed ||
        r->trust != TRUST_GOOD || !(t->now.has & PROGRESS_LOSS))
        return false;
    r->closed = true;
    return progress_show_run(t, s);
}

/* In learning by rewards "num_steps" is the length of a rollout. */
static void note_rewards(struct progress_track *t, const struct sighting *s)
{
    for (unsigned i = 0; i < s->n_metrics && !t->rewards; i++)
        t->rewards = strstr(s->metric[i].name, "reward") || strstr(s->metric[i].name, "return");
}

void progress_track_take(struct progress_track *t, const struct sighting *seen)
{
    struct sighting s = *seen;
    if (progress_header_is_foreign(&t->header, &s))
        return;
    bool news = false;
    t->behind = false;
    bool place = s.has & (SIGHTING_AT | SIGHTING_EPOCH);
    if (s.has & SIGHTING_OUTER)
        note_round(t, &s);
    note_rewards(t, &s);
    if (s.trust == TRUST_SAID) {
        news |= progress_show_said(t, &s);
    } else if (t->said_place || s.eval) {
        /* Only its metrics count. */
        news |= s.eval && close_epoch(t, &s);
    } else if (s.has & SIGHTING_LIMIT) {
        progress_plan_add(&t->plan, s.unit, s.limit, PROGRESS_FROM_OUTPUT, "output");
    } else if (s.has & SIGHTING_TICK) {
        news |= take_tick(t, &s);
    } else if (place && s.trust != TRUST_NONE) {
        news |= take_place(t, &s);
    } else {
        news |= confirm_header(t, &s);
    }
    /* A line about a place that is past has an old loss, too. */
    if (!t->behind)
        news |= progress_show_metrics(t, seen);
    t->now.seq += news;
}
