/* Owns what is shown of a job: each setter says whether its value is news. */
#include "progress/shown.h"

#include <math.h>
#include <string.h>

#include "progress/total.h"

static bool same_double(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Setters: true when the value is news. */
static bool set_whole(struct progress *p, unsigned bit, int64_t *field, int64_t value)
{
    bool news = !(p->has & bit) || *field != value;
    p->has |= bit;
    *field = value;
    return news;
}

static bool set_double(struct progress *p, unsigned bit, double *field, double value)
{
    bool news = !(p->has & bit) || !same_double(*field, value);
    p->has |= bit;
    *field = value;
    return news;
}

static bool set_metric(struct progress *p, const struct progress_metric *m)
{
    for (unsigned i = 0; i < p->n_metrics; i++) {
        if (strcmp(p->metric[i].name, m->name) != 0)
            continue;
        bool news = !same_double(p->metric[i].value, m->value);
        p->metric[i].value = m->value;
        return news;
    }
    if (p->n_metrics == PROGRESS_METRICS)
        return false;
    p->metric[p->n_metrics++] = *m;
    return true;
}

bool progress_show_metrics(struct progress_track *t, const struct sighting *s)
{
    bool news = false, said = s->trust == TRUST_SAID;
    for (unsigned i = 0; i < s->n_metrics; i++)
        news |= set_metric(&t->now, &s->metric[i]);
    if (s->loss_rank == PROGRESS_LOSS_NONE || (t->said_loss && !said))
        return news;
    if (s->trust == TRUST_LOGGED && t->run.trust > TRUST_LOGGED && (t->now.has & PROGRESS_LOSS))
        return news; /* of another place than the output is at */
    if (s->loss_rank > t->loss_rank && !said)
        return news; /* a part of the loss: it is among the metrics */
    t->loss_rank = s->loss_rank;
    t->said_loss = said;
    t->now.diverged = !isfinite(s->loss);
    if (!t->now.source)
        t->now.source = s->source;
    return set_double(&t->now, PROGRESS_LOSS, &t->now.loss, s->loss) || news;
}

bool progress_show_run(struct progress_track *t, const struct sighting *s)
{
    struct progress *p = &t->now;
    const struct progress_run *r = &t->run;
    const char *from;
    int64_t step = progress_run_step(r), total = progress_track_total(t, step, &from);
    /* A place with a name that moves, "step 10/100", is the training's also without a loss. */
    bool moves = r->unit != PROGRESS_UNIT_NONE && r->at > r->first_at;
    bool weak = r->trust == TRUST_WEAK && !moves;
    bool news = p->source != r->source || p->weak != weak;
    p->source = r->source;
    p->weak = weak;
    news |= set_whole(p, PROGRESS_STEP, &p->step, step);
    if (total) {
        news |= set_whole(p, PROGRESS_TOTAL, &p->total, total > step ? total : step);
        p->total_from = from;
    } else if (p->has & PROGRESS_TOTAL) {
        p->has &= ~PROGRESS_TOTAL;
        p->total_from = NULL;
        news = true;
    }
    if (s->has & SIGHTING_RATE)
        news |= set_double(p, PROGRESS_RATE, &p->rate, s->rate);
    return news;
}

bool progress_show_epoch(struct progress_track *t, const struct sighting *s)
{
    bool news = false;
    if (s->has & SIGHTING_EPOCH)
        news |= set_double(&t->now, PROGRESS_EPOCH, &t->now.epoch, s->epoch);
    if (s->has & SIGHTING_EPOCHS)
        news |= set_whole(&t->now, PROGRESS_EPOCHS, &t->now.epochs, s->epochs);
    return news;
}

bool progress_show_said(struct progress_track *t, const struct sighting *s)
{
    struct progress *p = &t->now;
    bool news = progress_show_epoch(t, s);
    if (s->has & SIGHTING_AT) {
        if (!t->said_place || s->at > p->step)
            news |= set_whole(p, PROGRESS_STEP, &p->step, s->at);
        progress_track_drop_given(t, p->step);
        if (!t->said_place && !t->given_total) {
            p->has &= ~PROGRESS_TOTAL; /* of something else */
            p->total_from = NULL;
        }
        t->said_place = true;
        news |= p->source != s->source || p->weak;
        p->source = s->source;
        p->weak = false;
    }
    if ((s->has & SIGHTING_TOTAL) && !t->given_total) {
        news |= set_whole(p, PROGRESS_TOTAL, &p->total, s->total);
        p->total_from = s->source;
    }
    if ((p->has & PROGRESS_TOTAL) && (p->has & PROGRESS_STEP) && p->total < p->step)
        news |= set_whole(p, PROGRESS_TOTAL, &p->total, p->step);
    if (s->has & SIGHTING_RATE)
        news |= set_double(p, PROGRESS_RATE, &p->rate, s->rate);
    return news;
}
