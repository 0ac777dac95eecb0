/* Owns how sizes are applied. */
#include "server/jobs/size.h"

#include <stdio.h>

#include "server/jobs/attempts.h"
#include "server/jobs/parts.h"
#include "server/jobs/pursue.h"
#include "server/log.h"
#include "store/job_state.h"

/* Time for a restart, in addition to the job's grace. */
#define RESTART_BOUND (30 * USEC_PER_SEC)
/* Threads follow at the next parallel region; a program that has none for this long
 * does not hold up others any longer. */
enum { SHRINK_BOUND = 500000 };

static bool restarts(const struct live_job *j)
{
    return j->terms.resize == SPEC_RESIZE_RESTART;
}

/* ---- telling the conductor ----------------------------------------------------- */

static void say_resize(struct yard *y, struct attempt *a, const char *cpuset)
{
    struct to_conductor m = {
        .kind = TO_CONDUCTOR_RESIZE,
        .id = -1,
        .resize = {.cpus = (double)a->cpus / UNIT, .threads = a->told.threads, .cpuset = cpuset}};
    attempt_say(y, a, &m);
}

static void say_restart(struct yard *y, struct attempt *a, const struct live_job *j,
                        const char *cpuset)
{
    char cpus[48], threads[48];
    const char *env[] = {cpus, threads, NULL};
    snprintf(cpus, sizeof cpus, "TRAINYARD_CPUS=%g", (double)a->cpus / UNIT);
    snprintf(threads, sizeof threads, "OMP_NUM_THREADS=%lld", (long long)a->told.threads);
    struct to_conductor m = {.kind = TO_CONDUCTOR_RESTART,
                             .id = -1,
                             .restart = {.cpus = (double)a->cpus / UNIT,
                                         .cpuset = cpuset,
                                         .env = env,
                                         .stop = {.grace = j->terms.grace,
                                                  .signal = j->terms.checkpoint_signal,
                                                  .reach = REACH_ALL}}};
    attempt_say(y, a, &m);
}

static void tell(struct yard *y, struct attempt *a, const struct live_job *j)
{
    int64_t threads = parts_of(j, a);
    const char *cpuset = attempt_cpuset(y, a);
    bool same = a->told.cpus == a->cpus && (a->told.threads == threads || restarts(j));
    if (!a->link || same)
        return;
    a->told.cpus = a->cpus;
    a->told.threads = threads;
    if (restarts(j))
        say_restart(y, a, j, cpuset);
    else
        say_resize(y, a, cpuset);
}

/* ---- limits ---------------------------------------------------------------------- */

/* Whether nobody knows what is in force. */
static bool is_unsure(const struct attempt *a)
{
    return a->unsure & 1U << OP_RESIZE;
}

static bool limits_agree(const struct attempt *a)
{
    return !is_unsure(a) && a->set.cpus == a->cpus && a->set.cpu_limit == a->cpu_limit &&
           a->set.cpu_weight == a->cpu_weight;
}

static void set_limits(struct yard *y, struct attempt *a)
{
    a->op.size = attempt_size(y, a);
    attempt_begin_op(y, a, OP_RESIZE);
}

void size_resized(struct yard *y, struct attempt *a)
{
    const struct runtime_op *op = &a->op;
    (void)y;
    if (op->err.code != ERR_OK && op->err.code != ERR_NOT_FOUND)
        return;
    a->set.cpus = op->size.cpus;
    a->set.cpu_limit = op->size.cpu_limit;
    a->set.cpu_weight = op->size.cpu_weight;
}

void size_pursue(struct yard *y, struct attempt *a, const struct live_job *j)
{
    bool shrinks = a->cpus < a->set.cpus && !a->set.frozen && a->link && a->told.cpus != a->cpus;
    if (shrinks && !a->shrink_by) {
        usec_t bound = restarts(j) ? j->terms.grace + RESTART_BOUND : SHRINK_BOUND;
        a->shrink_by = clock_now(&y->clock) + bound;
        yard_care(y);
    }
    if (a->shrink_by || limits_agree(a)) {
        tell(y, a, j);
    } else if (a->cpus <= a->set.cpus || is_unsure(a) || !size_must_wait(y, a)) {
        set_limits(y, a);
    }
}

/* ---- waiting --------------------------------------------------------------------- */

/* What it may have now: an operation under way may have had its effect. */
static units_t most_cpus(const struct attempt *a)
{
    bool sets = a->busy && (a->op.kind == OP_START || a->op.kind == OP_RESIZE);
    return sets && a->op.size.cpus > a->set.cpus ? a->op.size.cpus : a->set.cpus;
}

static bool is_surely_frozen(const struct attempt *a)
{
    bool changes = a->busy && a->op.kind == OP_FREEZE;
    return a->set.frozen && !changes && !(a->unsure & 1U << OP_FREEZE);
}

bool size_gives(const struct attempt *a)
{
    bool starting = a->busy && a->op.kind == OP_START;
    if (a->leaves)
        return false;
    if (stop_goes_on(a->stop)) /* the engine has given its place away */
        return a->begun || starting;
    if (a->paused)
        return (a->begun || starting) && !is_surely_frozen(a);
    return is_unsure(a) || a->cpus < most_cpus(a);
}

/* The GPUs of an attempt are its own until it is cleaned up. */
static bool holds_gpus(const struct attempt *other, const struct attempt *a)
{
    return other->leaves && other->gpus && a->gpus && !a->begun;
}

bool size_must_wait(struct yard *y, struct attempt *a)
{
    for (size_t i = 0; i < y->attempts.n; i++) {
        const struct attempt *other = y->attempts.at[i];
        if (other == a || other->node != a->node || !(size_gives(other) || holds_gpus(other, a)))
            continue;
        VEC_PUSH(&y->nodes.at[a->node].waiting, a);
        return true;
    }
    return false;
}

void size_wake(struct yard *y, uint32_t node)
{
    struct yard_node *n = &y->nodes.at[node];
    for (size_t i = 0; i < n->waiting.n; i++)
        turn_pursue(y, n->waiting.at[i]);
    n->waiting.n = 0;
}

void size_shrunk(struct yard *y, struct attempt *a)
{
    if (!a->shrink_by)
        return;
    a->shrink_by = 0;
    if (!a->busy && !job_state_over(a->state) && !limits_agree(a))
        set_limits(y, a);
}

void size_applied(struct yard *y, struct attempt *a, double cpus)
{
    /* A reply about an earlier, larger size does not count. */
    if (cpus * UNIT < (double)a->cpus + 0.5)
        size_shrunk(y, a);
}

usec_t size_look(struct yard *y, usec_t now)
{
    usec_t next = USEC_NEVER;
    for (size_t i = 0; i < y->attempts.n; i++) {
        struct attempt *a = y->attempts.at[i];
        if (a->shrink_by && a->shrink_by <= now)
            size_shrunk(y, a);
        else if (a->shrink_by && a->shrink_by < next)
            next = a->shrink_by;
    }
    return next;
}
