/* Owns the turn: one decision of the engine, one commit, then replies and deeds.
 *
 * A commit that fails undoes the turn: all who wait are told so, and the yard is read
 * anew from the store, as when the server starts. */
#include "server/turn.h"

#include <jansson.h>
#include <stdio.h>
#include <uv.h>

#include "http/reply.h"
#include "server/boot.h"
#include "server/events.h"
#include "server/jobs/attempts.h"
#include "server/log.h"
#include "server/stretch.h"
#include "server/yard.h"

/* What nobody waits for is on disk after this long. */
enum { LAZY_MS = 5000 };
/* Deeds can lead to new entries at once (a start that fails); more than a few rounds
 * of that wait for the next turn, so that requests are heard in between. */
enum { ROUNDS = 4 };

void turn_reply(struct yard *y, struct reply *reply, int status, json_t *body)
{
    if (!y->turn.urgent) {
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

void turn_do(struct yard *y, struct attempt *a, unsigned todo)
{
    a->todo |= todo;
    turn_hurry(y);
    if (a->queued)
        return;
    a->queued = true;
    VEC_PUSH(&y->turn.todo, a);
}

void turn_forget(struct yard *y, const struct attempt *a)
{
    for (size_t i = 0; i < y->turn.todo.n; i++)
        if (y->turn.todo.at[i] == a)
            y->turn.todo.at[i] = NULL;
    for (size_t i = 0; i < y->waiting.n; i++)
        if (y->waiting.at[i] == a)
            y->waiting.at[i--] = y->waiting.at[--y->waiting.n];
}

static void save_rows(struct yard *y)
{
    struct err err;
    for (size_t i = 0; i < y->turn.changed.n; i++) {
        struct live_job *j = y->turn.changed.at[i];
        j->changed = false;
        yard_save(y, j, &err);
    }
    y->turn.changed.n = 0;
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

static void act(struct yard *y)
{
    size_t n = y->turn.todo.n;
    for (size_t i = 0; i < n; i++) {
        struct attempt *a = y->turn.todo.at[i];
        if (!a)
            continue;
        a->queued = false;
        if (attempt_act(y, a)) /* not done with it: it stays in the yard's `leaving` */
            yard_care(y);
    }
    size_t left = y->turn.todo.n - n;
    if (left)
        memmove(y->turn.todo.at, y->turn.todo.at + n, left * sizeof *y->turn.todo.at);
    y->turn.todo.n = left;
}

/* Nothing of this turn has happened. */
static void undo(struct yard *y, const struct err *failure)
{
    log_warning("the store cannot be written: %s", failure->text);
    y->turn.failing = true;
    snprintf(y->turn.failure, sizeof y->turn.failure, "%s", failure->text);
    events_flush(y, false);
    send_replies(y, failure);
    y->turn.todo.n = y->turn.changed.n = 0;
    y->turn.urgent = false;
    yard_reload(y);
}

static void decide(struct yard *y)
{
    struct event tick = {.kind = EVENT_TICK};
    struct err err;
    if (engine_due(&y->engine) > clock_now(&y->clock))
        return;
    if (yard_step(y, &tick, &err) < 0)
        log_warning("decision: %s", err.text);
}

/* The journal is cut into stretches that can be replayed, and forgotten, one by one. */
static void cut_journal(struct yard *y)
{
    struct err err;
    if (y->journal_rows < y->config.journal_rows)
        return;
    if (stretch_renew(y, &err) < 0)
        log_warning("journal: %s", err.text);
    turn_hurry(y);
}

static bool finish_round(struct yard *y)
{
    struct err err;
    cut_journal(y);
    if (clock_jumped(&y->clock))
        yard_follow_clock(y);
    decide(y);
    save_rows(y);
    if (!y->turn.urgent)
        return false;
    if (store_commit(y->store, &err) < 0) {
        undo(y, &err);
        return false;
    }
    y->turn.urgent = y->turn.failing = false;
    uv_timer_stop(y->turn.lazy);
    send_replies(y, NULL);
    events_flush(y, true);
    act(y);
    return y->turn.urgent;
}

static void lazy_is_due(uv_timer_t *timer)
{
    struct yard *y = timer->data;
    turn_hurry(y);
}

static void tick_is_due(uv_timer_t *timer)
{
    (void)timer; /* waking up is enough: the turn decides at its end */
}

/* The loop wakes up when the engine wants to decide. */
static void set_alarm(struct yard *y)
{
    usec_t due = engine_due(&y->engine), now = clock_now(&y->clock);
    if (due == USEC_NEVER) {
        uv_timer_stop(y->tick);
        return;
    }
    uint64_t ms = due > now ? (uint64_t)(due - now + 999) / 1000 : 0;
    uv_update_time(y->loop);
    uv_timer_start(y->tick, tick_is_due, ms, 0);
}

void turn_end(struct yard *y)
{
    for (int round = 0; round < ROUNDS && finish_round(y); round++)
        continue;
    if (store_dirty(y->store) && !uv_is_active((uv_handle_t *)y->turn.lazy))
        uv_timer_start(y->turn.lazy, lazy_is_due, y->turn.urgent ? 0 : LAZY_MS, 0);
    set_alarm(y);
}

static void before_wait(uv_prepare_t *prepare)
{
    turn_end(prepare->data);
}

void turn_init(struct yard *y)
{
    y->turn.prepare = xcalloc(1, sizeof *y->turn.prepare);
    y->turn.lazy = xcalloc(1, sizeof *y->turn.lazy);
    uv_prepare_init(y->loop, y->turn.prepare);
    uv_timer_init(y->loop, y->turn.lazy);
    y->turn.prepare->data = y->turn.lazy->data = y;
    uv_prepare_start(y->turn.prepare, before_wait);
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

void turn_done(struct yard *y)
{
    struct err err;
    turn_hurry(y);
    save_rows(y);
    bool failed = store_commit(y->store, &err) < 0;
    send_replies(y, failed ? &err : NULL);
    events_flush(y, !failed);
    uv_close((uv_handle_t *)y->turn.prepare, free_handle);
    uv_close((uv_handle_t *)y->turn.lazy, free_handle);
    VEC_DONE(&y->turn.replies);
    VEC_DONE(&y->turn.todo);
    VEC_DONE(&y->turn.changed);
}
