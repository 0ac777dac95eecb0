/* trainyard nodes [NODE...]: lists the machines that jobs run on; adds and removes them. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/member.h"
#include "cli/node_grid.h"
#include "cli/screen_text.h"
#include "cli/server_link.h"
#include "cli/watch.h"
#include "cli/wire_out.h"
#include "http/url.h"
#include "wire/value.h"

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

/* ---- adding and removing ------------------------------------------------------------ */

static int add_size(const struct args *args, json_t *body, struct err *err)
{
    const char *cpus = args_get(args, "cpus"), *memory = args_get(args, "memory");
    double n;
    int64_t mb;
    if (cpus && str_parse_double(cpus, 0.001, 65536, &n, err) < 0)
        return err_prefix(err, "--cpus");
    if (cpus)
        json_object_set_new(body, "cpus", json_real(n));
    if (memory && value_memory(memory, &mb, err) < 0)
        return err_prefix(err, "--memory");
    if (memory)
        json_object_set_new(body, "memory_mb", json_integer((json_int_t)mb));
    return 0;
}

/* "4:a100" */
static int add_gpus(const struct args *args, json_t *body, struct err *err)
{
    const char *gpus = args_get(args, "gpus"), *colon = gpus ? strchr(gpus, ':') : NULL;
    int64_t n;
    if (!gpus)
        return 0;
    AUTO_FREE char *count = colon ? xstrndup(gpus, (size_t)(colon - gpus)) : xstrdup(gpus);
    if (str_parse_int(count, 1, 1024, &n, err) < 0)
        return err_prefix(err, "--gpus");
    json_object_set_new(body, "gpus", json_integer((json_int_t)n));
    json_object_set_new(body, "gpu_type", json_string(colon && colon[1] ? colon + 1 : "gpu"));
    return 0;
}

static int print_change(const struct args *args, const json_t *node, const char *what)
{
    struct str out = {0};
    if (args_get(args, "json")) {
        wire_out_line(node, &out);
    } else if (!args_get(args, "quiet")) {
        str_add(&out, "Node ");
        screen_add(&out, member_text(node, "name"));
        str_addf(&out, " %s\n", what);
    }
    fputs(out.at ? out.at : "", stdout);
    str_done(&out);
    return 0;
}

static int add_node(const struct args *args, struct server_link *l, struct err *err)
{
    const char *docker = args_get(args, "docker"), *tls = args_get(args, "tls");
    json_auto_t *node = NULL, *body = json_object();
    if (args->operands.n != 2 || !docker)
        return err_set(err, ERR_INVALID, "usage: trainyard nodes add NAME --docker ADDRESS");
    json_object_set_new(body, "name", json_string(args->operands.at[1]));
    json_object_set_new(body, "docker", json_string(docker));
    if (tls)
        json_object_set_new(body, "tls", json_string(tls));
    if (add_size(args, body, err) < 0 || add_gpus(args, body, err) < 0 ||
        server_link_call(l, "POST", "/nodes", body, &node, err) < 0)
        return -1;
    return print_change(args, node, "added");
}

static int remove_nodes(const struct args *args, struct server_link *l, struct err *err)
{
    if (args->operands.n < 2)
        return err_set(err, ERR_INVALID, "usage: trainyard nodes remove NAME...");
    for (size_t i = 1; i < args->operands.n; i++) {
        json_auto_t *node = NULL;
        struct str path = {0};
        str_add(&path, "/nodes/");
        url_add_escaped(&path, args->operands.at[i]);
        int rc = server_link_call(l, "DELETE", path.at, NULL, &node, err);
        str_done(&path);
        if (rc < 0)
            return -1;
        print_change(args, node, "removed");
    }
    return 0;
}

static int run(const struct args *args)
{
    const char *verb = args->operands.n ? args->operands.at[0] : "";
    bool adds = !strcmp(verb, "add");
    AUTO_LINK struct server_link link = {0};
    struct err err;
    if (!adds && strcmp(verb, "remove") != 0)
        return watch_run(args, draw, (void *)args);
    if (server_link_open(args, NULL, &link, &err) < 0 ||
        (adds ? add_node(args, &link, &err) : remove_nodes(args, &link, &err)) < 0)
        return command_fail(args->command, &err);
    return 0;
}

static const struct option options[] = {
    {"docker", 0, "ADDRESS",
     "with add: its container engine, as unix:///PATH, tcp://HOST:PORT, ssh://[USER@]HOST, "
     "context:NAME or default",
     false},
    {"tls", 0, "DIR", "with add: directory of ca.pem, cert.pem and key.pem, for tcp", false},
    {"cpus", 'c', "N", "with add: CPUs to use (default: all)", false},
    {"memory", 'm', "SIZE", "with add: memory to use, such as 64g (default: all)", false},
    {"gpus", 'g', "N:TYPE", "with add: its GPUs, such as 4:a100 (default: none)", false},
    OPTION_WATCH_OPERANDS,
    OPTION_JSON("print one object per line"),
    OPTION_QUIET("print only the names"),
    OPTION_SERVER,
    {},
};

const struct command command_nodes = {
    .name = "nodes",
    .summary = "List, add and remove the machines that jobs run on",
    .operands = "[NODE... | add NAME | remove NAME...]",
    .details =
        "`nodes add` adds a machine that has a container engine; jobs that name an image run "
        "there. It is kept when the server restarts. `nodes remove` removes one that was "
        "added, once no job is there.",
    .examples = "  trainyard nodes add gpu1 --docker ssh://me@gpu1 --gpus 4:a100\n"
                "  trainyard nodes add here --docker default --cpus 8 --memory 32g\n"
                "  trainyard nodes remove gpu1",
    .options = options,
    .max_operands = OPERANDS_ANY,
    .completes = "NODE",
    .run = run,
};
