/* Owns the explanation of a job that waits for units: the verdict of the last decision in
 * words, the numbers behind it, and the expected start. */
#include "server/explain/queued.h"

#include <inttypes.h>
#include <math.h>

#include "base/str.h"
#include "server/explain/ahead.h"
#include "server/explain/closed.h"
#include "server/explain/forecast.h"
#include "server/explain/frees.h"
#include "server/explain/text.h"

static const char *policy_name(const struct explanation *x)
{
    return x->y->engine.config.combo.name;
}

/* ---- room ---------------------------------------------------------------- */

static struct space find_space(const struct explanation *x)
{
    const struct cluster *c = &x->y->engine.cluster;
    const struct job *j = x->t->job;
    struct space s = {.pool = j->pool == POOL_ANY_GPU ? POOL_GPU : j->pool, .closed = true};
    for (uint32_t i = 0; i < c->n; i++) {
        const struct node *n = &c->nodes[i];
        unsigned pool = j->pool == POOL_ANY_GPU ? n->gpu_pool : j->pool;
        units_t size = node_size(n, pool), room = size - node_held(n, pool);
        if (n->state != NODE_UP || size == 0)
            continue;
        if (n->memory_mb == 0)
            s.memory = -1;
        else if (s.memory >= 0 && node_memory_left(n, n->memory_held) > s.memory)
            s.memory = node_memory_left(n, n->memory_held);
        if (!j->whole) {
            s.free += room;
            s.size += size;
        } else if (room > s.free || s.size == 0) {
            s.free = room;
            s.size = size;
            s.pool = pool;
        }
    }
    for (unsigned pool = 0; pool < cluster_pools(c); pool++)
        if (cluster_most(c, j, pool, true) >= j->min)
            s.closed = false;
    return s;
}

units_t explain_needed(const struct explanation *x, const struct space *s)
{
    return s->free >= x->t->job->min ? x->t->asked : x->t->job->min;
}

static void add_room(struct str *out, const struct explanation *x, const struct space *s)
{
    units_t need = explain_needed(x, s);
    str_add(out, need < x->t->most ? "It needs at least " : "It needs ");
    phrase_units(out, s->pool, need);
    if (x->t->job->whole && x->y->engine.cluster.n > 1)
        str_add(out, " on one node");
    str_addf(out, ", and %g of %g %s free", (double)s->free / UNIT, (double)s->size / UNIT,
             s->free == UNIT ? "is" : "are");
}

/* ---- reasons -------------------------------------------------------------- */

static bool lacks_memory(const struct explanation *x, const struct space *s)
{
    return s->memory >= 0 && x->t->job->memory_mb > s->memory;
}

static void add_memory(struct explanation *x, const struct space *space)
{
    struct str s = {0};
    str_addf(&s,
             "It needs %" PRId64 " MB of memory, and no node has more than %" PRId64 " MB free.",
             x->t->job->memory_mb, space->memory);
    explain_reason(x, "memory", &s, NULL);
}

/* Whether no decision was made since it entered the queue. */
static bool is_undecided(const struct explanation *x)
{
    const struct engine *e = &x->y->engine;
    return x->t->phase == TASK_QUEUED && (x->t->queued_at > e->decided_at || !e->why);
}

static void add_undecided(struct explanation *x)
{
    usec_t due = engine_due(&x->y->engine);
    struct str s = {0};
    str_add(&s, "It has just entered the queue; the next decision is due ");
    if (due > x->now) {
        str_add(&s, "in ");
        phrase_span(&s, due - x->now);
    } else {
        str_add(&s, "now");
    }
    str_add(&s, ".");
    explain_reason(x, "undecided", &s, NULL);
}

static void add_reserved(struct str *out, const struct explanation *x, const struct space *space,
                         const struct live_job *who)
{
    if (space->free < x->t->job->min) {
        add_room(out, x, space);
        str_add(out, "; ");
        phrase_job(out, who);
        str_add(out, " has waited longer and comes first.");
        return;
    }
    phrase_units(out, space->pool, space->free);
    str_addf(out, " %s free but reserved for ", space->free == UNIT ? "is" : "are");
    phrase_job(out, who);
    str_add(out, ", which needs ");
    phrase_units(out, space->pool, yard_task(x->y, who)->asked);
    str_add(out, " and has waited longer.");
}

/* Explains a verdict that names another job; returns false when it names none. */
static bool add_named_verdict(struct explanation *x, const struct space *space,
                              const struct verdict *v)
{
    const struct live_job *who = yard_job_of_task(x->y, v->who);
    struct str s = {0};
    if (!who || who == x->j)
        return false;
    switch (v->why) {
    case WHY_BEHIND:
        phrase_job(&s, who);
        str_addf(&s,
                 " is ahead of it in the queue and does not fit yet; under %s no job overtakes "
                 "another.",
                 policy_name(x));
        break;
    case WHY_RESERVED:
        add_reserved(&s, x, space, who);
        break;
    case WHY_ORDER:
        add_room(&s, x, space);
        str_addf(&s, "; under %s other jobs are ahead of it, the last of them ", policy_name(x));
        phrase_job(&s, who);
        str_add(&s, ".");
        break;
    default:
        return false;
    }
    explain_reason(x, why_name(v->why), &s, explain_one(who->row.id));
    return true;
}

/* The sentence for a verdict that needs no numbers; NULL for others. */
static const char *plain_sentence(enum why why)
{
    switch (why) {
    case WHY_ORDER:
        return "Jobs that the policy puts first use the whole capacity.";
    case WHY_COST:
        return "Starting it now would cost other jobs more than it gains.";
    case WHY_AT_RISK:
        return "It will miss its deadline at any size; jobs that can meet theirs come first.";
    case WHY_RELEASING:
        return "Its share is assigned; the jobs that still use it are being stopped.";
    default:
        return NULL;
    }
}

static void add_verdict(struct explanation *x, const struct space *space)
{
    struct verdict v = x->y->engine.why[x->j->task];
    const char *sentence = plain_sentence(v.why);
    struct str s = {0};
    if (add_named_verdict(x, space, &v))
        return;
    if (sentence) {
        str_add(&s, sentence);
    } else {
        add_room(&s, x, space);
        str_add(&s, ".");
    }
    explain_reason(x, sentence ? why_name(v.why) : why_name(WHY_NO_ROOM), &s, NULL);
}

static void add_holders(struct explanation *x)
{
    struct str s = {0};
    json_t *ids = phrase_holders(&s, x, TASK_NONE);
    if (s.n == 0) {
        json_decref(ids);
        return;
    }
    str_add(&s, ".");
    explain_reason(x, "holders", &s, ids);
}

static void add_position(struct explanation *x, uint32_t queued)
{
    const struct policy *p = x->y->engine.config.combo.policy[AXIS_ALLOCATE];
    struct str s = {0};
    if (queued == 0)
        return;
    phrase_count(&s, queued, "job");
    str_addf(&s, " %s ahead of it in the queue. The order follows %s: %s.",
             queued == 1 ? "is" : "are", p->name, p->summary);
    explain_reason(x, "queue", &s, NULL);
}

/* ---- when ------------------------------------------------------------------ */

static void expect_start(struct explanation *x, const struct space *space, const struct forecast *f)
{
    bool known = f->made && f->r.start != USEC_NEVER;
    enum end_basis rests = forecast_rests_on(x, f);
    struct str basis = {0};
    if (known && rests == END_ASSUMED) {
        known = false;
        forecast_phrase(&basis, x, f);
    } else if (known && f->r.ended.n == 0) {
        str_add(&basis, "at the next decision");
    } else if (known) {
        str_add(&basis, rests == END_LIMITED ? "at the latest, " : "");
        forecast_phrase(&basis, x, f);
    } else if (space->closed) {
        str_add(&basis, "no node that could run it accepts new jobs");
    } else if (f->made && f->r.cut) {
        str_add(&basis, "the forecast does not reach that far");
    } else {
        str_add(&basis, "no expected event makes room for it");
    }
    explain_start(x, known ? f->r.start - x->now : USEC_NEVER, basis.at ? basis.at : "");
    str_done(&basis);
}

static void sum_up(struct explanation *x, uint32_t queued)
{
    struct str *s = &x->summary;
    phrase_job(s, x->j);
    if (x->t->phase == TASK_PAUSED)
        str_add(s, " is paused: it keeps its memory and resumes when enough resources are free");
    else if (is_undecided(x))
        str_add(s, " has just entered the queue");
    else
        str_add(s, " has waited ");
    if (x->t->phase != TASK_PAUSED && !is_undecided(x)) {
        phrase_span(s, x->now - x->t->queued_at);
        str_add(s, " for ");
        phrase_units(s, x->t->job->pool == POOL_CPU ? POOL_CPU : POOL_GPU, x->t->job->min);
        str_add(s, x->t->job->max > x->t->job->min ? " or more" : "");
        if (queued) {
            str_add(s, ", behind ");
            phrase_count(s, queued, "other job");
        }
    }
    str_add(s, ".");
}

void explain_queued(struct explanation *x)
{
    struct space space = find_space(x);
    uint32_t queued = explain_ahead(x);
    struct forecast f;
    sum_up(x, queued);
    if (space.closed)
        explain_closed(x);
    else if (is_undecided(x))
        add_undecided(x);
    else if (lacks_memory(x, &space))
        add_memory(x, &space);
    else
        add_verdict(x, &space);
    add_holders(x);
    explain_preemption(x);
    explain_standing(x);
    add_position(x, queued);
    forecast_make(x, ROLLOUT_START, &f);
    if (!is_undecided(x) && !space.closed)
        explain_frees(x, &space, &f);
    expect_start(x, &space, &f);
    forecast_done(&f);
}
