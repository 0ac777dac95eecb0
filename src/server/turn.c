/* Owns the turn: one decision of the engine, one commit, then replies and actions.
 *
 * A failed commit undoes the turn: pending requests get the error, and the yard is loaded
 * from the store again, as at a start. */
#include "server/turn.h"

#include <jansson.h>
#include <stdio.h>

#include "http/reply.h"
#include "server/automatic.h"
#include "server/boot.h"
#include "server/events.h"
#include "server/jobs/attempts.h"
#include "server/jobs/pursue.h"
#include "server/jobs/rules.h"
#include "server/jobs/size.h"
#include "server/kubernetes/front.h"
#include "server/load.h"
#include "server/log.h"
#include "server/nodes.h"
#include "server/stretch.h"
#include "server/studies.h"
#include "server/yard.h"
#include "store/store.h"

/* Changes that no request waits for are committed within this time. */
#define LAZY (5 * USEC_PER_SEC)
/* Pauses between commits while the store cannot be written. */
#define RETRY_FIRST (USEC_PER_SEC / 4)
#define RETRY_LONGEST (4 * USEC_PER_SEC)
/* An action can change the state at once (a start fails). After this many rounds, the rest
 * waits for the next turn, so that requests are served in between. */
enum { ROUNDS = 4 };

void turn_reply(struct yard *y, struct reply *reply, int status, json_t *body)
{
    if (!y->turn.urgent || (y->turn.failing && y->turn.reading)) {
        reply_json(reply, status, body);
        return;
    }
    reply_defer(reply, NULL, NULL);
    VEC_PUSH(&y->turn.replies, (struct pending){reply, status, body});
}

void turn_hurry(struct yard *y)
{
    y->turn.urgent = true;
}

void turn_look_at(struct yard *y, struct attempt *a)
{
    if (a->queued)
        return;
    a->queued = true;
    VEC_PUSH(&y->turn.todo, a);
}

void turn_pursue(struct yard *y, struct attempt *a)
{
    turn_hurry(y);
    turn_look_at(y, a);
}

void turn_forget(struct yard *y, const struct attempt *a)
{
    for (size_t i = 0; i < y->turn.todo.n; i++)
        if (y->turn.todo.at[i] == a)
            y->turn.todo.at[i] = NULL;
    for (size_t i = 0; i < y->turn.attempts.n; i++)
        if (y->turn.attempts.at[i] == a)
            y->turn.attempts.at[i] = NULL;
    for (size_t n = 0; n < y->nodes.n; n++) {
        struct yard_node *node = &y->nodes.at[n];
        for (size_t i = 0; i < node->waiting.n; i++)
            if (node->waiting.at[i] == a)
                node->waiting.at[i--] = node->waiting.at[--node->waiting.n];
    }
}

void turn_save(struct yard *y)
{
    struct err err;
    for (size_t i = 0; i < y->turn.changed.n; i++) {
        struct live_job *j = y->turn.changed.at[i];
        j->changed = false;
        yard_save(y, j, &err);
    }
    y->turn.changed.n = 0;
    for (size_t i = 0; i < y->turn.attempts.n; i++) {
        struct attempt *a = y->turn.attempts.at[i];
        if (a && attempt_save(y, a, &err) < 0)
            log_warning("job=%lld attempt=%u save: %s", (long long)a->job, a->n, err.text);
    }
    y->turn.attempts.n = 0;
}

static void send_replies(struct yard *y, const struct err *failure)
{
    for (size_t i = 0; i < y->turn.replies.n; i++) {
        struct pending *p = &y->turn.replies.at[i];
        if (!failure) {
            reply_json(p->reply, p->status, p->body);
            continue;
        }
        json_decref(p->body);
        reply_problem(p->reply, failure, NULL);
    }
    y->turn.replies.n = 0;
}

/* Pursues those of the first n attempts that give CPUs back, or those that do not. */
static void pursue_listed(struct yard *y, size_t n, bool giving)
{
    for (size_t i = 0; i < n; i++) {
        struct attempt *a = y->turn.todo.at[i];
        if (!a || size_gives(a) != giving)
            continue;
        y->turn.todo.at[i] = NULL;
        a->queued = false;
        attempt_pursue(y, a);
    }
}

/* Attempts that give CPUs back come first, so that attempts that get them wait. */
static void pursue_attempts(struct yard *y)
{
    size_t n = y->turn.todo.n;
    pursue_listed(y, n, true);
    pursue_listed(y, n, false);
    size_t left = y->turn.todo.n - n;
    if (left)
        memmove(y->turn.todo.at, y->turn.todo.at + n, left * sizeof *y->turn.todo.at);
    y->turn.todo.n = left;
}

static void undo_turn(struct yard *y, const struct err *failure)
{
    log_warning("cannot write to the store: %s", failure->text);
    usec_t pause = RETRY_FIRST << (y->turn.failures < 8 ? y->turn.failures : 8);
    y->turn.failing = true;
    y->turn.failures++;
    y->turn.retry_at = clock_now(&y->clock) + (pause < RETRY_LONGEST ? pause : RETRY_LONGEST);
    snprintf(y->turn.failure, sizeof y->turn.failure, "%s", failure->text);
    events_flush(y, false);
    send_replies(y, failure);
    y->turn.todo.n = y->turn.changed.n = y->turn.attempts.n = 0;
    y->turn.urgent = false;
    yard_reload(y);
    arrivals_undone(y, failure);
}

static void decide(struct yard *y)
{
    struct event tick = {.kind = EVENT_TICK};
    struct err err;
    nodes_follow(y);
    if (y->closing || engine_due(&y->engine) > clock_now(&y->clock))
        return;
    usec_t began = clock_now(&y->clock);
    if (yard_step(y, &tick, &err) < 0) {
        y->metrics.decision_failures++;
        log_warning("the engine failed to decide: %s", err.text);
    }
    metrics_observe(&y->metrics.decision, clock_now(&y->clock) - began);
}

/* The journal consists of stretches that can be replayed and deleted one by one. Each begins with
 * all tasks of the engine, which may be many: it is at least twice as long as that. */
static void cut_journal(struct yard *y)
{
    struct err err;
    uint64_t least = 2 * y->journal_head;
    if (y->journal_rows < (least > y->config.journal_rows ? least : y->config.journal_rows))
        return;
    if (stretch_renew(y, &err) < 0)
        log_warning("journal: %s", err.text);
    turn_hurry(y);
}

static struct attempt *attempt_of(struct runtime_op *op)
{
    return (struct attempt *)((char *)op - offsetof(struct attempt, op));
}

static void collect_completed(struct yard *y)
{
    struct runtime_op *op;
    while ((op = runtime_collect(&y->host)))
        attempt_completed(y, attempt_of(op));
}

static void run_timers(struct yard *y)
{
    usec_t now = clock_now(&y->clock);
    nodes_turn(y, now);
    collect_completed(y);
    if (kube_front_due(y->front) <= now)
        kube_front_turn(y->front, now);
    if (y->turn.lazy_at <= now)
        turn_hurry(y);
    if (y->care_at <= now)
        yard_look_after(y);
    load_turn(y);
}

/* After a failed commit, the next one waits for a while, unless a request is pending. */
static bool must_wait(const struct yard *y)
{
    return y->turn.failing && !y->turn.replies.n && clock_now(&y->clock) < y->turn.retry_at;
}

/* What waited for the disk may go out. */
static void committed(struct yard *y)
{
    y->turn.urgent = y->turn.failing = false;
    y->turn.failures = 0;
    y->turn.lazy_at = USEC_NEVER;
    submissions_committed(&y->submissions);
    send_replies(y, NULL);
    arrivals_committed(y);
    events_flush(y, true);
}

static int commit(struct yard *y, struct err *err)
{
    usec_t began = clock_now(&y->clock);
    int rc = store_commit(y->store, err);
    metrics_observe(&y->metrics.commit, clock_now(&y->clock) - began);
    y->metrics.commit_failures += rc < 0;
    return rc;
}

static bool finish_round(struct yard *y)
{
    struct err err;
    run_timers(y);
    cut_journal(y);
    if (clock_jumped(&y->clock))
        rules_follow_clock(y);
    decide(y);
    turn_save(y);
    if (y->turn.urgent && must_wait(y))
        return y->host.completed;
    if (y->turn.urgent && commit(y, &err) < 0) {
        undo_turn(y, &err);
        return false;
    }
    if (y->turn.urgent)
        committed(y);
    pursue_attempts(y);
    return y->turn.urgent || y->host.completed;
}

void turn_end(struct yard *y)
{
    if (!must_wait(y))
        arrivals_turn(y);
    studies_turn(y);
    automatic_turn(y);
    for (int round = 0; round < ROUNDS && finish_round(y); round++)
        continue;
    if (store_dirty(y->store) && y->turn.lazy_at == USEC_NEVER && !y->turn.urgent)
        y->turn.lazy_at = clock_now(&y->clock) + LAZY;
}

usec_t turn_due(const struct yard *y)
{
    usec_t due = y->closing ? USEC_NEVER : engine_due(&y->engine);
    if (y->turn.urgent || arrivals_wait(y))
        due = must_wait(y) ? y->turn.retry_at : clock_now(&y->clock);
    else if (y->turn.lazy_at < due)
        due = y->turn.lazy_at;
    if (nodes_due(y) < due)
        due = nodes_due(y);
    if (kube_front_due(y->front) < due)
        due = kube_front_due(y->front);
    if (y->load_at < due)
        due = y->load_at;
    if (automatic_due(y) < due)
        due = automatic_due(y);
    if (y->host.completed || studies_wait(y))
        due = clock_now(&y->clock);
    return y->care_at < due ? y->care_at : due;
}

void turn_init(struct yard *y)
{
    y->turn.lazy_at = y->care_at = y->load_at = USEC_NEVER;
}

void turn_done(struct yard *y)
{
    struct err err;
    turn_hurry(y);
    turn_save(y);
    bool failed = store_commit(y->store, &err) < 0;
    send_replies(y, failed ? &err : NULL);
    if (!failed)
        arrivals_committed(y);
    arrivals_done(y);
    studies_end(y);
    events_flush(y, !failed);
    VEC_DONE(&y->turn.replies);
    VEC_DONE(&y->turn.todo);
    VEC_DONE(&y->turn.changed);
    VEC_DONE(&y->turn.attempts);
}
