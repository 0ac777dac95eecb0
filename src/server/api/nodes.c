/* Owns the endpoints that show, drain, undrain, add and remove nodes. */
#include <stdarg.h>
#include <string.h>

#include "server/api/call.h"
#include "server/api/parts.h"
#include "server/engines.h"
#include "server/nodes.h"

struct node_view {
    const char *name, *state;
    double cpus, cpus_held, gpus, gpus_held;
    const char *gpu_type;
    int64_t memory_mb, memory_held_mb, memory_used_mb;
    json_t *jobs;
    const char *runtime, *notice;
};

static const char *const state_names[] = {
    [NODE_UP] = "up", [NODE_DRAINING] = "draining", [NODE_DOWN] = "down", [NODE_CLOSED] = "closed"};

static const struct api_member state_words[] = {
    API_MEMBER("", "up|draining|down|closed|suspect|lost", ""), {0}};
static const struct api_schema state_schema = {"NodeState", API_WORDS, .members = state_words};

static const struct api_member node_members[] = {
    API_STRING(node_view, name, "Name"),
    API_WORD(node_view, state, "NodeState",
             "State; no job starts on a node that is not up. A node is closed for a while after "
             "a failed start, draining after several in a row until one succeeds, suspect when it "
             "does not respond, and lost when that has lasted for a while"),
    API_NUMBER(node_view, cpus, "CPUs"),
    API_NUMBER(node_view, cpus_held, "CPUs that jobs hold"),
    API_NUMBER(node_view, gpus, "GPUs"),
    API_NUMBER(node_view, gpus_held, "GPUs that jobs hold"),
    API_STRING_OR_NULL(node_view, gpu_type, "Type of the GPUs"),
    API_INTEGER_OR_NULL(node_view, memory_mb, "Memory; null = not limited"),
    API_INTEGER(node_view, memory_held_mb, "Memory that jobs hold: their limits"),
    API_INTEGER(node_view, memory_used_mb, "Memory that jobs without a limit use, rounded up"),
    API_JSON(node_view, jobs, "integer[]", "Ids of the jobs that hold resources there"),
    API_STRING(node_view, runtime, "Runtime that runs jobs there"),
    API_STRING(node_view, notice, "Problems with the node, for its operator"),
    {0},
};

static const struct api_schema node_schema = {"Node", .members = node_members};

static const struct api_member list_members[] = {API_MEMBER("nodes", "Node[]", "All nodes"), {0}};
static const struct api_schema list_schema = {"NodeList", .members = list_members};

static json_t *jobs_on(const struct yard *y, const struct node *n)
{
    json_t *jobs = json_array();
    for (size_t i = 0; i < n->tasks.n; i++) {
        const struct live_job *j = yard_job_of_task(y, n->tasks.at[i]);
        if (j)
            json_array_append_new(jobs, json_integer(j->row.id));
    }
    return jobs;
}

static void __attribute__((format(printf, 2, 3))) add_notice(struct str *out, const char *fmt, ...)
{
    va_list args;
    str_add(out, out->n ? "; " : "");
    va_start(args, fmt);
    str_addv(out, fmt, args);
    va_end(args);
}

/* Adds problems with the node, for its operator. */
static void add_notices(const struct yard *y, uint32_t index, struct str *out)
{
    const struct yard_node *n = &y->nodes.at[index];
    const struct node *has = &y->cluster.nodes[index], *held = &y->engine.cluster.nodes[index];
    if (n->lost)
        add_notice(out, "it does not respond; its jobs may still be running");
    else if (n->suspect)
        add_notice(out, "it does not respond");
    else if (n->fenced)
        add_notice(out, "what was left running while it was lost is being stopped");
    if (n->refusal && nodes_gave_up(n))
        add_notice(out, "drained after %u failed starts in a row; retried from time to time: %s",
                   n->refusals, n->refusal);
    else if (n->refusal)
        add_notice(out, "the last start failed: %s", n->refusal);
    if (held->cpu_held > has->cpus)
        add_notice(out, "jobs hold %g CPUs, but it has only %g", api_units(held->cpu_held),
                   api_units(has->cpus));
    if (held->gpu_held > has->gpus)
        add_notice(out, "jobs hold %g GPUs, but it has only %g", api_units(held->gpu_held),
                   api_units(has->gpus));
    if (has->memory_mb && held->memory_held > has->memory_mb)
        add_notice(out, "jobs hold %lld MB of memory, but it has only %lld",
                   (long long)held->memory_held, (long long)has->memory_mb);
    if (n->notice)
        add_notice(out, "%s", n->notice);
}

static json_t *print_node(const struct yard *y, uint32_t index)
{
    const struct node *has = &y->cluster.nodes[index], *held = &y->engine.cluster.nodes[index];
    struct str notice = {0};
    add_notices(y, index, &notice);
    struct node_view v = {
        .name = has->name,
        .state = y->nodes.at[index].lost              ? "lost"
                 : y->nodes.at[index].suspect         ? "suspect"
                 : nodes_gave_up(&y->nodes.at[index]) ? state_names[NODE_DRAINING]
                                                      : state_names[held->state],
        .cpus = api_units(has->cpus),
        .cpus_held = api_units(held->cpu_held),
        .gpus = api_units(has->gpus),
        .gpus_held = api_units(held->gpu_held),
        .gpu_type = has->gpus ? y->cluster.gpu_types[has->gpu_pool - POOL_GPU] : NULL,
        .memory_mb = has->memory_mb ? has->memory_mb : API_NULL,
        .memory_held_mb = held->memory_held,
        .memory_used_mb = held->memory_used,
        .jobs = jobs_on(y, held),
        .runtime = y->nodes.at[index].orphan ? "" : nodes_runtime(y, index)->ops->name,
        .notice = notice.n ? notice.at : "",
    };
    json_t *node = api_print(&node_schema, &v);
    str_done(&notice);
    return node;
}

/* Whether the node was removed and no job holds anything there. */
static bool is_removed(const struct yard *y, uint32_t index)
{
    return y->nodes.at[index].gone && !y->engine.cluster.nodes[index].tasks.n;
}

static void list_nodes(const struct api_call *c)
{
    json_t *nodes = json_array();
    for (uint32_t i = 0; i < c->yard->nodes.n; i++)
        if (!is_removed(c->yard, i))
            json_array_append_new(nodes, print_node(c->yard, i));
    turn_reply(c->yard, c->reply, 200, json_pack("{s:o}", "nodes", nodes));
}

static void show_node(const struct api_call *c)
{
    turn_reply(c->yard, c->reply, 200, print_node(c->yard, c->node));
}

static void set_draining(const struct api_call *c, bool draining)
{
    struct err err;
    if (nodes_drain(c->yard, c->node, draining, &err) < 0)
        reply_problem(c->reply, &err, NULL);
    else
        show_node(c);
}

static void drain_node(const struct api_call *c)
{
    set_draining(c, true);
}

static void undrain_node(const struct api_call *c)
{
    set_draining(c, false);
}

/* ---- adding and removing ------------------------------------------------------- */

static const struct api_member add_members[] = {
    API_MEMBER("name", "string", "Name of the node"),
    API_MEMBER("docker", "string",
               "Its container engine: unix:///PATH, tcp://HOST:PORT, ssh://[USER@]HOST, "
               "context:NAME, or default"),
    API_MEMBER("tls", "?string|null", "Directory of ca.pem, cert.pem and key.pem, for tcp"),
    API_MEMBER("cpus", "?number|null", "CPUs to use; null = all that the engine has"),
    API_MEMBER("memory_mb", "?integer|null", "Memory to use; null = all that the engine has"),
    API_MEMBER("gpus", "?integer|null", "GPUs that it has; null = none"),
    API_MEMBER("gpu_type", "?string|null", "Type of the GPUs"),
    {0},
};
static const struct api_schema add_schema = {"NodeAdd", .members = add_members};

static const char *text_of(const struct api_call *c, const char *name)
{
    const char *text = json_string_value(json_object_get(c->body, name));
    return text ? text : "";
}

/* Names are used in paths and shown in tables. */
static bool is_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-";
    size_t n = strlen(name);
    return n && n < 64 && *name != '-' && *name != '.' && strspn(name, allowed) == n;
}

static bool check_add(const struct api_call *c, const struct engine_row *row)
{
    const char *field = NULL, *why = NULL;
    if (!is_name(row->name)) {
        field = "name";
        why = "use up to 63 letters, digits, '.', '_' and '-'";
    } else if (*row->tls && *row->tls != '/') {
        field = "tls";
        why = "must be an absolute path";
    } else if (row->cpus < 0 || row->cpus > UNITS_MAX) {
        field = "cpus";
        why = "must be more than 0";
    } else if (row->memory_mb < 0) {
        field = "memory_mb";
        why = "must not be negative";
    } else if (row->gpus < 0 || row->gpus > UNITS_MAX || (row->gpus > 0 && !*row->gpu_type)) {
        field = "gpus";
        why = "must be a number of GPUs, with their type";
    }
    if (field)
        api_refuse(c, field, why);
    return !field;
}

static void add_node(const struct api_call *c)
{
    struct engine_row row = {
        .name = text_of(c, "name"),
        .runtime = "docker",
        .address = text_of(c, "docker"),
        .tls = text_of(c, "tls"),
        .cpus = (int64_t)(json_number_value(json_object_get(c->body, "cpus")) * UNIT),
        .gpus = json_integer_value(json_object_get(c->body, "gpus")) * UNIT,
        .gpu_type = text_of(c, "gpu_type"),
        .memory_mb = json_integer_value(json_object_get(c->body, "memory_mb")),
    };
    struct err err;
    uint32_t node;
    if (!check_add(c, &row))
        return;
    if (engines_add(c->yard, &row, &node, &err) < 0)
        reply_problem(c->reply, &err, err.code == ERR_CONFLICT ? "name" : "docker");
    else
        turn_reply(c->yard, c->reply, 201, print_node(c->yard, node));
}

static void remove_node(const struct api_call *c)
{
    struct err err;
    if (engines_remove(c->yard, c->node, &err) < 0)
        reply_problem(c->reply, &err, NULL);
    else
        show_node(c);
}

static const struct api_schema *const schemas[] = {&state_schema, &node_schema, &list_schema,
                                                   &add_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "nodes_list",
        .method = "GET",
        .path = API_V1 "/nodes",
        .handle = list_nodes,
        .summary = "List nodes",
        .description = "All nodes, with the resources that jobs hold.",
        .replies = {{200, "NodeList", "The nodes"}},
    },
    {
        .name = "node_show",
        .method = "GET",
        .path = API_V1 "/nodes/{name}",
        .handle = show_node,
        .summary = "Show a node",
        .description = "The node's resources, and those that jobs hold.",
        .replies = {{200, "Node", "The node"}},
    },
    {
        .name = "node_drain",
        .role = ROLE_ADMIN,
        .method = "POST",
        .path = API_V1 "/nodes/{name}/drain",
        .handle = drain_node,
        .summary = "Stop starting jobs on a node",
        .description = "Running jobs continue.",
        .body = "Nothing",
        .body_optional = true,
        .replies = {{200, "Node", "The node"}},
    },
    {
        .name = "node_undrain",
        .role = ROLE_ADMIN,
        .method = "POST",
        .path = API_V1 "/nodes/{name}/undrain",
        .handle = undrain_node,
        .summary = "Start jobs on a drained node again",
        .description = "Undoes a drain, and forgets failed starts.",
        .body = "Nothing",
        .body_optional = true,
        .replies = {{200, "Node", "The node"}},
    },
    {
        .name = "node_add",
        .role = ROLE_ADMIN,
        .method = "POST",
        .path = API_V1 "/nodes",
        .handle = add_node,
        .summary = "Add a node",
        .description = "A machine with a container engine. It is kept when the server restarts. "
                       "Until its engine responds it is lost.",
        .body = "NodeAdd",
        .body_example = "{\"name\":\"gpu1\",\"docker\":\"ssh://me@gpu1\",\"gpus\":4,"
                        "\"gpu_type\":\"a100\"}",
        .replies = {{201, "Node", "The node"}},
        .errors = {409},
    },
    {
        .name = "node_remove",
        .role = ROLE_ADMIN,
        .method = "DELETE",
        .path = API_V1 "/nodes/{name}",
        .handle = remove_node,
        .summary = "Remove a node that was added",
        .description = "No job may be there; drain it first.",
        .replies = {{200, "Node", "The node as it was"}},
        .errors = {409},
    },
    {0},
};

const struct api_part api_part_nodes = {"Nodes", endpoints, schemas};
