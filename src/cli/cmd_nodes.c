/* trainyard nodes [NODE...]: lists the machines that jobs run on. */
#include "cli/commands.h"
#include "cli/member.h"
#include "cli/node_grid.h"
#include "cli/screen_text.h"
#include "cli/watch.h"
#include "cli/wire_out.h"
#include "http/url.h"

enum { BAR = 10 };

/* All nodes, or those that were given. */
static int get_nodes(const struct args *args, struct server_link *l, json_t *out, struct err *err)
{
    if (args->operands.n == 0) {
        json_auto_t *answer = NULL;
        if (server_link_get(l, "/nodes", &answer, err) < 0)
            return -1;
        json_array_extend(out, json_object_get(answer, "nodes"));
        return 0;
    }
    for (size_t i = 0; i < args->operands.n; i++) {
        json_t *node = NULL;
        struct str path = {0};
        str_add(&path, "/nodes/");
        url_add_escaped(&path, args->operands.at[i]);
        int rc = server_link_get(l, path.at, &node, err);
        str_done(&path);
        if (rc < 0)
            return -1;
        json_array_append_new(out, node);
    }
    return 0;
}

static void add_names(const json_t *nodes, struct str *out)
{
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        screen_add(out, member_text(json_array_get(nodes, i), "name"));
        str_add(out, "\n");
    }
}

static int draw(void *ctx, struct server_link *l, const struct watch_view *view, struct str *out,
                struct err *err)
{
    const struct args *args = ctx;
    struct grid_look shape = {.width = view->width, .colours = view->colours};
    json_auto_t *nodes = json_array();
    struct grid t;
    if (get_nodes(args, l, nodes, err) < 0)
        return -1;
    if (args_get(args, "json")) {
        wire_out_lines(nodes, out);
    } else if (args_get(args, "quiet")) {
        add_names(nodes, out);
    } else {
        node_grid_fill(nodes, view->terminal ? BAR : 0, &t);
        grid_draw(&t, &shape, out);
        grid_done(&t);
    }
    return 0;
}

static int run(const struct args *args)
{
    return watch_run(args, draw, (void *)args);
}

static const struct option options[] = {
    OPTION_WATCH_OPERANDS,
    OPTION_JSON("print one object per line"),
    OPTION_QUIET("print only the names"),
    OPTION_SERVER,
    {},
};

const struct command command_nodes = {
    .name = "nodes",
    .summary = "List the machines that jobs run on",
    .operands = "[NODE...]",
    .options = options,
    .max_operands = OPERANDS_ANY,
    .completes = "NODE",
    .run = run,
};
