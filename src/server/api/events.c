/* Owns the endpoints for events, as a list or a stream, and for decisions. */
#include <string.h>

#include "base/str.h"
#include "server/api/call.h"
#include "server/api/parts.h"
#include "server/events.h"
#include "server/followers.h"
#include "store/events.h"
#include "store/journal.h"

/* ---- events ---------------------------------------------------------------- */

enum { EVENTS_AFTER, EVENTS_JOB, EVENTS_LIMIT, EVENTS_FOLLOW, EVENTS_PROGRESS };

static const struct api_query events_query[] = {
    [EVENTS_AFTER] =
        {"after", QUERY_INTEGER,
         .help = "Only events after this `seq`; by default all stored events, or for a stream "
                 "new events only",
         .max = INT64_MAX},
    [EVENTS_JOB] = {"job", QUERY_JOB, .help = "Only events of this job"},
    [EVENTS_LIMIT] = {"limit", QUERY_INTEGER, .help = "At most this many", .min = 1, .max = 1000,
                      .fallback = 100},
    [EVENTS_FOLLOW] = {"follow", QUERY_FLAG,
                       .help = "Reply with a stream of server-sent events, as for `Accept: "
                               "text/event-stream`"},
    [EVENTS_PROGRESS] = {"progress", QUERY_FLAG,
                         .help = "Add job.progress events, which are not stored and have no id"},
    {0},
};

static const struct api_member event_members[] = {
    API_MEMBER("seq", "?integer", "Grows with each event; job.progress has none"),
    API_MEMBER("at", "number", "When it happened"),
    API_MEMBER("kind", "string", "job.submitted, job.started, job.ended, ..."),
    API_MEMBER("job", "integer|null", "Id of the job that it is about"),
    {0},
};

static const struct api_schema event_schema = {"Event", API_OPEN, .members = event_members};

static const struct api_member list_members[] = {
    API_MEMBER("events", "Event[]", "Oldest first"),
    {0},
};

static const struct api_schema list_schema = {"EventList", .members = list_members};

static int add_event(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                     const char *json, struct err *err)
{
    struct str text = {0};
    events_write(&text, seq, at, job, kind, json);
    json_t *event = json_loads(text.at, 0, NULL);
    str_done(&text);
    if (!event)
        return err_set(err, ERR_INTERNAL, "event %lld is not valid JSON", (long long)seq);
    json_array_append_new(ctx, event);
    return 0;
}

static void list_events(const struct api_call *c)
{
    const struct api_value *q = c->query;
    struct err err;
    json_t *list = json_array();
    if (store_event_list(c->yard->store, q[EVENTS_AFTER].number, q[EVENTS_JOB].number,
                         (uint32_t)q[EVENTS_LIMIT].number, add_event, list, &err) < 0) {
        json_decref(list);
        reply_problem(c->reply, &err, NULL);
        return;
    }
    turn_reply(c->yard, c->reply, 200, json_pack("{s:o}", "events", list));
}

/* Continues after the last event that the client has seen. */
static void follow_events(const struct api_call *c)
{
    const struct api_value *q = c->query;
    const char *seen = request_header(c->request, "Last-Event-ID");
    int64_t after = q[EVENTS_AFTER].given ? q[EVENTS_AFTER].number : -1;
    struct err err;
    if (seen && *seen && str_parse_int(seen, 0, INT64_MAX, &after, &err) < 0) {
        err_prefix(&err, "Last-Event-ID");
        reply_problem(c->reply, &err, "Last-Event-ID");
        return;
    }
    events_follow(c->yard, c->reply, after, q[EVENTS_JOB].number, q[EVENTS_PROGRESS].number);
}

static void show_events(const struct api_call *c)
{
    const struct api_value *q = c->query;
    const char *accept = request_header(c->request, "Accept");
    bool follow = q[EVENTS_FOLLOW].given ? q[EVENTS_FOLLOW].number
                                         : accept && strstr(accept, "text/event-stream");
    if (!follow && q[EVENTS_PROGRESS].given)
        api_refuse(c, "progress", "only allowed with follow=1");
    else if (follow && q[EVENTS_LIMIT].given)
        api_refuse(c, "limit", "not allowed with follow");
    else if (follow)
        follow_events(c);
    else
        list_events(c);
}

/* ---- decisions ------------------------------------------------------------- */

enum { DECISIONS_LIMIT };

static const struct api_query decisions_query[] = {
    [DECISIONS_LIMIT] = {"limit", QUERY_INTEGER, .help = "At most this many", .min = 1, .max = 1000,
                         .fallback = 20},
    {0},
};

struct decision_view {
    json_t *n;
    double at;
    json_t *plan;
};

static const struct api_member decision_members[] = {
    API_JSON(decision_view, n, "integer|null", "Number since the server started"),
    API_NUMBER_OR_NULL(decision_view, at, "When it was made"),
    API_JSON(decision_view, plan, "object", "What was decided, why, and what was done"),
    {0},
};

static const struct api_schema decision_schema = {"Decision", .members = decision_members};

static const struct api_member decision_list_members[] = {
    API_MEMBER("decisions", "Decision[]", "Newest first"),
    {0},
};

static const struct api_schema decision_list_schema = {"DecisionList",
                                                       .members = decision_list_members};

static int add_decision(void *ctx, int64_t seq, int64_t boot, const char *kind, const char *data,
                        struct err *err)
{
    (void)boot;
    (void)kind;
    json_t *plan = json_loads(data, 0, NULL);
    if (!plan)
        return err_set(err, ERR_INTERNAL, "row %lld of the journal is not valid JSON",
                       (long long)seq);
    usec_t at = json_integer_value(json_object_get(plan, "now"));
    struct decision_view v = {json_incref(json_object_get(plan, "n")), api_seconds(at), plan};
    json_array_append_new(ctx, api_print(&decision_schema, &v));
    return 0;
}

static void list_decisions(const struct api_call *c)
{
    uint32_t limit = (uint32_t)c->query[DECISIONS_LIMIT].number;
    struct err err;
    json_t *list = json_array();
    if (store_journal_latest(c->yard->store, "plan", limit, add_decision, list, &err) < 0) {
        json_decref(list);
        reply_problem(c->reply, &err, NULL);
        return;
    }
    turn_reply(c->yard, c->reply, 200, json_pack("{s:o}", "decisions", list));
}

/* ---- endpoints ------------------------------------------------------------- */

static const struct api_schema *const schemas[] = {&event_schema, &list_schema, &decision_schema,
                                                   &decision_list_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "events",
        .method = "GET",
        .path = API_V1 "/events",
        .handle = show_events,
        .summary = "List or follow events",
        .description = "A stream continues after the header Last-Event-ID. Every event is sent "
                       "exactly once; a slow client receives events later.",
        .query = events_query,
        .replies = {{200, "EventList", "The events"}, {200, "text/event-stream", "The stream"}},
    },
    {
        .name = "decisions",
        .method = "GET",
        .path = API_V1 "/decisions",
        .handle = list_decisions,
        .summary = "List the last decisions of the policy",
        .description =
            "Each decision has its plan: which job holds what, where and why, and what was done.",
        .query = decisions_query,
        .replies = {{200, "DecisionList", "The decisions"}},
    },
    {0},
};

const struct api_part api_part_events = {"Events", endpoints, schemas};
