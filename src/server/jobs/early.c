/* Owns the rules of early stopping for live jobs. The values by which the members of a group are
 * compared are in the store, so a decision is the same before and after a restart. */
#include "server/jobs/early.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/halving.h"
#include "server/events.h"
#include "server/jobs/attempts.h"
#include "server/jobs/reported.h"
#include "server/log.h"
#include "store/rungs.h"
#include "store/samples.h"
#include "wire/value.h"

bool early_rises(const struct spec *s, const char *metric)
{
    return s->goal == SPEC_GOAL_AUTO ? condition_rises(metric) : s->goal == SPEC_GOAL_MAX;
}

static bool can_be_stopped(const struct live_job *j)
{
    return j->attempt && j->attempt->stop == STOP_NONE;
}

/* Takes the text. `rule` is for programs. */
static void stop_job(struct yard *y, struct live_job *j, const char *rule, struct str *text)
{
    free((char *)j->row.reason);
    j->row.reason = text->at;
    log_info("job=%lld attempt=%u early=%s", (long long)j->row.id, j->attempt->n, rule);
    events_add(y, "job.stopped", j->row.id,
               json_pack("{s:I, s:s, s:s}", "attempt", (json_int_t)j->attempt->n, "rule", rule,
                         "reason", text->at));
    attempt_stop(y, j, STOP_EARLY, -1);
    turn_hurry(y);
}

/* ---- one job -------------------------------------------------------------------- */

static void check_condition(struct yard *y, struct live_job *j, const struct progress_message *m)
{
    const struct condition *c = &j->submission->spec.stop_when;
    char text[CONDITION_TEXT];
    struct str reason = {0};
    if (!*c->metric || !condition_met(c, reported_number(m, c->metric)))
        return;
    str_addf(&reason, "stopped: %s", condition_format(c, text));
    stop_job(y, j, "goal", &reason);
}

static void check_flatness(struct yard *y, struct live_job *j)
{
    const struct spec *s = &j->submission->spec;
    const struct progress_seen *p = &j->progress;
    char text[VALUE_FLATNESS];
    struct str reason = {0};
    if (!(s->stop_when_flat.part > 0) ||
        !plateau_add(&j->plateau, &s->stop_when_flat, early_rises(s, p->metric), p->at, p->step,
                     p->value))
        return;
    str_addf(&reason, "stopped: %s has improved by less than %s", p->metric,
             value_flatness_text(&s->stop_when_flat, text));
    stop_job(y, j, "flat", &reason);
}

struct recall {
    struct live_job *j;
    uint32_t attempt;
};

static int recall_sample(void *ctx, uint32_t attempt, const struct sample_row *row, struct err *err)
{
    struct recall *r = ctx;
    const struct spec *s = &r->j->submission->spec;
    (void)err;
    if (attempt != r->attempt)
        plateau_break(&r->j->plateau);
    r->attempt = attempt;
    (void)plateau_add(&r->j->plateau, &s->stop_when_flat, early_rises(s, r->j->row.metric_name),
                      row->at, row->step, row->metric);
    return 0;
}

int early_recall(struct yard *y, struct live_job *j, struct err *err)
{
    struct recall r = {j, 0};
    if (!(j->submission->spec.stop_when_flat.part > 0) || !j->row.attempt)
        return 0;
    return store_sample_list(y->store, j->row.id, recall_sample, &r, err);
}

/* ---- a group -------------------------------------------------------------------- */

struct rung {
    struct yard *y;
    VEC(struct halving_member) members; /* that have reached it, by id */
};

/* Members that failed or were cancelled take nobody's place. */
static int add_member(void *ctx, int64_t job, enum job_state state, double value, struct err *err)
{
    struct rung *r = ctx;
    const struct live_job *j = yard_live(r->y, job);
    (void)err;
    state = j ? j->row.state : state; /* the row may be older */
    if (!job_state_over(state) || state == JOB_DONE)
        VEC_PUSH(&r->members, (struct halving_member){job, value});
    return 0;
}

static int compare_ids(const void *a, const void *b)
{
    const struct halving_member *x = a, *y = b;
    return (x->job > y->job) - (x->job < y->job);
}

static bool same_group(const struct live_job *j, const struct live_job *other)
{
    const struct spec *s = &other->submission->spec;
    return s->keep_best && s->group && !strcmp(s->group, j->submission->spec.group) &&
           !strcmp(other->row.user, j->row.user);
}

/* The members that have not reached the rung, and still can. */
static uint32_t count_coming(const struct rung *r, const struct live_job *of)
{
    uint32_t n = 0;
    for (const struct live_job *j = r->y->jobs.first; j; j = j->next) {
        struct halving_member key = {j->row.id, 0};
        bool leaves =
            j->attempt && (j->attempt->stop == STOP_EARLY || j->attempt->stop == STOP_CANCEL);
        if (!leaves && !job_state_over(j->row.state) && same_group(of, j) &&
            !(r->members.n && bsearch(&key, r->members.at, r->members.n, sizeof key, compare_ids)))
            n++;
    }
    return n;
}

static void stop_member(struct yard *y, struct live_job *j, uint32_t better, int64_t step,
                        uint32_t quota)
{
    struct str reason = {0};
    str_addf(&reason, "stopped: %u of group %s %s better at step %lld; ", better,
             j->submission->spec.group, better == 1 ? "was" : "were", (long long)step);
    if (quota == 1)
        str_add(&reason, "only the best continues");
    else
        str_addf(&reason, "the best %u continue", quota);
    j->outdone = true;
    stop_job(y, j, "group", &reason);
}

/* Stops the members that cannot be in the better half of those that reach the rung. */
static void compare_members(struct yard *y, const struct live_job *j, int64_t step, bool rises)
{
    const struct spec *s = &j->submission->spec;
    struct rung r = {.y = y};
    struct err err;
    if (store_rung_list(y->store, j->row.user, s->group, step, add_member, &r, &err) < 0)
        log_warning("job=%lld group: %s", (long long)j->row.id, err.text);
    uint32_t n = (uint32_t)r.members.n,
             quota = halving_quota(n + count_coming(&r, j), (uint32_t)s->keep_best);
    halving_rank(r.members.at, n, rises);
    for (uint32_t i = quota; i < n; i++) {
        struct live_job *other = yard_live(y, r.members.at[i].job);
        if (other && other->submission->spec.keep_best && can_be_stopped(other))
            stop_member(y, other, i, step, quota);
    }
    VEC_DONE(&r.members);
}

/* Records the job's value at the rungs that it has passed since its last report. */
static void check_group(struct yard *y, struct live_job *j)
{
    const struct spec *s = &j->submission->spec;
    const struct progress_seen *p = &j->progress;
    uint32_t passed = s->keep_best ? halving_passed(s->every, p->step) : 0;
    struct err err;
    if ((isnan(p->value) && !p->diverged) || !can_be_stopped(j))
        return; /* nothing to compare yet, or not any more */
    for (; j->rungs < passed; j->rungs++) {
        int64_t step = halving_step(s->every, j->rungs);
        if (store_rung_add(y->store, j->row.id, step, p->value, &err) < 0) {
            log_warning("job=%lld group: %s", (long long)j->row.id, err.text);
            return;
        }
        compare_members(y, j, step, early_rises(s, p->metric));
    }
}

void early_report(struct yard *y, struct live_job *j, const struct progress_message *m)
{
    if (can_be_stopped(j))
        check_condition(y, j, m);
    if (can_be_stopped(j))
        check_flatness(y, j);
    check_group(y, j);
}

/* With one member less, others may be known to be in the worse half. */
void early_leave(struct yard *y, const struct live_job *j)
{
    const struct spec *s = &j->submission->spec;
    uint32_t most = 0;
    bool rises = early_rises(s, j->row.metric_name);
    if (!s->keep_best || y->closing)
        return;
    for (const struct live_job *other = y->jobs.first; other; other = other->next) {
        if (other == j || !same_group(j, other))
            continue;
        most = other->rungs > most ? other->rungs : most;
        if (other->rungs)
            rises = early_rises(&other->submission->spec, other->progress.metric);
    }
    for (uint32_t k = 0; k < most; k++)
        compare_members(y, j, halving_step(s->every, k), rises);
}
