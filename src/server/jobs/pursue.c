/* Owns the operations on attempts and the messages to their conductors.
 *
 * An attempt has at most one operation in progress. When it is complete, the attempt is
 * pursued again, so later changes of the desired state follow. Whatever may have been lost is
 * repeated: messages on each new link, operations when they fail. */
#include "server/jobs/pursue.h"

#include <stdio.h>
#include <string.h>

#include "server/jobs/gang.h"
#include "server/jobs/launch.h"
#include "server/jobs/leases.h"
#include "server/jobs/log_copy.h"
#include "server/jobs/move.h"
#include "server/jobs/size.h"
#include "server/log.h"
#include "server/nodes.h"
#include "store/job_state.h"

/* Deadline of an operation. */
#define OP_TIME (60 * USEC_PER_SEC)
/* Time between two looks at an attempt that is not connected or whose operation failed. */
enum { LOOK_EVERY = 500000 };
/* The exit code of a job that could not be started. */
enum { NOT_STARTED = 125 };
/* Time for a new conductor to claim its attempt. */
#define CLAIM_PATIENCE (10 * USEC_PER_SEC)

void attempt_begin_op(struct yard *y, struct attempt *a, enum runtime_op_kind kind)
{
    const struct yard_runtime *r = nodes_runtime(y, a->node);
    a->op.kind = kind;
    a->op.id = attempt_id_of(a);
    a->op.node = y->nodes.at[a->node].name;
    a->op.deadline = clock_now(&y->clock) + OP_TIME;
    a->op.err = (struct err){.code = ERR_OK};
    arena_reset(&a->op.arena);
    a->busy = true;
    if (!y->nodes.at[a->node].orphan) {
        r->ops->begin(r->runtime, &a->op);
        return;
    }
    err_set(&a->op.err, ERR_UNREACHABLE, "no runtime serves the node %s", a->op.node);
    runtime_complete(&y->host, &a->op);
}

void attempt_say(const struct yard *y, const struct attempt *a, const struct to_conductor *m)
{
    const struct yard_runtime *r = nodes_runtime(y, a->node);
    if (a->link)
        r->ops->send(r->runtime, a->link, m);
}

/* ---- what is wanted ----------------------------------------------------------- */

static void settle(struct yard *y, struct attempt *a, bool give_up)
{
    a->op.give_up = give_up;
    attempt_begin_op(y, a, OP_SETTLE);
}

static void set_frozen(struct yard *y, struct attempt *a)
{
    struct to_conductor m = {.kind = a->paused ? TO_CONDUCTOR_FREEZE : TO_CONDUCTOR_THAW, .id = -1};
    attempt_say(y, a, &m);
    a->op.frozen = a->paused;
    attempt_begin_op(y, a, OP_FREEZE);
}

/* Whether nobody knows if it is frozen. */
static bool is_unsure(const struct attempt *a)
{
    return a->unsure & 1U << OP_FREEZE;
}

static bool is_frozen_as_wanted(const struct attempt *a)
{
    return !is_unsure(a) && a->set.frozen == a->paused;
}

static void say_stop(struct yard *y, struct attempt *a, const struct live_job *j)
{
    struct to_conductor m = {
        .kind = TO_CONDUCTOR_STOP,
        .id = -1,
        .stop = {.grace = a->grace,
                 .signal = a->stop == STOP_CANCEL ? 15 : j->terms.checkpoint_signal,
                 .reach = REACH_ALL,
                 .reason = stop_why_name(a->stop)}};
    if (a->stop == STOP_NONE || (a->told.stop == a->stop && a->told.grace == a->grace))
        return;
    a->told.stop = a->stop;
    a->told.grace = a->grace;
    attempt_say(y, a, &m);
}

/* Sends the rest of the job's time limit. */
static void say_limit(struct yard *y, struct attempt *a, const struct live_job *j)
{
    usec_t limit = launch_time_limit(j, a);
    struct to_conductor m = {.kind = TO_CONDUCTOR_LIMIT, .id = -1, .limit = {limit}};
    bool never = a->told.limit < 0 && !limit && !j->submission->spec.time_limit;
    if (a->told.limit == limit || never)
        return;
    a->told.limit = limit;
    attempt_say(y, a, &m);
}

static void begin(struct yard *y, struct attempt *a)
{
    if (a->adopted || a->stop != STOP_NONE || a->refused)
        settle(y, a, true); /* an earlier server or a failed start may have begun it */
    else if (!a->paused && !size_must_wait(y, a) &&
             !move_must_wait(y, yard_live(y, a->job),
                             a)) /* a paused one begins when it is resumed */
        launch_begin(y, a);
}

/* Sends what its conductor must know. Does not wait for an operation in progress, which may
 * take long, as on a node that did not respond. */
static void send_wanted(struct yard *y, struct attempt *a, const struct live_job *j)
{
    if (!a->link || !is_frozen_as_wanted(a))
        return;
    say_limit(y, a, j);
    say_stop(y, a, j);
}

/* Cleaning up may delete the log, so the copy must be complete first. */
static void fetch_rest(struct yard *y, struct attempt *a)
{
    log_copy_ask(y, a);
    a->look_at = clock_now(&y->clock) + LOOK_EVERY;
    yard_care(y);
}

static void begin_missing(struct yard *y, struct attempt *a, const struct live_job *j)
{
    bool shrinks_first = a->set.frozen && !a->paused && a->cpus < a->set.cpus;
    if (a->fenced)
        attempt_begin_op(y, a, OP_KILL);
    else if (a->leaves && a->fetch)
        fetch_rest(y, a);
    else if (a->leaves)
        attempt_begin_op(y, a, OP_CLEAN);
    else if (!a->begun)
        begin(y, a);
    else if (!shrinks_first && !is_frozen_as_wanted(a) &&
             (a->paused || is_unsure(a) || !size_must_wait(y, a)))
        set_frozen(y, a);
    else
        size_pursue(y, a, j);
}

void attempt_pursue(struct yard *y, struct attempt *a)
{
    const struct live_job *j = yard_live(y, a->job);
    bool current = j && !a->done && gang_has(j, a);
    if (!a->busy && (a->leaves || current)) /* a busy one is pursued when it is complete */
        begin_missing(y, a, j);
    if (current && a->begun)
        send_wanted(y, a, j);
}

/* ---- what came of it ---------------------------------------------------------- */

static void started(struct yard *y, struct attempt *a)
{
    if (a->op.err.code == ERR_OK) {
        a->begun = true;
        a->refused = 0;
        if (!a->pid)
            a->pid = a->op.pid;
        attempt_touch(y, a);
        launch_done(a);
        return;
    }
    if (a->impossible) {
        struct ending end = {
            .at = clock_wall(&y->clock), .code = NOT_STARTED, .stop = "", .reason = a->op.err.text};
        a->fetch = false;
        attempt_over(y, a, &end);
        return;
    }
    a->refused++;
    a->unsure |= 1U << OP_RESIZE; /* it may have begun, with the size of then */
    snprintf(a->trouble, sizeof a->trouble, "%.*s", (int)sizeof a->trouble - 1, a->op.err.text);
}

static bool was_rebooted(const struct yard *y, const struct attempt *a)
{
    return *a->boot && strcmp(a->boot, y->boot_id) != 0;
}

static void settled(struct yard *y, struct attempt *a)
{
    struct ending end = {.at = clock_wall(&y->clock), .code = 137, .stop = "", .reason = ""};
    if (a->op.err.code != ERR_OK)
        return;
    switch (a->op.fate) {
    case FATE_PENDING:
        return;
    case FATE_RUNNING:
        a->begun = true;
        a->adopted = false;
        a->refused = 0;
        return;
    case FATE_ENDED:
        attempt_over_by(y, a, &a->op.record);
        return;
    case FATE_NEVER_RAN:
        if (a->started) { /* what ran was removed from its engine */
            end.lost = true;
            end.started = a->started;
            end.reason = "its engine has nothing left of it";
            break;
        }
        end.never_ran = true;
        end.code = -1;
        end.reason = a->refused ? a->trouble : "the server ended before";
        if (a->refused && y->cluster.nodes[a->node].gpus >= a->gpus) /* else it has said so */
            nodes_refused(y, a->node, a->trouble);
        break;
    case FATE_LOST:
        end.lost = true;
        end.started = a->started;
        end.rebooted = was_rebooted(y, a);
        end.reason = end.rebooted ? "the machine was restarted" : "its conductor died";
        break;
    }
    attempt_over(y, a, &end);
}

static void cleaned(struct yard *y, struct attempt *a)
{
    struct to_conductor m = {.kind = TO_CONDUCTOR_ACK, .id = -1, .ack = {.what = ACK_EXIT}};
    if (a->op.err.code != ERR_OK)
        return;
    attempt_say(y, a, &m);
    size_wake(y, a->node); /* one may wait for its GPUs */
    attempt_forget(y, a);
}

static void froze(struct attempt *a)
{
    if (a->op.err.code == ERR_OK || a->op.err.code == ERR_NOT_FOUND)
        a->set.frozen = a->op.frozen;
    if (!a->set.frozen)
        a->told.threads = 0; /* it could not follow while frozen: send its size again */
}

void attempt_completed(struct yard *y, struct attempt *a)
{
    static const char *const names[] = {
        [OP_START] = "start",   [OP_SETTLE] = "look", [OP_RESIZE] = "resize",
        [OP_FREEZE] = "freeze", [OP_KILL] = "kill",   [OP_CLEAN] = "clean up"};
    enum err_code code = a->op.err.code;
    enum runtime_op_kind kind = a->op.kind;
    bool failed = code != ERR_OK && code != ERR_NOT_FOUND;
    if (failed)
        log_warning("job=%lld attempt=%u cannot %s: %s", (long long)a->job, a->n, names[kind],
                    a->op.err.text);
    a->busy = false;
    a->unsure = failed ? a->unsure | 1U << kind : a->unsure & ~(1U << kind);
    a->again = failed && kind != OP_START; /* a failed start is settled at once */
    a->look_at = clock_now(&y->clock) + LOOK_EVERY;
    switch (kind) {
    case OP_START:
        lease_started(y, a);
        started(y, a);
        break;
    case OP_KILL:
        if (!failed)
            lease_killed(y, a);
        break;
    case OP_SETTLE:
        if (!a->leaves)
            settled(y, a);
        break;
    case OP_RESIZE:
        size_resized(y, a);
        break;
    case OP_FREEZE:
        froze(a);
        break;
    case OP_CLEAN:
        cleaned(y, a);
        if (code == ERR_OK)
            return; /* it was freed */
        break;
    }
    size_wake(y, a->node);
    if (a->again || !a->link)
        yard_care(y);
    if (!a->again)
        turn_look_at(y, a);
}

void attempt_look(struct yard *y, struct attempt *a)
{
    usec_t now = clock_now(&y->clock);
    if (a->busy || a->look_at > now || a->done)
        return;
    if (a->leaves || !a->begun || a->link)
        turn_pursue(y, a);
    else
        settle(y, a, now - a->unheard > CLAIM_PATIENCE);
}
