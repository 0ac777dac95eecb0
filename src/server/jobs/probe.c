/* Owns probes.
 *
 * A job is assumed to be n times as fast on n CPUs until it was measured on two sizes, or a job of
 * its category was. Under a policy that chooses sizes by speed, a probe finds out: for a short time
 * the job gets half of its CPUs. With a deadline that leaves little room it is made as soon as the
 * first size is measured, and once more with a quarter; otherwise after a minute. If the job is as
 * fast with half of its CPUs, the half of these is tried too. What was measured long ago is
 * measured again. If the curve has ended a job's growth, because more CPUs did not help then, the
 * probe is to twice its CPUs: it may have been the load of others.
 *
 * A probe only changes what the engine is told: the job's largest size and, to grow, its curve. So
 * the policy stays in charge, and takes the CPUs if others need them. Nothing is probed while a job
 * waits, because it would be given what is freed. A probe costs at most a twentieth of the time
 * that is left, and never the deadline. */
#include "server/jobs/probe.h"

#include <jansson.h>
#include <math.h>

#include "server/events.h"
#include "server/jobs/rules.h"
#include "server/log.h"
#include "server/yard.h"

/* The longest probe. */
#define MOST (60 * USEC_PER_SEC)
/* Of the time that is left, or of the time that it has run. */
enum { PART = 20 };
/* Without a tight deadline, it runs for so long before the first one. */
#define SETTLED (60 * USEC_PER_SEC)
/* Measurements that are older are repeated. */
#define STALE (1800 * USEC_PER_SEC)
/* The time between two looks at whether to begin one. */
#define LOOK (2 * USEC_PER_SEC)
/* A deadline is tight if it comes within so many times the time that is left. */
enum { TIGHT = 4 };
/* Sizes that are tried at first, with a tight deadline and without one. */
enum { FIRST_TIGHT = 2, FIRST = 1 };
/* On half of its CPUs it is as fast as before. */
#define NO_LOSS 0.9
/* The first report after a change is compared with none. */
enum { REPORTS = SPEED_BLOCK + 1 };

/* What is known when a probe is considered. */
struct prospect {
    struct live_job *j;
    units_t held;
    bool timed;    /* how long it takes is known */
    usec_t left;   /* of its time, if so; else the time that it has run */
    usec_t slack;  /* until the deadline, after its expected end; USEC_NEVER = no deadline */
    bool tight;    /* it has a tight deadline */
    units_t units; /* the size to try, */
    bool grows;
    const char *why; /* and why */
};

/* ---- whether and what ---------------------------------------------------------------- */

static bool policy_weighs_sizes(const struct yard *y)
{
    const struct combo *c = &y->engine.config.combo;
    return (c->automatic || c->policy[AXIS_ALLOCATE]->weighs_sizes) && !c->policy[AXIS_SHARE]->soft;
}

static bool is_resizable(const struct live_job *j)
{
    const struct terms *t = &j->terms;
    bool live = t->resize == SPEC_RESIZE_AUTO || t->resize == SPEC_RESIZE_LIVE;
    return live && t->pool == POOL_CPU && t->workers_max == 1 && t->cpus_min < t->cpus_max;
}

static bool nobody_waits(const struct yard *y)
{
    return y->engine.snapshot.active == y->engine.running.n;
}

static bool may_probe(const struct yard *y, const struct live_job *j)
{
    const struct attempt *a = j->attempt;
    return !j->submission->spec.no_probe && !y->closing && a && a->state == JOB_RUNNING &&
           !a->paused && a->stop == STOP_NONE && is_resizable(j) && policy_weighs_sizes(y) &&
           nobody_waits(y);
}

/* What was measured on this size; NULL = nothing. */
static const struct speed_size *measured_on(const struct live_job *j, units_t units)
{
    const struct speed_seen *seen = j->estimate.seen;
    for (size_t i = 0; seen && i < SPEED_SIZES; i++)
        if (seen->at[i].size == (uint32_t)(units / UNIT) && seen->at[i].weight > 0)
            return &seen->at[i];
    return NULL;
}

/* When it was last measured on any other size; 0 = never. */
static usec_t others_measured_at(const struct live_job *j, units_t units)
{
    const struct speed_seen *seen = j->estimate.seen;
    usec_t last = 0;
    for (size_t i = 0; seen && i < SPEED_SIZES; i++)
        if (seen->at[i].size != (uint32_t)(units / UNIT) && seen->at[i].weight > 0 &&
            seen->at[i].last > last)
            last = seen->at[i].last;
    return last;
}

static void foresee(const struct yard *y, struct prospect *p)
{
    const struct live_job *j = p->j;
    const struct task *t = yard_task(y, j);
    struct range left;
    usec_t now = clock_now(&y->clock), deadline = t->job->deadline;
    p->timed = estimate_left(y, j, &left) && left.mid < 1e9;
    p->left = p->timed ? (usec_t)(left.mid * USEC_PER_SEC) : task_run_time(t, now);
    p->slack = USEC_NEVER;
    if (deadline == USEC_NEVER)
        return;
    p->slack = p->timed ? deadline - now - p->left : 0;
    p->tight = p->timed && deadline - now < TIGHT * p->left;
}

/* A smaller whole size that it was not measured on; 0 = none. */
static units_t smaller_size(const struct prospect *p, uint32_t tries)
{
    units_t n = p->held;
    for (uint32_t i = 0; i < tries; i++) {
        n = n / 2 / UNIT * UNIT;
        if (n < UNIT || n < p->j->terms.cpus_min)
            return 0;
        if (!measured_on(p->j, n))
            return n;
    }
    return 0;
}

static units_t free_on_node(const struct yard *y, const struct attempt *a)
{
    const struct node *n = &y->engine.cluster.nodes[a->node];
    return node_size(n, POOL_CPU) - node_held(n, POOL_CPU);
}

/* Nothing is known of how it scales. */
static bool choose_first(const struct yard *y, struct prospect *p)
{
    const struct live_job *j = p->j;
    uint32_t tries = p->tight ? FIRST_TIGHT : FIRST;
    usec_t ran = task_run_time(yard_task(y, j), clock_now(&y->clock));
    if (j->estimate.prior.shaped || j->probe.made >= tries || (!p->tight && ran < SETTLED))
        return false;
    p->units = smaller_size(p, tries);
    p->why = p->tight ? "nothing is known of how it scales, and its deadline is close"
                      : "nothing is known of how it scales";
    return p->units;
}

/* What is known is old. */
static bool choose_again(const struct yard *y, struct prospect *p)
{
    const struct live_job *j = p->j;
    usec_t wall = clock_wall(&y->clock), last = others_measured_at(j, p->held);
    usec_t since = last ? last : j->attempt->started;
    if (wall - since < STALE)
        return false;
    units_t twice = 2 * p->held < j->terms.cpus_max ? 2 * p->held : j->terms.cpus_max;
    twice = twice / UNIT * UNIT;
    p->grows = yard_task(y, j)->most <= p->held && twice > p->held &&
               twice - p->held <= free_on_node(y, j->attempt);
    units_t half = p->held / 2 / UNIT * UNIT;
    p->units = p->grows ? twice : half >= UNIT && half >= j->terms.cpus_min ? half : 0;
    p->why = p->grows ? "more CPUs did not help when that was last measured"
                      : "how it scales was measured long ago";
    return p->units;
}

/* For how long; 0 = that is not worth it. */
static usec_t probe_time(const struct prospect *p)
{
    usec_t most = p->left / PART < MOST ? p->left / PART : MOST;
    usec_t least = (REPORTS + 1) * p->j->estimate.every + USEC_PER_SEC;
    if (!p->grows && p->slack < 2 * most)
        most = p->slack > 0 ? p->slack / 2 : 0;
    return most >= least ? most : 0;
}

/* ---- making one ------------------------------------------------------------------------ */

static void begin_probe(struct yard *y, const struct prospect *p, usec_t lasts)
{
    struct live_job *j = p->j;
    struct probe *b = &j->probe;
    b->units = p->units;
    b->grows = p->grows;
    b->attempt = j->attempt->n;
    b->from = p->held;
    b->until = clock_now(&y->clock) + lasts;
    b->reports = 0;
    b->made++;
    rules_tell_terms(y, j);
    events_add(y, "job.probe", j->row.id,
               json_pack("{s:I, s:f, s:f, s:f, s:s}", "attempt", (json_int_t)b->attempt, "cpus",
                         (double)b->units / UNIT, "from", (double)b->from / UNIT, "at_most_s",
                         time_seconds(lasts), "why", p->why));
    yard_care(y);
    turn_hurry(y);
    log_info("job=%lld attempt=%u probe cpus=%g from=%g", (long long)j->row.id, b->attempt,
             (double)b->units / UNIT, (double)b->from / UNIT);
}

/* How many times as fast it was on the size of the probe as before; NAN = not measured. */
static double measured_gain(const struct live_job *j)
{
    const struct probe *b = &j->probe;
    const struct speed_size *on = measured_on(j, b->units), *before = measured_on(j, b->from);
    return b->reports >= REPORTS && on && before ? exp(before->mean - on->mean) : NAN;
}

static void end_probe(struct yard *y, struct live_job *j)
{
    struct probe *b = &j->probe;
    double gain = measured_gain(j);
    events_add(y, "job.probed", j->row.id,
               json_pack("{s:I, s:f, s:f, s:o}", "attempt", (json_int_t)b->attempt, "cpus",
                         (double)b->units / UNIT, "from", (double)b->from / UNIT, "speed",
                         isfinite(gain) ? json_real(gain) : json_null()));
    log_info("job=%lld attempt=%u probed cpus=%g speed=%.2f", (long long)j->row.id, b->attempt,
             (double)b->units / UNIT, gain);
    if (!b->grows && gain > NO_LOSS)
        b->made--; /* half of that may do as well */
    b->units = 0;
    b->next = clock_now(&y->clock) + (isfinite(gain) ? LOOK : STALE);
    rules_tell_terms(y, j);
    turn_hurry(y);
}

static void consider(struct yard *y, struct live_job *j)
{
    usec_t now = clock_now(&y->clock);
    struct prospect p = {.j = j};
    if (now < j->probe.next || !may_probe(y, j))
        return;
    j->probe.next = now + LOOK;
    p.held = j->attempt->cpus;
    if (!measured_on(j, p.held))
        return;
    foresee(y, &p);
    if (!choose_first(y, &p) && !choose_again(y, &p))
        return;
    usec_t lasts = probe_time(&p);
    if (lasts)
        begin_probe(y, &p, lasts);
}

static bool is_over(const struct live_job *j, usec_t now)
{
    const struct attempt *a = j->attempt;
    return now >= j->probe.until || !a || a->n != j->probe.attempt || a->paused ||
           a->stop != STOP_NONE || !is_resizable(j);
}

void probe_report(struct yard *y, struct live_job *j)
{
    struct probe *b = &j->probe;
    if (!b->units) {
        consider(y, j);
        return;
    }
    b->reports += j->attempt && j->attempt->cpus == b->units;
    /* The block of step times counts once it is full: see estimate_report(). */
    if (b->reports > REPORTS || is_over(j, clock_now(&y->clock)))
        end_probe(y, j);
}

usec_t probe_look(struct yard *y, usec_t now)
{
    usec_t next = USEC_NEVER;
    for (size_t i = 0; i < y->attempts.n; i++) {
        struct live_job *j = yard_live(y, y->attempts.at[i]->job);
        if (!j || !j->probe.units)
            continue;
        if (is_over(j, now))
            end_probe(y, j);
        else if (j->probe.until < next)
            next = j->probe.until;
    }
    return next;
}

void probe_limit(const struct live_job *j, struct terms *t, const struct speed_fit **curve)
{
    const struct probe *b = &j->probe;
    if (!b->units || b->units < t->cpus_min || b->units > t->cpus_max)
        return;
    t->cpus_max = b->units;
    if (b->grows)
        *curve = NULL;
}
