/* Owns the explanation of a job that has units: why this many and no more, how it shares
 * its node, and when its size will change. */
#include "server/explain/running.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "server/explain/ahead.h"
#include "server/explain/forecast.h"
#include "server/explain/text.h"
#include "server/jobs/log_copy.h"

static const struct combo *combo(const struct explanation *x)
{
    return &x->y->engine.config.combo;
}

static units_t free_on(const struct explanation *x)
{
    const struct node *n = &x->y->engine.cluster.nodes[x->t->at.at[0].node];
    return node_size(n, x->t->pool) - node_held(n, x->t->pool);
}

/* ---- its size -------------------------------------------------------------- */

/* Why it has no more when none are free. */
static void add_full(struct explanation *x)
{
    struct str s = {0}, who = {0};
    json_t *jobs = phrase_holders(&who, x, x->t->at.at[0].node);
    str_add(&s, "It could use ");
    phrase_units(&s, x->t->pool, x->t->most);
    str_addf(&s, ", but no more are free on %s",
             x->y->engine.cluster.nodes[x->t->at.at[0].node].name);
    if (who.n)
        str_addf(&s, ": %s", who.at);
    str_add(&s, ".");
    explain_reason(x, why_name(WHY_NO_ROOM), &s, jobs);
    str_done(&who);
}

/* Why it has no more although some are free. */
static const char *why_not_more(const struct explanation *x, enum why why)
{
    if (x->t->job->kind == JOB_MOLDABLE)
        return "It keeps its initial size: it cannot be resized while it runs.";
    switch (why) {
    case WHY_COST:
        return "Resizing it now would cost more than it gains.";
    case WHY_NO_GAIN:
        return "More would not make it faster.";
    case WHY_RELEASING:
        return "More are assigned to it; the jobs that still use them are being stopped.";
    case WHY_TARGET:
        return "It has reached its target and was reduced to its minimum.";
    case WHY_RESERVED:
        return "The free ones are reserved for a larger job that has waited longer.";
    case WHY_AT_RISK:
        return "It will miss its deadline at any size; jobs that can meet theirs come first.";
    default:
        return "The policy gives it no more, although some are free.";
    }
}

/* Whether CPUs are shared by weight: the job may use more than it holds. */
static bool is_shared(const struct explanation *x)
{
    return x->t->pool == POOL_CPU && combo(x)->policy[AXIS_SHARE]->soft;
}

/* What it gets by weight. When its threads follow the share, their number is a limit. */
static double shared_cpus(const struct explanation *x)
{
    const struct attempt *a = x->j->attempt;
    bool follows = x->j->terms.resize == SPEC_RESIZE_LIVE && !a->notice && !a->late && a->parts;
    return follows ? fmin(x->t->cpu_used, (double)a->parts * UNIT) : x->t->cpu_used;
}

static void add_reserved(struct explanation *x)
{
    struct str s = {0};
    phrase_units(&s, POOL_CPU, x->t->n);
    str_addf(&s, " %s reserved for it; anything more depends on its neighbours.",
             x->t->n == UNIT ? "is" : "are");
    explain_reason(x, "size", &s, NULL);
}

static void add_probe(struct explanation *x)
{
    const struct probe *b = &x->j->probe;
    struct str s = {0};
    if (!b->units)
        return;
    str_add(&s, "It is on ");
    phrase_units(&s, POOL_CPU, b->units);
    str_addf(&s, " instead of %g for at most ", (double)b->from / UNIT);
    phrase_span(&s, b->until > x->now ? b->until - x->now : 0);
    str_add(&s, " more, to learn how it scales (a probe; no_probe forbids it).");
    explain_reason(x, "probe", &s, NULL);
}

static void add_size(struct explanation *x)
{
    const struct job *j = x->t->job;
    struct str s = {0};
    bool resized = x->j->terms.asked_min != x->j->terms.cpus_min ||
                   x->j->terms.asked_max != x->j->terms.cpus_max;
    str_add(&s, "It has ");
    phrase_units(&s, x->t->pool, x->t->n);
    if (x->t->n >= x->t->most && j->min == j->max)
        str_addf(&s, ", as %s.", resized ? "set by a user" : "requested");
    else if (x->t->n >= x->t->most)
        str_addf(&s, ", the most that %s.", resized ? "a user allows" : "it requested");
    else
        str_addf(&s, " and can run on %g to %g; %s chose this size.", (double)j->min / UNIT,
                 (double)x->t->most / UNIT, combo(x)->name);
    explain_reason(x, "size", &s, NULL);
    if (x->t->n >= x->t->most)
        return;
    if (free_on(x) <= 0 && j->kind != JOB_MOLDABLE) {
        add_full(x);
        return;
    }
    enum why why = x->y->engine.why ? x->y->engine.why[x->j->task].why : WHY_NONE;
    str_add(&s, why_not_more(x, why));
    explain_reason(x, why == WHY_NONE ? why_name(WHY_BALANCED) : why_name(why), &s, NULL);
}

/* ---- its share -------------------------------------------------------------- */

static void add_share(struct explanation *x)
{
    const struct policy *p = combo(x)->policy[AXIS_SHARE];
    struct str s = {0};
    if (x->t->pool != POOL_CPU)
        return;
    if (p->soft) {
        str_addf(&s, "It shares CPUs with its neighbours (share=%s): it may use up to ", p->name);
        phrase_units(&s, POOL_CPU,
                     x->t->cpu_limit < x->t->job->max ? x->t->cpu_limit : x->t->job->max);
        str_addf(&s, " and gets about %.3g now.", shared_cpus(x) / UNIT);
    } else {
        str_addf(&s, "No other job uses its CPUs (share=%s).", p->name);
    }
    explain_reason(x, "share", &s, NULL);
}

static void add_usage(struct explanation *x)
{
    const struct usage_seen *u = &x->j->usage;
    double has = (double)x->j->attempt->cpus / UNIT;
    struct str s = {0};
    if (!u->known || !(u->cpus >= 0) || !(has > 0))
        return;
    if (is_shared(x))
        has = x->t->cpu_used / UNIT;
    if (u->cpus < 0.005)
        str_add(&s, "It is idle: it uses none of its ");
    else
        str_addf(&s, u->cpus < has / 2 ? "It uses only %.2g of its " : "It uses %.2g of its ",
                 u->cpus);
    phrase_units(&s, POOL_CPU, llround(has * UNIT));
    str_add(&s, ".");
    explain_reason(x, "usage", &s, NULL);
}

/* Its node has shrunk below what its jobs hold. */
static void add_overcommitted(struct explanation *x)
{
    uint32_t node = x->t->at.at[0].node;
    const struct node *has = &x->y->cluster.nodes[node], *held = &x->y->engine.cluster.nodes[node];
    struct str s = {0};
    if (node_held(held, x->t->pool) <= node_size(has, x->t->pool))
        return;
    str_addf(&s, "The jobs on %s hold ", has->name);
    phrase_units(&s, x->t->pool, node_held(held, x->t->pool));
    str_add(&s, ", but it has only ");
    phrase_units(&s, x->t->pool, node_size(has, x->t->pool));
    str_add(&s, " now. They keep what they hold.");
    explain_reason(x, "overcommitted", &s, NULL);
}

static void add_silence(struct explanation *x)
{
    const struct attempt *a = x->j->attempt;
    struct str s = {0};
    if (!a->unheard || a->state == JOB_STARTING)
        return;
    str_add(&s, "Its conductor has not reported for ");
    phrase_span(&s, x->now - a->unheard);
    str_add(&s, ".");
    explain_reason(x, "silent", &s, NULL);
}

/* Nothing can be read from output that is not there. */
static void add_no_output(struct explanation *x)
{
    const struct attempt *a = x->j->attempt;
    struct str s = {0};
    if (x->j->progress.known || a->state == JOB_STARTING || log_copy_bytes(x->y, a->job, a->n))
        return;
    str_add(&s, "It has printed nothing yet, so its progress is not known.");
    explain_reason(x, "no_output", &s, NULL);
}

static void add_divergence(struct explanation *x)
{
    struct str s = {0};
    if (!*x->j->row.diverged)
        return;
    str_addf(&s, "Its loss is %s: the training has diverged.", x->j->row.diverged);
    explain_reason(x, "diverged", &s, NULL);
}

/* ---- its end ---------------------------------------------------------------- */

/* The band of the expected end, unless it is too narrow to matter. */
static void add_band(struct str *s, const struct explanation *x)
{
    struct range left;
    struct str low = {0}, high = {0};
    if (!estimate_left(x->y, x->j, &left) || !isfinite(left.high) || left.high < 1.1 * left.low)
        return;
    phrase_span(&low, (usec_t)(left.low * USEC_PER_SEC));
    phrase_span(&high, (usec_t)(left.high * USEC_PER_SEC));
    if (strcmp(low.at, high.at) != 0)
        str_addf(s, " (%s to %s)", low.at, high.at);
    str_done(&low);
    str_done(&high);
}

static const char *why_no_end(const struct live_job *j)
{
    struct range end;
    if (estimate_end(j, &end) != STEPS_UNKNOWN)
        return "Its end is not known yet: it has not made enough steps to tell its speed";
    if (!j->progress.known)
        return "Its end is unknown: it has not reported a step yet";
    return "Its end is unknown: it does not report how many steps it has";
}

static void add_end(struct explanation *x)
{
    usec_t end = forecast_end(x, x->j), deadline = x->t->job->deadline;
    bool known = forecast_basis(x->j) == END_KNOWN;
    struct str s = {0};
    if (end != USEC_NEVER) {
        str_add(&s, known ? "At this rate it ends in " : "Its time limit ends it in at most ");
        if (known && end - x->now >= USEC_PER_SEC)
            str_add(&s, "about ");
        phrase_span(&s, end - x->now);
        if (known)
            add_band(&s, x);
    } else {
        str_add(&s, why_no_end(x->j));
    }
    if (deadline != USEC_NEVER && deadline > x->now) {
        str_add(&s, "; its deadline is in ");
        phrase_span(&s, deadline - x->now);
        str_add(&s, !known || end == USEC_NEVER ? ""
                    : end <= deadline           ? ", which it will meet"
                                                : ", which it will miss");
    } else if (deadline != USEC_NEVER) {
        str_add(&s, "; its deadline passed ");
        phrase_span(&s, x->now - deadline);
        str_add(&s, " ago");
    }
    str_add(&s, ".");
    explain_reason(x, "end", &s, NULL);
}

/* A neighbour whose end would let it grow. */
static void add_growth_if_ended(struct explanation *x)
{
    enum { TRIES = 4 };
    struct holders holders = explain_holders(x);
    for (size_t i = 0; i < holders.n && i < TRIES; i++) {
        const struct live_job *j = holders.at[i].j;
        units_t n = forecast_units(x, j->task, NULL);
        if (n <= x->t->n)
            continue;
        struct str s = {0};
        str_add(&s, "It would get ");
        phrase_units(&s, x->t->pool, n);
        str_add(&s, " if ");
        phrase_job(&s, j);
        str_add(&s, " ended now.");
        explain_free(x, &s);
        break;
    }
    VEC_DONE(&holders);
}

/* The next change of its size, if the forecast sees one. */
static void add_change(struct explanation *x)
{
    struct forecast f;
    struct str s = {0};
    forecast_make(x, ROLLOUT_RESIZE, &f);
    if (f.made && !f.r.cut && f.r.resized == USEC_NEVER) {
        str_add(&s, "According to the forecast, its size does not change before it ends.");
        explain_reason(x, "forecast", &s, NULL);
    }
    if (f.made && f.r.resized != USEC_NEVER) {
        enum end_basis rests = forecast_rests_on(x, &f);
        str_addf(&s, "It will %s ", f.r.resized_to > x->t->n ? "grow to" : "shrink to");
        phrase_units(&s, x->t->pool, f.r.resized_to);
        if (f.r.ended.n == 0 || rests != END_ASSUMED) {
            str_add(&s, rests == END_LIMITED ? " in at most " : " in about ");
            phrase_span(&s, f.r.resized - x->now);
        }
        if (f.r.ended.n) {
            str_add(&s, rests == END_ASSUMED ? " at an unknown time: " : ", ");
            forecast_phrase(&s, x, &f);
        }
        str_add(&s, ".");
        explain_free(x, &s);
    }
    forecast_done(&f);
}

static void summarise_running(struct explanation *x)
{
    const struct attempt *a = x->j->attempt;
    struct str *s = &x->summary;
    bool starting = x->j->row.state == JOB_STARTING;
    phrase_job(s, x->j);
    str_add(s, starting ? " is starting" : " has been running");
    if (!starting && a->started) {
        str_add(s, " for ");
        phrase_span(s, x->wall - a->started);
    }
    str_add(s, is_shared(x) ? " on about " : " on ");
    phrase_units(s, x->t->pool, is_shared(x) ? llround(shared_cpus(x) / 10) * 10 : x->t->n);
    str_addf(s, " of %s", x->y->engine.cluster.nodes[x->t->at.at[0].node].name);
    if (a->n > 1)
        str_addf(s, ", attempt %u", a->n);
    str_add(s, ".");
}

/* Where the parts of a job on several nodes are. */
static void add_parts(struct explanation *x)
{
    struct str s = {0};
    if (!x->j->attempt || !x->j->attempt->next_part)
        return;
    str_add(&s, "It runs on several nodes at once: ");
    for (const struct attempt *a = x->j->attempt; a; a = a->next_part) {
        str_addf(&s, "%s with ", x->y->nodes.at[a->node].name);
        phrase_units(&s, a->pool, a->pool == POOL_CPU ? a->cpus : a->gpus);
        str_add(&s, a->next_part ? ", " : ".");
    }
    explain_reason(x, "parts", &s, NULL);
}

void explain_running(struct explanation *x)
{
    summarise_running(x);
    add_parts(x);
    add_silence(x);
    if (is_shared(x))
        add_reserved(x);
    else
        add_size(x);
    add_overcommitted(x);
    add_probe(x);
    add_share(x);
    explain_preemption(x);
    explain_standing(x);
    add_usage(x);
    add_divergence(x);
    add_no_output(x);
    add_end(x);
    if (x->t->n >= x->t->most || is_shared(x))
        return;
    explain_ahead(x);
    add_change(x);
    add_growth_if_ended(x);
}

void explain_stopping(struct explanation *x)
{
    static const char *const why[STOP_COUNT] = {
        [STOP_NONE] = "It is being stopped.",
        [STOP_PREEMPT] = "The policy puts other jobs first; it returns to the queue.",
        [STOP_CANCEL] = "A user cancelled it.",
        [STOP_REQUEUE] = "A user requeued it; it returns to the queue.",
        [STOP_MOVE] = "It moves to another node.",
        [STOP_RESIZE] = "It gets another number of GPUs, for which it starts again.",
        [STOP_TIMEOUT] = "It reached its time limit.",
        [STOP_PART] = "One of its parts failed; it runs on all of its nodes or on none.",
        [STOP_PART_LOST] = "One of its parts was lost; it runs on all of its nodes or on none.",
        [STOP_SHUTDOWN] = "The machine is going down.",
        [STOP_DIVERGED] = "Its loss is not a number any more (stop_on_nan).",
        [STOP_EARLY] = "It is stopped early, as it was submitted to be.",
    };
    const struct attempt *a = x->j->attempt;
    struct str s = {0};
    phrase_job(&x->summary, x->j);
    str_add(&x->summary, " is being stopped.");
    str_add(&s, why[a ? a->stop : STOP_PREEMPT]);
    explain_reason(x, "stopping", &s, NULL);
    if (!a)
        return;
    str_add(&s, "It has up to ");
    phrase_span(&s, a->grace);
    str_add(&s, " to save its state; then it is killed.");
    explain_free(x, &s);
}
