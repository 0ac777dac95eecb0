/* Owns the rules of early stopping for live jobs. The values by which the members of a group are
 * compared are in the store, so a decision is the same before and after a restart. */
#include "server/jobs/early.h"

#include <jansson.h>
#include <math.h>

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
    VEC(struct halving_member) members;
};

/* Members that failed or were cancelled take nobody's place. */
static int add_member(void *ctx, int64_t job, enum job_state state, double value, struct err *err)
{
    struct rung *r = ctx;
    const struct live_job *j = yard_live(r->y, job);
    (void)err;
    if (j || state == JOB_DONE)
        VEC_PUSH(&r->members, (struct halving_member){job, value});
    return 0;
}

/* Stops the members that are not among the best of those that have reached the rung. */
static void compare_members(struct yard *y, const struct live_job *j, int64_t step)
{
    const struct spec *s = &j->submission->spec;
    struct rung r = {.y = y};
    struct err err;
    if (store_rung_list(y->store, j->row.user, s->group, step, add_member, &r, &err) < 0)
        log_warning("job=%lld group: %s", (long long)j->row.id, err.text);
    uint32_t n = (uint32_t)r.members.n, quota = halving_quota(n, (uint32_t)s->keep_best);
    halving_rank(r.members.at, n, early_rises(s, j->progress.metric));
    for (uint32_t i = quota; i < n; i++) {
        struct live_job *other = yard_live(y, r.members.at[i].job);
        struct str reason = {0};
        if (!other || !other->submission->spec.keep_best || !can_be_stopped(other))
            continue;
        str_addf(&reason, "stopped: number %u of %u in group %s at step %lld; the best %u go on",
                 i + 1, n, s->group, (long long)step, quota);
        stop_job(y, other, "group", &reason);
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
    if (isnan(p->value) && !p->diverged)
        return; /* nothing to compare yet */
    for (; j->rungs < passed; j->rungs++) {
        int64_t step = halving_step(s->every, j->rungs);
        if (store_rung_add(y->store, j->row.id, step, p->value, &err) < 0) {
            log_warning("job=%lld group: %s", (long long)j->row.id, err.text);
            return;
        }
        compare_members(y, j, step);
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
