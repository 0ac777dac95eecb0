/* trainyard notify: manages notification targets. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/grid.h"
#include "cli/member.h"
#include "cli/server_link.h"
#include "cli/terminal.h"
#include "cli/wire_out.h"
#include "http/url.h"
#include "wire/notice.h"

static const struct grid_column columns[] = {
    {"ID", true, 0, 0}, {"USER", false, 8, 0}, {"TARGET", false, 12, 0}, {"ON", false, 10, 0}};

static void draw_targets(const json_t *targets, struct str *out)
{
    struct grid_look look = {.width = terminal_width(stdout), .colours = colour_wanted(stdout)};
    struct grid t;
    grid_init(&t, columns, COUNT_OF(columns));
    for (size_t i = 0; i < json_array_size(targets); i++) {
        const json_t *target = json_array_get(targets, i), *on = json_object_get(target, "on");
        struct str events = {0};
        for (size_t k = 0; k < json_array_size(on); k++)
            str_addf(&events, "%s%s", k ? "," : "", json_string_value(json_array_get(on, k)));
        grid_addf(&t, COLOUR_NONE, "%lld",
                  (long long)json_integer_value(json_object_get(target, "id")));
        grid_add(&t, COLOUR_NONE, member_text(target, "user"));
        grid_add(&t, COLOUR_NONE, member_text(target, "target"));
        grid_add(&t, COLOUR_NONE, events.at ? events.at : "");
        str_done(&events);
    }
    grid_draw(&t, &look, out);
    grid_done(&t);
}

static int list_targets(const struct args *args, struct server_link *l, struct err *err)
{
    json_auto_t *reply = NULL;
    struct str out = {0};
    if (server_link_get(l, "/notify", &reply, err) < 0)
        return -1;
    const json_t *targets = json_object_get(reply, "targets");
    if (args_get(args, "json"))
        wire_out_lines(targets, &out);
    else
        draw_targets(targets, &out);
    fputs(out.at ? out.at : "", stdout);
    str_done(&out);
    return 0;
}

static void print_done(const struct args *args, const json_t *target, const char *what)
{
    struct str out = {0};
    if (args_get(args, "json"))
        wire_out_line(target, &out);
    else if (!args_get(args, "quiet"))
        str_addf(&out, "Target %lld (%s) %s\n",
                 (long long)json_integer_value(json_object_get(target, "id")),
                 member_text(target, "target"), what);
    fputs(out.at ? out.at : "", stdout);
    str_done(&out);
}

static int add_target(const struct args *args, struct server_link *l, struct err *err)
{
    static const char *const members[] = {"on", "secret", "user"};
    json_auto_t *body = json_object(), *reply = NULL;
    if (args->operands.n != 2)
        return err_set(err, ERR_INVALID, "usage: trainyard notify add TARGET");
    json_object_set_new(body, "target", json_string(args->operands.at[1]));
    for (size_t i = 0; i < COUNT_OF(members); i++)
        if (args_get(args, members[i]))
            json_object_set_new(body, members[i], json_string(args_get(args, members[i])));
    if (server_link_call(l, "POST", "/notify", body, &reply, err) < 0)
        return -1;
    print_done(args, reply, "added");
    return 0;
}

static int act_on_targets(const struct args *args, struct server_link *l, bool tries,
                          struct err *err)
{
    if (args->operands.n < 2)
        return err_set(err, ERR_INVALID, "usage: trainyard notify %s ID...",
                       tries ? "test" : "remove");
    for (size_t i = 1; i < args->operands.n; i++) {
        json_auto_t *reply = NULL;
        struct str path = {0};
        str_add(&path, "/notify/");
        url_add_escaped(&path, args->operands.at[i]);
        str_add(&path, tries ? "/test" : "");
        int rc = server_link_call(l, tries ? "POST" : "DELETE", path.at, NULL, &reply, err);
        str_done(&path);
        if (rc < 0)
            return -1;
        print_done(args, reply, tries ? "gets a test message" : "removed");
    }
    return 0;
}

static int run(const struct args *args)
{
    const char *verb = args->operands.n ? args->operands.at[0] : "list";
    AUTO_LINK struct server_link link = {0};
    struct err err;
    int rc = server_link_open(args, NULL, &link, &err);
    if (rc == 0 && !strcmp(verb, "list"))
        rc = list_targets(args, &link, &err);
    else if (rc == 0 && !strcmp(verb, "add"))
        rc = add_target(args, &link, &err);
    else if (rc == 0 && (!strcmp(verb, "remove") || !strcmp(verb, "test")))
        rc = act_on_targets(args, &link, !strcmp(verb, "test"), &err);
    else if (rc == 0)
        rc = err_set(&err, ERR_INVALID,
                     "unknown action '%.60s'; expected list, add, remove or test", verb);
    return rc < 0 ? command_fail(args->command, &err) : 0;
}

static const struct option options[] = {
    {"on", 0, "EVENTS", "with add: some of " NOTICE_WORDS ", or all (default: all but start)",
     false},
    {"secret", 0, "TEXT", "with add: key that signs messages to a webhook", false},
    {"user", 0, "USER", "with add: whose jobs; * for everybody's (admins only)", false},
    OPTION_JSON("print one object per line"),
    OPTION_QUIET("print nothing on success"),
    OPTION_SERVER,
    {},
};

const struct command command_notify = {
    .name = "notify",
    .summary = "Get notified when jobs end, fail, stall or are at risk",
    .operands = "[list | add TARGET | remove ID... | test ID...]",
    .details =
        "TARGET is mail:ADDRESS, webhook:URL, slack:URL, ntfy:URL or command:LINE. A webhook gets "
        "the message as JSON, a command gets it on its stdin. For a single job, use `submit "
        "--notify TARGET --notify-on EVENTS`.",
    .examples = "  trainyard notify add ntfy:https://ntfy.sh/my-topic --on end,fail\n"
                "  trainyard notify add webhook:https://example.org/hook --secret s3cret\n"
                "  trainyard notify test 1",
    .options = options,
    .max_operands = OPERANDS_ANY,
    .completes = "list|add|remove|test",
    .run = run,
};
