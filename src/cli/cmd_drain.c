/* trainyard drain NODE...: starts no more jobs there. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/member.h"
#include "cli/screen_text.h"
#include "cli/server_link.h"
#include "cli/wire_out.h"
#include "http/url.h"

static int drain(const struct args *args, struct server_link *l, const char *name, struct err *err)
{
    json_auto_t *node = NULL, *body = json_object();
    struct str path = {0}, out = {0};
    str_add(&path, "/nodes/");
    url_add_escaped(&path, name);
    str_add(&path, args_get(args, "undo") ? "/undrain" : "/drain");
    int rc = server_link_call(l, "POST", path.at, body, &node, err);
    str_done(&path);
    if (rc < 0)
        return -1;
    if (args_get(args, "json")) {
        wire_out_line(node, &out);
    } else if (!args_get(args, "quiet")) {
        str_add(&out, "Node ");
        screen_add(&out, member_text(node, "name"));
        str_add(&out, ": ");
        screen_add(&out, member_text(node, "state"));
        size_t jobs = json_array_size(json_object_get(node, "jobs"));
        str_addf(&out, ", %zu %s\n", jobs, jobs == 1 ? "job" : "jobs");
    }
    fputs(out.at ? out.at : "", stdout);
    str_done(&out);
    return 0;
}

static int run(const struct args *args)
{
    AUTO_LINK struct server_link link = {0};
    struct err err;
    if (server_link_open(args, NULL, &link, &err) < 0)
        return command_fail(args->command, &err);
    for (size_t i = 0; i < args->operands.n; i++)
        if (drain(args, &link, args->operands.at[i], &err) < 0)
            return command_fail(args->command, &err);
    return 0;
}

static const struct option options[] = {
    {"undo", 'u', NULL, "let jobs start there again", false},
    OPTION_JSON("print the nodes, one object per line"),
    OPTION_QUIET("print nothing on success"),
    OPTION_SERVER,
    {},
};

const struct command command_drain = {
    .name = "drain",
    .summary = "Start no more jobs on a node",
    .operands = "NODE...",
    .details = "Jobs that run there are not stopped.",
    .options = options,
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .completes = "NODE",
    .run = run,
};
