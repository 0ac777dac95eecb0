/* Owns what is lost by a preemption. A job that was stopped and saved itself is assumed to lose
 * nothing, any other the running time of its attempt. If it reports steps, the next attempt
 * shows from which one it continued: then the loss is the time that the steps in between took. */
#include "server/jobs/preempted.h"

#include <math.h>
#include <signal.h>
#include <time.h>

#include "base/str.h"
#include "server/log.h"
#include "store/attempts.h"

int64_t preempted_by(const struct yard *y, uint32_t task)
{
    const struct live_job *j = task == TASK_NONE ? NULL : yard_job_of_task(y, task);
    return j ? j->row.id : 0;
}

void preempted_phrase(int64_t by, usec_t at, usec_t lost, struct str *out)
{
    char when[16], span[32];
    time_t seconds = (time_t)(at / USEC_PER_SEC);
    struct tm local;
    str_add(out, "preempted");
    if (by)
        str_addf(out, " by job %lld", (long long)by);
    if (localtime_r(&seconds, &local) && strftime(when, sizeof when, "%H:%M", &local))
        str_addf(out, " at %s", when);
    if (lost == 0)
        str_add(out, ", lost nothing");
    else if (lost > 0)
        str_addf(out, ", lost %s", time_format(lost, span, sizeof span));
}

static void set_reason(struct live_job *j, int64_t by, usec_t at, usec_t lost)
{
    struct str text = {0};
    preempted_phrase(by, at, lost, &text);
    free((char *)j->row.reason);
    j->row.reason = text.at;
}

void preempted_frozen(struct live_job *j, const struct attempt *a)
{
    set_reason(j, a->stopped_by, a->frozen_at, 0);
}

void preempted_ended(const struct yard *y, struct live_job *j, struct attempt *a,
                     const struct ending *end)
{
    const struct task *t = yard_task(y, j);
    usec_t ran = t && t->run_time > a->before ? t->run_time - a->before : 0;
    bool saved = j->terms.resumes && end->signal != SIGKILL;
    const struct progress_seen *p = &j->progress;
    struct str text = {0};
    a->lost = saved || !end->started ? 0 : ran;
    j->redo = (struct redo){0};
    if (p->known && p->step > j->first_step)
        j->redo = (struct redo){a->n, a->stopped_by, end->at, p->step,
                                (double)ran / (p->step - j->first_step)};
    preempted_phrase(a->stopped_by, end->at, a->lost, &text);
    free(a->reason);
    a->reason = text.at;
}

void preempted_report(struct yard *y, struct live_job *j, double step)
{
    struct err err;
    if (isnan(step) || !isnan(j->first_step))
        return;
    j->first_step = step;
    if (!j->redo.attempt)
        return;
    /* Its first report may come after some steps, so it continued here or earlier. */
    double again = j->redo.step > step ? j->redo.step - step : 0;
    usec_t lost = (usec_t)(again * j->redo.per_step);
    if (store_attempt_set_lost(y->store, j->row.id, j->redo.attempt, lost, &err) < 0)
        log_warning("job=%lld loss: %s", (long long)j->row.id, err.text);
    set_reason(j, j->redo.by, j->redo.at, lost);
    yard_touch(y, j);
    j->redo = (struct redo){0};
}
