/* Owns the arithmetic of places: (epoch e of E, batch b of B) is step
 * (e-1)*B+b of E*B, epochs being numbered from 1 or from 0.
 *
 * Invariants: done and before only grow while a source is followed, so that the
 * step does not fall when an epoch, or a whole fit, starts over. */
#include "progress/run.h"

/* Nothing real is beyond these, and their products fit. */
#define PLACE_LIMIT 1e15
#define EPOCH_LIMIT 1e9
#define STEP_LIMIT ((int64_t)1e18)

/* An end that changes so often is none: the 1200 of "Batch 3/1200" is another count. */
#define CHANGES_LIMIT 3

static int64_t add(int64_t a, int64_t b)
{
    return a > STEP_LIMIT - b ? STEP_LIMIT : a + b;
}

static int64_t times(double a, int64_t b)
{
    double product = a * (double)b;
    return product > (double)STEP_LIMIT ? STEP_LIMIT : product > 0 ? (int64_t)product : 0;
}

/* Steps of one epoch, as far as is known. */
static int64_t epoch_size(const struct progress_run *r)
{
    return r->of ? r->of : r->at;
}

void progress_run_start(struct progress_run *r, const struct sighting *s, int64_t before,
                        unsigned resets)
{
    *r = (struct progress_run){
        .source = s->source, .key = s->key, .trust = s->trust, .before = before, .resets = resets};
}

/* The number of the first epoch. One that is seen first as 1 is hardly the second. */
static int first_number(const struct sighting *s)
{
    return s->epoch < 1 || (s->from_zero && s->epoch != 1) ? 0 : 1;
}

static void note_first(struct progress_run *r, const struct sighting *s)
{
    if (s->has & SIGHTING_EPOCH) {
        r->has_epoch = true;
        r->base = first_number(s);
        r->epoch = r->first_epoch = s->epoch;
        r->closed = s->closes;
    }
    if (s->has & SIGHTING_AT) {
        r->has_at = true;
        r->at = r->first_at = s->at;
        r->of = (s->has & SIGHTING_OF) && !s->share ? s->of : 0;
        r->share_of = s->share ? s->of : 0;
        r->within = r->has_epoch && s->scope == SCOPE_EPOCH;
        r->guess = r->has_epoch && (s->scope == SCOPE_UNKNOWN || s->scope == SCOPE_LIKELY_JOB);
        r->likely_job = s->scope == SCOPE_LIKELY_JOB;
        r->job = s->scope == SCOPE_JOB;
        r->per_epoch = !r->has_epoch && s->scope == SCOPE_EPOCH;
        r->unit = s->unit;
        r->epoch_at = s->at;
    }
    /* A resumed job: the epochs before it are done. */
    if (r->within && r->of && r->epoch > r->base)
        r->done = times(r->epoch - r->base, r->of);
    r->moves = 0;
}

/* Starts over: what it had done stays done. */
static void restart(struct progress_run *r, const struct sighting *s)
{
    struct progress_run old = *r;
    int64_t before = progress_run_step(r);
    if (old.has_at && old.of && old.at >= old.of && !old.within)
        before = add(old.before, old.of);
    progress_run_start(r, s, before, old.resets + 1);
    r->trust = old.trust;
    r->epochs = s->has & SIGHTING_EPOCH ? 0 : old.epochs;
    r->planned = old.planned;
    r->unlikely = old.unlikely;
    note_first(r, s);
    r->done = 0;
}

/* Whether a place before the newest one starts over, and is not just late. */
static bool starts_over(const struct progress_run *r, const struct sighting *s)
{
    bool finished = r->of && r->at >= r->of;
    if (s->bar && finished)
        return true;
    return s->at <= r->first_at && (finished || r->moves >= 3 || s->bar);
}

/* Two shares in a row must tell the same end, or they are shares of something else. */
static void take_share(struct progress_run *r, int64_t of)
{
    double ratio = r->share_of ? (double)of / (double)r->share_of : 0;
    r->unlikely = r->unlikely || (r->share_of && (ratio > 1.25 || ratio < 0.8));
    r->of = r->share_of ? of : 0;
    r->share_of = of;
}

/* Takes the end that a place gives. One before the place does not count. */
static void take_of(struct progress_run *r, const struct sighting *s)
{
    if (!(s->has & SIGHTING_OF))
        return;
    if (s->share) {
        take_share(r, s->of);
        return;
    }
    if (r->of && r->of != s->of && !s->rough && r->changes < UINT8_MAX)
        r->changes++;
    r->unlikely = r->unlikely || r->changes >= CHANGES_LIMIT || s->of < s->at;
    r->of = s->of;
}

static bool advance_at(struct progress_run *r, const struct sighting *s)
{
    if (s->at < r->at) {
        if (!starts_over(r, s))
            return false;
        restart(r, s);
        return true;
    }
    r->moves += s->at > r->at;
    r->at = s->at;
    take_of(r, s);
    return true;
}

/* A later epoch: shows whether places count from its beginning. */
static void next_epoch(struct progress_run *r, const struct sighting *s)
{
    double more = s->epoch - r->epoch;
    /* The same count again, and no end: it is the size of the epoch. */
    if (r->guess && (s->at < r->at || (s->at == r->at && (!r->of || r->at == r->of)))) {
        r->within = true;
        r->done = times(s->epoch - r->base, epoch_size(r));
    } else if (r->within) {
        r->done = add(r->done, times(more, epoch_size(r)));
    } else if (r->guess) {
        r->job = true;
    }
    if (!r->within && s->at > r->epoch_at) {
        r->stride = (int64_t)((double)(s->at - r->epoch_at) / more);
        r->epoch_at = s->at;
    }
    r->guess = false;
    r->size = epoch_size(r);
    r->epoch = s->epoch;
    r->moves++;
    r->at = s->at;
    r->closed = false;
    r->of = s->has & SIGHTING_OF ? s->of : r->of;
}

static bool advance_both(struct progress_run *r, const struct sighting *s)
{
    if (!r->has_epoch) {
        r->has_epoch = true;
        r->base = first_number(s);
        r->epoch = r->first_epoch = s->epoch;
    }
    if (s->epoch > r->epoch) {
        next_epoch(r, s);
        return true;
    }
    bool same_again = s->epoch == r->epoch && s->at < r->at && r->closed;
    if (same_again || (s->epoch < r->epoch && s->epoch <= r->first_epoch)) {
        restart(r, s);
        return true;
    }
    if (s->epoch < r->epoch || s->at < r->at)
        return false;
    /* "| epoch 002 | loss 5.1 | num_updates 1200" after "epoch 002: 600 / 600": another count. */
    if (r->within && r->of && s->at > r->of && !(s->has & SIGHTING_OF))
        return true;
    r->moves += s->at > r->at;
    r->at = s->at;
    take_of(r, s);
    if (s->has & SIGHTING_OF) {
        /* The first epoch of a resumed job had no size so far. */
        if (r->within && !r->done && r->epoch > r->base && r->epoch == r->first_epoch)
            r->done = times(r->epoch - r->base, r->of);
    }
    return true;
}

/* More of the whole is done than the epochs so far can hold, or less: the places count
 * from the beginning of the epoch. */
static void settle_guess(struct progress_run *r)
{
    int64_t epochs = r->epochs ? r->epochs : r->planned;
    if (!r->guess || !r->of || !epochs)
        return;
    double first = (r->epoch - r->base) / (double)epochs * (double)r->of,
           last = (r->epoch - r->base + 1) / (double)epochs * (double)r->of;
    if ((double)r->at <= 1.02 * last + 1 && (double)r->at >= 0.98 * first - 1) {
        /* In a later epoch that is hardly by chance. */
        r->likely_job = r->likely_job || (r->epoch > r->base && epochs > 2);
        return;
    }
    r->guess = false;
    r->within = true;
    r->done = times(r->epoch - r->base, r->of);
}

static bool advance_epoch(struct progress_run *r, const struct sighting *s)
{
    if (s->epoch < r->epoch) {
        if (s->epoch > r->first_epoch || !(r->moves || progress_run_finished(r)))
            return false;
        restart(r, s);
        return true;
    }
    if (s->epoch == r->epoch && r->closed && s->header && r->epochs && progress_run_finished(r)) {
        restart(r, s);
        return true;
    }
    r->moves += s->epoch > r->epoch;
    r->closed = s->closes || (s->epoch == r->epoch && r->closed);
    r->epoch = s->epoch;
    return true;
}

static bool is_sane(const struct sighting *s)
{
    if ((s->has & SIGHTING_AT) && !(s->at >= 0 && (double)s->at <= PLACE_LIMIT))
        return false;
    if ((s->has & SIGHTING_OF) && !(s->of > 0 && (double)s->of <= PLACE_LIMIT))
        return false;
    if ((s->has & SIGHTING_EPOCH) && !(s->epoch >= 0 && s->epoch <= EPOCH_LIMIT))
        return false;
    return !(s->has & SIGHTING_EPOCHS) || (s->epochs > 0 && (double)s->epochs <= EPOCH_LIMIT);
}

bool progress_run_advance(struct progress_run *r, const struct sighting *s)
{
    if (!is_sane(s))
        return false;
    bool at = s->has & SIGHTING_AT, epoch = s->has & SIGHTING_EPOCH, taken = true;
    if (!r->has_at && !r->has_epoch)
        note_first(r, s);
    else if (at && epoch)
        taken = advance_both(r, s);
    else if (at)
        taken = advance_at(r, s);
    else
        taken = advance_epoch(r, s);
    if (taken && (s->has & SIGHTING_EPOCHS))
        r->epochs = s->epochs;
    settle_guess(r);
    return taken;
}

/* How many epochs there are; 0 = not known. A job that numbers them from 0 may print
 * the number of the last one ("Epoch 0/24"): it depends on which of the two is round. */
static int64_t count_epochs(const struct progress_run *r)
{
    int64_t n = r->epochs ? r->epochs : r->planned, current = (int64_t)r->epoch - r->base + 1;
    bool last = !r->exact && ((n + 1) % 5 == 0 || r->planned == n + 1);
    if (r->epochs && r->has_epoch && r->base == 0 && last)
        n++;
    return n && n < current && r->has_epoch ? current : n;
}

int64_t progress_run_step(const struct progress_run *r)
{
    if (r->has_at)
        return add(r->before, add(r->done, r->at));
    int64_t epochs = (int64_t)r->epoch - r->base + r->closed;
    return add(r->before, epochs > 0 ? epochs : 0);
}

/* The total of places that count from the beginning of the epoch. */
static int64_t total_within(const struct progress_run *r, int64_t epochs)
{
    double left = (double)epochs - (r->epoch - r->base);
    int64_t rest = times(left, r->of ? r->of : r->size);
    return epochs && rest ? add(r->before, add(r->done, rest)) : 0;
}

/* The total of places that count from the beginning of the job, or may do so. */
static int64_t total_of_job(const struct progress_run *r, int64_t epochs)
{
    if (r->guess && !r->likely_job)
        return 0;
    if (r->of)
        return add(r->before, r->of);
    /* "Epoch 3, global step 190" and 50 epochs: by the steps of an epoch. */
    double left = (double)epochs - (r->epoch - r->base);
    return epochs && r->stride ? add(r->epoch_at, times(left, r->stride)) : 0;
}

/* The total of places without an epoch: of a bar that is drawn once for each epoch when
 * their number is known, else of the whole. */
static int64_t total_of_bar(const struct progress_run *r, int64_t epochs)
{
    if (!r->of)
        return 0;
    if (r->resets || r->per_epoch)
        return epochs ? times((double)epochs, r->of) : 0;
    if (epochs > 1 && !r->epochs && !r->job)
        return 0; /* it may be the first of several */
    return add(r->before, r->of);
}

int64_t progress_run_total(const struct progress_run *r, bool *planned)
{
    int64_t epochs = count_epochs(r), total = 0;
    *planned = !r->epochs && r->planned;
    if (r->unlikely || (r->resets && r->has_epoch))
        return 0;
    if (!r->has_at)
        return epochs ? add(r->before, epochs) : 0;
    if (!r->has_epoch)
        total = total_of_bar(r, epochs);
    else if (r->within)
        total = total_within(r, epochs);
    else
        total = total_of_job(r, epochs);
    *planned = *planned && !(r->of && !r->within && !r->resets);
    return total;
}

bool progress_run_finished(const struct progress_run *r)
{
    int64_t epochs = count_epochs(r), current = (int64_t)r->epoch - r->base + 1;
    if (!r->has_at)
        return r->epochs && r->closed && current >= epochs;
    if (!r->of || r->at < r->of)
        return false;
    if (r->has_epoch)
        return !r->within || !epochs || current >= epochs;
    return !epochs || progress_run_step(r) >= times((double)epochs, r->of);
}
