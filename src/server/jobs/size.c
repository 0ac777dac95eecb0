/* Owns the order in which a size is carried out, so that threads and limits agree:
 * more threads than CPUs waste time waiting for each other, fewer waste CPUs. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "server/conductors.h"
#include "server/jobs/attempts.h"
#include "server/jobs/parts.h"
#include "server/log.h"
#include "store/job_state.h"

/* Between asking a job to end and its new start, beside its grace. */
enum { RESTART_BOUND = 30000000 };
/* Threads follow at the next parallel region; a program that has none for this long
 * does not hold up others any longer. */
enum { SHRINK_BOUND = 500000 };

static bool restarts(const struct live_job *j)
{
    return j->terms.resize == SPEC_RESIZE_RESTART;
}

/* Makes the message that asks for a restart of the one that asks for a change. */
static void add_restart(json_t *o, const struct live_job *j, const struct attempt *a)
{
    char cpus[32], threads[32];
    snprintf(cpus, sizeof cpus, "%g", (double)a->cpus / UNIT);
    snprintf(threads, sizeof threads, "%lld", (long long)parts_of(j, a));
    json_object_set_new(o, "type", json_string("restart"));
    json_object_set_new(o, "grace_s", json_real(time_seconds(j->terms.grace)));
    json_object_set_new(o, "signal", json_integer(j->terms.checkpoint_signal));
    json_object_set_new(
        o, "env", json_pack("{s:s, s:s}", "TRAINYARD_CPUS", cpus, "OMP_NUM_THREADS", threads));
}

static void tell_size(struct yard *y, const struct attempt *a)
{
    struct runtime_attempt r = attempt_to_runtime(y, a);
    const char *cpus = y->config.runtime->cpuset(y->runtime, &r);
    if (!a->link)
        return;
    const struct live_job *j = yard_live(y, a->job);
    json_t *o = json_pack("{s:s, s:f, s:I}", "type", "resize", "cpus", (double)a->cpus / UNIT,
                          "threads", (json_int_t)parts_of(j, a));
    if (cpus)
        json_object_set_new(o, "cpuset_os", json_string(cpus));
    if (restarts(j))
        add_restart(o, j, a);
    conduit_send(a->link, o);
}

static void set_limits(struct yard *y, struct attempt *a)
{
    struct runtime_attempt r = attempt_to_runtime(y, a);
    struct err err;
    a->set_cpus = a->cpus;
    if (y->config.runtime->resize(y->runtime, &r, &err) < 0 && err.code != ERR_NOT_FOUND)
        log_warning("job=%lld attempt=%u resize: %s", (long long)a->job, a->n, err.text);
}

void attempt_set_size(struct yard *y, struct attempt *a)
{
    const struct live_job *j = yard_live(y, a->job);
    if (a->shrink_by || (a->cpus < a->set_cpus && a->link)) {
        if (!a->shrink_by) {
            usec_t bound = restarts(j) ? j->terms.grace + RESTART_BOUND : SHRINK_BOUND;
            a->shrink_by = clock_now(&y->clock) + bound;
            y->shrinking++;
            yard_care(y);
        }
        tell_size(y, a);
        return;
    }
    bool grows = a->cpus > a->set_cpus;
    set_limits(y, a);
    if (grows || !restarts(j))
        tell_size(y, a);
}

void attempt_knows_size(struct yard *y, struct attempt *a, double cpus)
{
    const struct live_job *j = yard_live(y, a->job);
    /* Others are told at each link; one that starts again for it only when it must. */
    if (j && j->attempt == a && restarts(j) && cpus > 0)
        a->set_cpus = (units_t)llround(cpus * UNIT);
}

bool attempt_waits(struct yard *y, struct attempt *a, unsigned todo)
{
    bool grows = todo & DEED_SPAWN || (todo & DEED_SIZE && a->cpus > a->set_cpus) ||
                 (todo & DEED_FREEZE && !a->paused);
    if (!y->shrinking || !grows || todo & (DEED_STOP | DEED_CLEAN))
        return false;
    a->todo |= todo;
    VEC_PUSH(&y->waiting, a);
    return true;
}

static void end_waits(struct yard *y)
{
    for (size_t i = 0; i < y->waiting.n; i++)
        turn_do(y, y->waiting.at[i], 0);
    y->waiting.n = 0;
}

void attempt_shrunk(struct yard *y, struct attempt *a)
{
    if (!a->shrink_by)
        return;
    a->shrink_by = 0;
    if (!job_state_over(a->state))
        set_limits(y, a);
    if (--y->shrinking == 0)
        end_waits(y);
}

void attempt_applied(struct yard *y, struct attempt *a, double cpus)
{
    /* An answer to an earlier, larger size is none. */
    if (cpus * UNIT < (double)a->cpus + 0.5)
        attempt_shrunk(y, a);
}

bool attempt_look_at_shrinking(struct yard *y)
{
    usec_t now = clock_now(&y->clock);
    if (!y->shrinking)
        return false;
    for (struct live_job *j = y->jobs.first; j; j = j->next) {
        if (j->attempt && j->attempt->shrink_by && j->attempt->shrink_by <= now)
            attempt_shrunk(y, j->attempt);
    }
    return y->shrinking > 0;
}
