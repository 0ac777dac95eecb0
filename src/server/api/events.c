/* Owns what is told of the past: events, also those to come, and decisions. */
#include <string.h>

#include "base/str.h"
#include "server/api/handlers.h"
#include "server/api/job_view.h"
#include "server/events.h"
#include "server/followers.h"
#include "store/events.h"
#include "store/journal.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 1000 };

static void refuse(struct reply *r, const char *field, const char *text)
{
    struct err err;
    err_set(&err, ERR_INVALID, "%s: %s", field, text);
    reply_problem(r, &err, field);
}

/* ---- events ---------------------------------------------------------------- */

static int add_event(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                     const char *json, struct err *err)
{
    struct str text = {0};
    events_write(&text, seq, at, job, kind, json);
    json_t *event = json_loads(text.at, 0, NULL);
    str_done(&text);
    if (!event)
        return err_set(err, ERR_INTERNAL, "event %lld cannot be read", (long long)seq);
    json_array_append_new(ctx, event);
    return 0;
}

static void list_events(struct yard *y, struct reply *r, int64_t after, int64_t job, int64_t limit)
{
    struct err err;
    json_t *list = json_array();
    if (store_event_list(y->store, after, job, (uint32_t)limit, add_event, list, &err) < 0) {
        json_decref(list);
        reply_problem(r, &err, NULL);
        return;
    }
    turn_reply(y, r, 200, json_pack("{s:o}", "events", list));
}

struct events_asked {
    int64_t after; /* -1 = not said */
    int64_t job, limit;
    bool follow, progress;
};

static bool read_events(struct yard *y, const struct request *q, struct reply *r,
                        struct events_asked *a)
{
    const char *accept = request_header(q, "Accept"), *job = request_query(q, "job");
    struct err err;
    *a = (struct events_asked){.after = -1, .limit = LIST_DEFAULT};
    a->follow = accept && strstr(accept, "text/event-stream");
    if (!api_check_query(q, r) || !api_get_int(q, r, "after", 0, INT64_MAX, &a->after) ||
        !api_get_int(q, r, "limit", 1, LIST_MAX, &a->limit) ||
        !api_get_flag(q, r, "follow", &a->follow) || !api_get_flag(q, r, "progress", &a->progress))
        return false;
    if (job && yard_find(y, job, &a->job, &err) < 0) {
        reply_problem(r, &err, "job");
        return false;
    }
    return true;
}

void api_events(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    struct events_asked a;
    struct err err;
    if (!read_events(y, q, r, &a))
        return;
    if (!a.follow) {
        if (request_query(q, "progress"))
            refuse(r, "progress", "it is sent to followers only; add follow=1");
        else
            list_events(y, r, a.after < 0 ? 0 : a.after, a.job, a.limit);
        return;
    }
    if (request_query(q, "limit")) {
        refuse(r, "limit", "those who follow get all; leave it out");
        return;
    }
    const char *seen = request_header(q, "Last-Event-ID");
    if (seen && *seen && str_parse_int(seen, 0, INT64_MAX, &a.after, &err) < 0) {
        err_prefix(&err, "Last-Event-ID");
        reply_problem(r, &err, "Last-Event-ID");
        return;
    }
    events_follow(y, r, a.after, a.job, a.progress);
}

/* ---- decisions ------------------------------------------------------------- */

static int add_decision(void *ctx, int64_t seq, int64_t boot, const char *kind, const char *data,
                        struct err *err)
{
    (void)boot;
    (void)kind;
    json_t *plan = json_loads(data, 0, NULL);
    if (!plan)
        return err_set(err, ERR_INTERNAL, "row %lld of the journal cannot be read", (long long)seq);
    usec_t at = json_integer_value(json_object_get(plan, "now"));
    json_t *n = json_object_get(plan, "n");
    json_array_append_new(ctx, json_pack("{s:O, s:o, s:o}", "n", n ? n : json_null(), "at",
                                         job_view_time(at), "plan", plan));
    return 0;
}

void api_decisions(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    struct err err;
    int64_t limit = 20;
    if (!api_check_query(q, r) || !api_get_int(q, r, "limit", 1, LIST_MAX, &limit))
        return;
    json_t *list = json_array();
    if (store_journal_latest(y->store, "plan", (uint32_t)limit, add_decision, list, &err) < 0) {
        json_decref(list);
        reply_problem(r, &err, NULL);
        return;
    }
    turn_reply(y, r, 200, json_pack("{s:o}", "decisions", list));
}
