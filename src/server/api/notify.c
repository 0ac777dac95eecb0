/* Owns the endpoints for the targets of notifications. Users have their own; an admin can have
 * some for everybody's jobs. */
#include <string.h>

#include "server/api/call.h"
#include "server/api/parts.h"
#include "store/notices.h"
#include "wire/notice.h"

struct target_view {
    int64_t id;
    const char *user, *target;
    json_t *on;
    bool is_signed;
};

static const struct api_member target_members[] = {
    API_INTEGER(target_view, id, "Number of the target"),
    API_STRING(target_view, user, "User whose jobs it is told about; * = everybody's"),
    API_STRING(target_view, target, "Where messages go; of a URL only the host is shown"),
    API_JSON(target_view, on, "string[]", "Events that it is told"),
    API_BOOLEAN(target_view, is_signed, "Whether messages are signed"),
    {0},
};

static const struct api_schema target_schema = {"NoticeTarget", .members = target_members};

static json_t *print_target(const struct target_row *row)
{
    struct str shown = {0};
    struct target_view v = {row->id, row->user, NULL, json_array(), *row->secret != '\0'};
    notice_target_show(row->target, &shown);
    for (unsigned bit = 1; bit <= NOTICE_NODE; bit <<= 1)
        if ((unsigned)row->events & bit)
            json_array_append_new(v.on, json_string(notice_event_name(bit)));
    v.target = shown.at ? shown.at : "";
    json_t *target = api_print(&target_schema, &v);
    str_done(&shown);
    return target;
}

/* ---- listing --------------------------------------------------------------- */

static const struct api_member list_members[] = {
    API_MEMBER("targets", "NoticeTarget[]", "In the order in which they were added"),
    {0},
};
static const struct api_schema list_schema = {"NoticeTargetList", .members = list_members};

static int add_target(void *ctx, const struct target_row *row, struct err *err)
{
    (void)err;
    json_array_append_new(ctx, print_target(row));
    return 0;
}

static void list_targets(const struct api_call *c)
{
    char user[ACCESS_USER];
    json_t *list = json_array();
    struct err err;
    access_user(c->request, user, sizeof user);
    if (store_target_list(c->yard->store, c->role == ROLE_ADMIN ? NULL : user, add_target, list,
                          &err) < 0) {
        json_decref(list);
        reply_problem(c->reply, &err, NULL);
        return;
    }
    reply_json(c->reply, 200, json_pack("{s:o}", "targets", list));
}

/* ---- adding ---------------------------------------------------------------- */

static const struct api_member request_members[] = {
    API_MEMBER("target", "string",
               "webhook:URL, slack:URL, ntfy:URL, command:LINE or mail:ADDRESS"),
    API_MEMBER(
        "on", "?string",
        "Events, separated by commas, or all; by default all but start. They are " NOTICE_WORDS),
    API_MEMBER("secret", "?string", "Signs messages to a webhook"),
    API_MEMBER("user", "?string", "Whose jobs; for admins: another user, or * for everybody"),
    {0},
};
static const struct api_schema request_schema = {"NoticeTargetRequest", .members = request_members};

static void add_one(const struct api_call *c)
{
    char user[ACCESS_USER];
    unsigned events = NOTICE_DEFAULT;
    const char *target = json_string_value(json_object_get(c->body, "target"));
    const char *on = json_string_value(json_object_get(c->body, "on"));
    const char *secret = json_string_value(json_object_get(c->body, "secret"));
    const char *whose = json_string_value(json_object_get(c->body, "user"));
    struct notice_target parsed;
    struct err err;
    access_user(c->request, user, sizeof user);
    if (notice_target_parse(target, &parsed, &err) < 0) {
        api_refuse(c, "target", err.text);
    } else if (on && notice_events_parse(on, &events, &err) < 0) {
        api_refuse(c, "on", err.text);
    } else if (api_may_change(c, whose ? whose : user, "the target")) {
        struct target_row row = {.user = whose ? whose : user,
                                 .target = target,
                                 .secret = secret ? secret : "",
                                 .events = events};
        if (store_target_add(c->yard->store, &row, &row.id, &err) < 0)
            reply_problem(c->reply, &err, NULL);
        else
            turn_reply(c->yard, c->reply, 201, print_target(&row));
    }
}

/* ---- removing and trying --------------------------------------------------- */

struct found_target {
    const struct api_call *call;
    int64_t id;
    bool tries;   /* sends a message; otherwise removes it */
    json_t *view; /* NULL = not found */
    bool refused;
};

static int act_on(void *ctx, const struct target_row *row, struct err *err)
{
    struct found_target *f = ctx;
    const struct api_call *c = f->call;
    if (row->id != f->id)
        return 0;
    if (!api_may_change(c, row->user, "the target")) {
        f->refused = true;
        return 1;
    }
    f->view = print_target(row);
    if (f->tries && notices_test(c->yard, row, err) < 0)
        return -1;
    return 1;
}

static void act_on_target(const struct api_call *c, bool tries)
{
    struct found_target f = {.call = c, .tries = tries};
    struct err err;
    int rc = str_parse_int(request_param(c->request, "target"), 1, INT64_MAX, &f.id, &err);
    if (rc == 0)
        rc = store_target_list(c->yard->store, NULL, act_on, &f, &err);
    json_auto_t *view = f.view;
    if (f.refused)
        return;
    if (rc == 0 && !view)
        rc = err_set(&err, ERR_NOT_FOUND, "no target %lld; `trainyard notify` lists them",
                     (long long)f.id);
    if (rc == 0 && !tries)
        rc = store_target_delete(c->yard->store, f.id, &err);
    if (rc < 0)
        reply_problem(c->reply, &err, NULL);
    else
        turn_reply(c->yard, c->reply, 200, json_incref(view));
}

static void remove_one(const struct api_call *c)
{
    act_on_target(c, false);
}

static void try_one(const struct api_call *c)
{
    act_on_target(c, true);
}

/* ---- endpoints ------------------------------------------------------------- */

static const struct api_schema *const schemas[] = {&target_schema, &list_schema, &request_schema,
                                                   NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "notify_list",
        .method = "GET",
        .path = API_V1 "/notify",
        .handle = list_targets,
        .summary = "List the targets of your notifications",
        .description = "Admins see those of all users.",
        .replies = {{200, "NoticeTargetList", "The targets"}},
    },
    {
        .name = "notify_add",
        .method = "POST",
        .path = API_V1 "/notify",
        .handle = add_one,
        .summary = "Be told what happens to your jobs",
        .description = "Messages are delivered at least once, and tried again for a day.",
        .body = "NoticeTargetRequest",
        .body_example = "{\"target\":\"ntfy:https://ntfy.sh/my-topic\",\"on\":\"end,fail\"}",
        .replies = {{201, "NoticeTarget", "The target"}},
    },
    {
        .name = "notify_remove",
        .method = "DELETE",
        .path = API_V1 "/notify/{target}",
        .handle = remove_one,
        .summary = "Remove a target",
        .description = "Messages that are under way are still delivered.",
        .replies = {{200, "NoticeTarget", "The target that was removed"}},
        .errors = {404},
    },
    {
        .name = "notify_test",
        .method = "POST",
        .path = API_V1 "/notify/{target}/test",
        .handle = try_one,
        .summary = "Send a test message",
        .description = "The server's log says whether it was delivered.",
        .body = "Nothing",
        .body_optional = true,
        .replies = {{200, "NoticeTarget", "The target"}},
        .errors = {404},
    },
    {0},
};

const struct api_part api_part_notify = {"Access", endpoints, schemas};
