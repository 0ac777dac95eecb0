/* Owns admission: progressive filling by deadline. If a job does not fit, Moore and Hodgson's
 * rule applies: the most expensive one of this job and the admitted ones is given up. The
 * cost of meeting a deadline is computed as if the job were alone, so it does not depend on
 * earlier jobs. */
#include "policy/allocate/admission.h"

#include <math.h>

#include "policy/bids.h"
#include "policy/budget.h"
#include "policy/order.h"

/* How many admitted jobs are tried as victims for a job that does not fit. */
enum { TRIES = 4 };

void admission_give(struct admission *m, struct candidate *c, units_t n)
{
    m->left -= n - c->out;
    c->out = n;
}

uint32_t *admission_sort(const struct admission *m, double (*key)(const struct candidate *c))
{
    struct keyed *k = arena_raw(m->arena, (m->n + 1) * sizeof *k);
    uint32_t *order = arena_raw(m->arena, (m->n + 1) * sizeof *order);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct task *t = &m->s->tasks[m->at[i].demand.task];
        k[i] = (struct keyed){-task_class(t), key(&m->at[i]), t->submit, t->id, i};
    }
    order_sort(k, m->n, m->arena);
    for (uint32_t i = 0; i < m->n; i++)
        order[i] = k[i].task;
    return order;
}

static double key_deadline(const struct candidate *c)
{
    return c->demand.deadline;
}

static double key_cost(const struct candidate *c)
{
    return c->cost;
}

static void classify(struct candidate *c, double weight)
{
    const struct demand *d = &c->demand;
    unsigned l = 0;
    while (l < d->sizes && !(demand_finish(d, l) <= d->deadline))
        l++;
    bool can = l < d->sizes && isfinite(d->deadline);
    c->state = can ? ADMISSION_AT_RISK : ADMISSION_LATE;
    c->need = can ? l : 0;
    c->cost = (double)d->size[c->need] * demand_finish(d, c->need) / weight;
}

void admission_init(struct admission *m, const struct snapshot *s, const uint32_t *order,
                    const uint8_t *pools, unsigned pool, struct arena *a)
{
    *m = (struct admission){.s = s, .arena = a, .left = s->size[pool]};
    m->at = arena_raw(a, (s->active + 1) * sizeof *m->at);
    for (uint32_t i = 0; i < s->active; i++) {
        if (pools[i] != pool)
            continue;
        struct candidate *c = &m->at[m->n++];
        *c = (struct candidate){0};
        demand_init(&c->demand, s, order[i], pool, a);
        classify(c, s->tasks[order[i]].job->weight);
        c->pinned = s->tasks[order[i]].pinned;
        if (c->pinned && c->state == ADMISSION_LATE && c->demand.size[0] <= m->left)
            admission_give(m, c, c->demand.size[0]);
    }
    m->by_deadline = admission_sort(m, key_deadline);
    m->by_cost = admission_sort(m, key_cost);
}

static bool admit(struct admission *m, struct candidate *c)
{
    if (!forecast_place(&m->forecast, &c->demand, c->need))
        return false;
    forecast_book(&m->forecast, &c->demand, 1);
    c->state = ADMISSION_ADMITTED;
    return true;
}

/* Admits c in place of a more expensive job, if that helps. */
static bool admit_instead(struct admission *m, struct candidate *c, struct bids *admitted)
{
    uint32_t tried[TRIES], n = 0;
    bool fits = false;
    while (!fits && n < TRIES && admitted->n && bids_top(admitted).key > c->cost) {
        uint32_t victim = bids_top(admitted).at;
        bids_pop(admitted);
        forecast_book(&m->forecast, &m->at[victim].demand, -1);
        fits = admit(m, c);
        if (fits) {
            m->at[victim].state = ADMISSION_AT_RISK;
        } else {
            forecast_book(&m->forecast, &m->at[victim].demand, 1);
            tried[n++] = victim;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        bids_push(admitted, m->at[tried[i]].cost, tried[i]);
    return fits;
}

/* Fills the admitted jobs again without those that were given up, which closes the holes they
 * left, and tries those again in what is left. */
static void tighten(struct admission *m)
{
    forecast_clear(&m->forecast);
    for (uint32_t i = 0; i < m->n; i++) {
        struct candidate *c = &m->at[m->by_deadline[i]];
        if (c->state == ADMISSION_ADMITTED && !admit(m, c))
            c->state = ADMISSION_AT_RISK;
    }
    for (uint32_t i = 0; i < m->n; i++) {
        struct candidate *c = &m->at[m->by_cost[i]];
        if (c->state == ADMISSION_AT_RISK)
            admit(m, c);
    }
}

static void plan_slots(struct admission *m, double width)
{
    double until = width;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->at[i].state != ADMISSION_LATE && m->at[i].demand.deadline > until)
            until = m->at[i].demand.deadline;
    forecast_init(&m->forecast, m->left, width, until);
    for (uint32_t i = 0; i < m->n; i++)
        if (m->at[i].state != ADMISSION_LATE)
            m->at[i].demand.level =
                arena_raw(m->arena, m->forecast.n * sizeof *m->at[i].demand.level);
}

void admission_fill(struct admission *m, double width)
{
    struct bids admitted;
    bool given_up = false;
    plan_slots(m, width);
    bids_init(&admitted, m->n, m->arena);
    for (uint32_t i = 0; i < m->n; i++) {
        struct candidate *c = &m->at[m->by_deadline[i]];
        if (c->state == ADMISSION_LATE)
            continue;
        bool fits = admit(m, c);
        given_up = given_up || !fits;
        fits = fits || admit_instead(m, c, &admitted);
        if (fits && !c->pinned) /* a pinned job is never given up */
            bids_push(&admitted, c->cost, m->by_deadline[i]);
    }
    if (given_up)
        tighten(m);
}

usec_t admission_wake(const struct admission *m)
{
    double wake = INFINITY;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct candidate *c = &m->at[i];
        const struct demand *d = &c->demand;
        for (uint32_t k = 1; c->state == ADMISSION_ADMITTED && k <= d->last; k++) {
            if (m->forecast.edge[k] >= wake)
                break;
            if (d->level[k] && d->size[d->level[k] - 1] > c->out) {
                wake = m->forecast.edge[k];
                break;
            }
        }
    }
    return wake < (double)USEC_LIMIT ? m->s->now + (usec_t)ceil(wake) : USEC_NEVER;
}
