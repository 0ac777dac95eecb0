/* trainyard token: lists, makes and revokes the tokens of clients over TCP. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/grid.h"
#include "cli/job_text.h"
#include "cli/member.h"
#include "cli/server_link.h"
#include "cli/terminal.h"
#include "cli/wire_out.h"
#include "http/url.h"

static const struct grid_column columns[] = {
    {"NAME", false, 8, 0},    {"USER", false, 8, 0},    {"ROLE", false, 0, 0},
    {"CREATED", false, 0, 2}, {"EXPIRES", false, 0, 0}, {"USED", false, 0, 1},
};

static void print(struct str *out)
{
    fputs(out->at ? out->at : "", stdout);
    str_done(out);
}

/* ---- listing --------------------------------------------------------------- */

static void add_when(struct grid *t, const json_t *token, const char *name, usec_t now)
{
    char buf[JOB_TEXT_SIZE];
    double at = member_number(token, name);
    bool over = !strcmp(name, "expires") && at < time_seconds(now);
    grid_add(t, over ? COLOUR_RED : COLOUR_NONE, at > 0 ? job_text_when(at, now, buf) : "never");
}

static void draw_tokens(const json_t *tokens, struct str *out)
{
    struct grid_look look = {.width = terminal_width(stdout), .colours = colour_wanted(stdout)};
    usec_t now = clock_read_wall();
    struct grid t;
    grid_init(&t, columns, COUNT_OF(columns));
    for (size_t i = 0; i < json_array_size(tokens); i++) {
        const json_t *token = json_array_get(tokens, i);
        grid_add(&t, COLOUR_NONE, member_text(token, "name"));
        grid_add(&t, COLOUR_NONE, member_text(token, "user"));
        grid_add(&t, COLOUR_NONE, member_text(token, "role"));
        add_when(&t, token, "created", now);
        add_when(&t, token, "expires", now);
        add_when(&t, token, "used", now);
    }
    grid_draw(&t, &look, out);
    grid_done(&t);
}

static int list_tokens(const struct args *args, struct server_link *l, struct err *err)
{
    json_auto_t *reply = NULL;
    struct str out = {0};
    if (server_link_get(l, "/tokens", &reply, err) < 0)
        return -1;
    const json_t *tokens = json_object_get(reply, "tokens");
    if (args_get(args, "json"))
        wire_out_lines(tokens, &out);
    else if (!args_get(args, "quiet"))
        draw_tokens(tokens, &out);
    for (size_t i = 0; args_get(args, "quiet") && i < json_array_size(tokens); i++)
        str_addf(&out, "%s\n", member_text(json_array_get(tokens, i), "name"));
    print(&out);
    return 0;
}

/* ---- making and revoking --------------------------------------------------- */

static int create_token(const struct args *args, struct server_link *l, struct err *err)
{
    static const char *const members[] = {"name", "role", "user", "expires"};
    json_auto_t *body = json_object(), *reply = NULL;
    struct str out = {0};
    if (args->operands.n != 1 || !args_get(args, "name") || !args_get(args, "role"))
        return err_set(err, ERR_INVALID,
                       "usage: trainyard token create --name NAME --role viewer|user|admin");
    for (size_t i = 0; i < COUNT_OF(members); i++)
        if (args_get(args, members[i]))
            json_object_set_new(body, members[i], json_string(args_get(args, members[i])));
    if (server_link_call(l, "POST", "/tokens", body, &reply, err) < 0)
        return -1;
    if (args_get(args, "json"))
        wire_out_line(reply, &out);
    else
        str_addf(&out, "%s\n", member_text(reply, "token"));
    print(&out);
    if (!args_get(args, "json") && !args_get(args, "quiet"))
        fprintf(stderr, "This is the token; it is not shown again. Clients read it from "
                        "TRAINYARD_TOKEN.\n");
    return 0;
}

static int revoke_tokens(const struct args *args, struct server_link *l, struct err *err)
{
    if (args->operands.n < 2)
        return err_set(err, ERR_INVALID, "usage: trainyard token revoke NAME...");
    for (size_t i = 1; i < args->operands.n; i++) {
        json_auto_t *reply = NULL;
        struct str path = {0}, out = {0};
        str_add(&path, "/tokens/");
        url_add_escaped(&path, args->operands.at[i]);
        int rc = server_link_call(l, "DELETE", path.at, NULL, &reply, err);
        str_done(&path);
        if (rc < 0)
            return -1;
        if (args_get(args, "json"))
            wire_out_line(reply, &out);
        else if (!args_get(args, "quiet"))
            str_addf(&out, "Token %s revoked\n", member_text(reply, "name"));
        print(&out);
    }
    return 0;
}

static int run(const struct args *args)
{
    const char *verb = args->operands.n ? args->operands.at[0] : "list";
    AUTO_LINK struct server_link link = {0};
    struct err err;
    int (*act)(const struct args *, struct server_link *, struct err *) =
        !strcmp(verb, "list")     ? list_tokens
        : !strcmp(verb, "create") ? create_token
        : !strcmp(verb, "revoke") ? revoke_tokens
                                  : NULL;
    if (!act) {
        err_set(&err, ERR_INVALID, "unknown action '%.60s'; expected list, create or revoke", verb);
        return command_fail(args->command, &err);
    }
    if (server_link_open(args, NULL, &link, &err) < 0 || act(args, &link, &err) < 0)
        return command_fail(args->command, &err);
    return 0;
}

static const struct option options[] = {
    {"name", 0, "NAME", "with create: its name, by which it is revoked", false},
    {"role", 0, "viewer|user|admin", "with create: what it may do", false},
    {"expires", 0, "T", "with create: how long it lasts, such as 90d (default: it never expires)",
     false},
    {"user", 0, "USER", "with create: on whose behalf it acts (default: you)", false},
    OPTION_JSON("print one object per line"),
    OPTION_QUIET("print only the token, or only names"),
    OPTION_SERVER,
    {},
};

const struct command command_token = {
    .name = "token",
    .summary = "List, create and revoke tokens for clients over TCP",
    .operands = "[list | create | revoke NAME...]",
    .details =
        "A viewer sees everything, a user also submits jobs and changes its own, an admin may do "
        "everything. The server keeps only a hash of a token, so `token create` is the only "
        "command that shows it. Revoking a token also ends the logins of browsers that began with "
        "it.",
    .examples = "  trainyard token create --role user --name ci --expires 90d\n"
                "  trainyard token\n"
                "  trainyard token revoke ci",
    .options = options,
    .max_operands = OPERANDS_ANY,
    .completes = "list|create|revoke",
    .run = run,
};
