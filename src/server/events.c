/* Owns events and their followers.
 *
 * A follower that has seen all committed events gets those of a turn from memory when the
 * turn is committed. A follower that began in the past, or is slow, reads committed events
 * from the store whenever its buffer has drained, until it has caught up. So each follower
 * gets every event once, and memory stays bounded. */
#include "server/events.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "http/reply.h"
#include "http/stream.h"
#include "server/api/log_follow.h"
#include "server/followers.h"
#include "server/load.h"
#include "server/log.h"
#include "server/notices/alarms.h"
#include "server/notices/deliver.h"
#include "server/yard.h"
#include "store/events.h"

/* Events of a turn that are kept in memory; followers read the others from the store. */
enum { NEWS_MAX = 4096 };
/* Limit of bytes buffered for a follower; less than what the stream can hold. */
enum { WAITING_MAX = 64 << 10 };

struct event_follower {
    struct yard *y;
    struct stream *stream;
    struct event_follower *prev, *next;
    int64_t job;  /* 0 = all */
    int64_t last; /* seq of the last event that was sent or skipped */
    bool progress;
    bool caught_up; /* was sent all committed events */
    bool lost;      /* the stream accepts no more */
    size_t waiting; /* upper bound of bytes in the buffer; 0 = it has drained */
};

void events_write(struct str *out, int64_t seq, usec_t at, int64_t job, const char *kind,
                  const char *json)
{
    str_add(out, "{");
    if (seq)
        str_addf(out, "\"seq\":%lld,", (long long)seq);
    str_addf(out, "\"at\":%.6f,\"kind\":", time_seconds(at));
    str_add_json(out, kind);
    if (job)
        str_addf(out, ",\"job\":%lld", (long long)job);
    else
        str_add(out, ",\"job\":null");
    if (json[0] == '{' && json[1] != '}')
        str_addf(out, ",%s", json + 1);
    else
        str_add(out, "}");
}

/* ---- one follower ---------------------------------------------------------- */

static bool follows_job(const struct event_follower *f, int64_t job)
{
    return !f->job || f->job == job;
}

/* Returns false if the buffer is full. */
static bool send_event(struct event_follower *f, int64_t seq, const char *kind, const char *data)
{
    char id[24];
    size_t n = strlen(data) + strlen(kind) + sizeof id + 32;
    if (f->lost || (f->waiting && f->waiting + n > WAITING_MAX))
        return false;
    snprintf(id, sizeof id, "%lld", (long long)seq);
    f->lost = stream_event(f->stream, seq ? id : NULL, kind, data) < 0;
    f->waiting += n;
    return !f->lost;
}

struct reading {
    struct event_follower *f;
    bool left; /* some events are still to be sent */
};

static int send_row(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                    const char *json, struct err *err)
{
    struct reading *reading = ctx;
    struct event_follower *f = reading->f;
    struct str data = {0};
    (void)err;
    /* Events of this turn are not committed yet. */
    reading->left = seq > f->y->followers->committed;
    if (reading->left)
        return 1;
    events_write(&data, seq, at, job, kind, json);
    reading->left = !send_event(f, seq, kind, data.at);
    str_done(&data);
    if (reading->left)
        return 1;
    f->last = seq;
    return 0;
}

/* Sends events from the store until the buffer is full. */
static void catch_up(struct event_follower *f)
{
    struct reading reading = {.f = f};
    struct err err;
    if (store_event_list(f->y->store, f->last, f->job, 0, send_row, &reading, &err) < 0)
        log_warning("cannot read events: %s", err.text);
    else
        f->caught_up = !reading.left;
}

static void on_drained(struct stream *s, void *ctx)
{
    struct event_follower *f = ctx;
    (void)s;
    f->waiting = 0;
    if (!f->caught_up)
        catch_up(f);
}

static void remove_follower(struct event_follower *f)
{
    struct followers *all = f->y->followers;
    if (f->prev)
        f->prev->next = f->next;
    else
        all->events = f->next;
    if (f->next)
        f->next->prev = f->prev;
    free(f);
}

static void on_closed(struct stream *s, void *ctx)
{
    (void)s;
    remove_follower(ctx);
}

void events_follow(struct yard *y, struct reply *reply, int64_t after, int64_t job, bool progress)
{
    static const struct stream_ops ops = {on_drained, on_closed};
    struct followers *all = y->followers;
    struct event_follower *f = xcalloc(1, sizeof *f);
    *f = (struct event_follower){
        .y = y,
        .job = job,
        .progress = progress,
        .last = after < 0 || after > all->committed ? all->committed : after,
        .waiting = 1, /* until the stream reports that it has drained */
        .next = all->events,
    };
    f->stream = reply_events(reply, &ops, f);
    if (!f->stream) {
        free(f);
        return;
    }
    if (all->events)
        all->events->prev = f;
    all->events = f;
}

/* ---- all of them ----------------------------------------------------------- */

/* Whether any request follows this job. */
static bool is_followed(const struct yard *y, int64_t job)
{
    for (const struct event_follower *f = y->followers->events; f; f = f->next)
        if (follows_job(f, job))
            return true;
    return log_follow_wants(y, job);
}

static void keep_news(struct followers *all, int64_t seq, usec_t at, int64_t job, const char *kind,
                      const char *json)
{
    struct str data = {0};
    all->overflow = all->news.n == NEWS_MAX;
    if (all->overflow)
        return;
    events_write(&data, seq, at, job, kind, json);
    VEC_PUSH(&all->news, (struct news){seq, job, xstrdup(kind), data.at});
}

void events_add(struct yard *y, const char *kind, int64_t job, json_t *extra)
{
    struct followers *all = y->followers;
    struct err err;
    usec_t at = clock_wall(&y->clock);
    AUTO_FREE char *text = extra ? json_dumps(extra, JSON_COMPACT | JSON_REAL_PRECISION(16)) : NULL;
    const char *json = text ? text : "{}";
    json_decref(extra);
    load_changed(y);
    metrics_event(&y->metrics, kind);
    if (store_event_add(y->store, at, job, kind, json, &all->newest, &err) < 0) {
        log_warning("job=%lld event=%s: %s", (long long)job, kind, err.text);
        return;
    }
    notices_event(y, kind, job, json);
    if (strncmp(kind, "job.", 4) == 0)
        alarms_changed(y);
    if (!is_followed(y, job))
        return;
    keep_news(all, all->newest, at, job, kind, json);
    turn_hurry(y);
}

static void drop_news(struct followers *all)
{
    for (size_t i = 0; i < all->news.n; i++) {
        free(all->news.at[i].kind);
        free(all->news.at[i].data);
    }
    all->news.n = 0;
    all->overflow = false;
}

/* A follower whose buffer is full reads the rest from the store later. */
static void send_news(struct event_follower *f, const struct followers *all)
{
    for (size_t i = 0; i < all->news.n && f->caught_up; i++) {
        const struct news *n = &all->news.at[i];
        if (!follows_job(f, n->job))
            continue;
        f->caught_up = send_event(f, n->seq, n->kind, n->data);
        if (f->caught_up)
            f->last = n->seq;
    }
}

static void poke_logs(struct yard *y, const struct followers *all)
{
    if (all->overflow)
        log_follow_poke(y, 0);
    for (size_t k = 0; k < all->news.n && all->logs; k++)
        log_follow_poke(y, all->news.at[k].job);
}

void events_flush(struct yard *y, bool committed)
{
    struct followers *all = y->followers;
    if (committed && all->newest > all->committed) {
        all->committed = all->newest;
        for (struct event_follower *f = all->events; f; f = f->next) {
            f->caught_up = f->caught_up && !all->overflow;
            if (f->caught_up)
                send_news(f, all);
            else if (!f->waiting)
                catch_up(f);
        }
        poke_logs(y, all);
    }
    if (committed)
        deliver_committed(y);
    all->newest = all->committed;
    drop_news(all);
}

static struct event_follower *find_progress(const struct yard *y, int64_t job)
{
    struct event_follower *f = y->followers->events;
    while (f && !(f->progress && follows_job(f, job)))
        f = f->next;
    return f;
}

bool events_progress_wanted(const struct yard *y, int64_t job)
{
    return find_progress(y, job);
}

void events_progress(struct yard *y, int64_t job, usec_t at, const struct progress_report *r,
                     const char *metrics)
{
    struct event_follower *f = find_progress(y, job);
    if (!f)
        return;
    struct str data = {0}, members = {0};
    str_add(&members, "{");
    record_add_members(&progress_report_record, r, &members);
    if (metrics)
        str_addf(&members, "%s\"metrics\":%s", members.n > 1 ? "," : "", metrics);
    str_add(&members, "}");
    events_write(&data, 0, at, job, "job.progress", members.at);
    /* A slow follower misses some; each report is complete by itself. */
    for (; f; f = f->next)
        if (f->progress && follows_job(f, job))
            (void)send_event(f, 0, "job.progress", data.at);
    str_done(&data);
    str_done(&members);
}

/* ---- init and done --------------------------------------------------------- */

static int take_newest(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                       const char *json, struct err *err)
{
    (void)at;
    (void)job;
    (void)kind;
    (void)json;
    (void)err;
    *(int64_t *)ctx = seq;
    return 1;
}

void events_init(struct yard *y)
{
    struct followers *all = xcalloc(1, sizeof *all);
    struct err err;
    if (store_event_latest(y->store, 0, 1, take_newest, &all->newest, &err) < 0)
        log_warning("cannot read events: %s", err.text);
    all->committed = all->newest;
    y->followers = all;
}

void events_done(struct yard *y)
{
    struct followers *all = y->followers;
    for (struct event_follower *f = all->events, *next; f; f = next) {
        next = f->next;
        stream_end(f->stream);
        free(f);
    }
    log_follow_done(y);
    drop_news(all);
    VEC_DONE(&all->news);
    free(all);
    y->followers = NULL;
}
