/* Owns the nodes: showing, draining and undraining them. */
#include "server/nodes.h"
#include "server/api/call.h"
#include "server/api/parts.h"

struct node_view {
    const char *name, *state;
    double cpus, cpus_held, gpus, gpus_held;
    const char *gpu_type;
    int64_t memory_mb, memory_held_mb;
    json_t *jobs;
    const char *runtime, *notice;
};

static const char *const state_names[] = {
    [NODE_UP] = "up", [NODE_DRAINING] = "draining", [NODE_DOWN] = "down", [NODE_CLOSED] = "closed"};

static const struct api_member state_words[] = {API_MEMBER("", "up|draining|down|closed", ""), {0}};
static const struct api_schema state_schema = {"NodeState", API_WORDS, .members = state_words};

static const struct api_member node_members[] = {
    API_STRING(node_view, name, "Name"),
    API_WORD(node_view, state, "NodeState",
             "State; nothing new starts on a node that is draining, down or closed"),
    API_NUMBER(node_view, cpus, "CPUs"),
    API_NUMBER(node_view, cpus_held, "CPUs that jobs hold"),
    API_NUMBER(node_view, gpus, "GPUs"),
    API_NUMBER(node_view, gpus_held, "GPUs that jobs hold"),
    API_STRING_OR_NULL(node_view, gpu_type, "Type of the GPUs"),
    API_INTEGER_OR_NULL(node_view, memory_mb, "Memory; null = not limited"),
    API_INTEGER(node_view, memory_held_mb, "Memory that jobs hold"),
    API_JSON(node_view, jobs, "integer[]", "Ids of the jobs that hold something there"),
    API_STRING(node_view, runtime, "What runs jobs there"),
    API_STRING(node_view, notice, "What users should know about it"),
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

static json_t *print_node(const struct yard *y, uint32_t index)
{
    const struct cluster *cluster = &y->engine.cluster;
    const struct node *n = &cluster->nodes[index];
    struct node_view v = {
        .name = n->name,
        .state = state_names[n->state],
        .cpus = api_units(n->cpus),
        .cpus_held = api_units(n->cpu_held),
        .gpus = api_units(n->gpus),
        .gpus_held = api_units(n->gpu_held),
        .gpu_type = n->gpus ? cluster->gpu_types[n->gpu_pool - POOL_GPU] : NULL,
        .memory_mb = n->memory_mb ? n->memory_mb : API_NULL,
        .memory_held_mb = n->memory_held,
        .jobs = jobs_on(y, n),
        .runtime = nodes_runtime(y, index)->ops->name,
        .notice =
            y->nodes.at[index].refusal ? y->nodes.at[index].refusal : y->nodes.at[index].notice,
    };
    return api_print(&node_schema, &v);
}

static void list_nodes(const struct api_call *c)
{
    json_t *nodes = json_array();
    for (uint32_t i = 0; i < c->yard->engine.cluster.n; i++)
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
    if (yard_drain(c->yard, c->node, draining, &err) < 0)
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

static const struct api_schema *const schemas[] = {&state_schema, &node_schema, &list_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "nodes_list",
        .method = "GET",
        .path = API_V1 "/nodes",
        .handle = list_nodes,
        .summary = "List nodes",
        .description = "All nodes, with what jobs hold of them.",
        .replies = {{200, "NodeList", "The nodes"}},
    },
    {
        .name = "node_show",
        .method = "GET",
        .path = API_V1 "/nodes/{name}",
        .handle = show_node,
        .summary = "Show a node",
        .description = "What the node has, and what jobs hold of it.",
        .replies = {{200, "Node", "The node"}},
    },
    {
        .name = "node_drain",
        .method = "POST",
        .path = API_V1 "/nodes/{name}/drain",
        .handle = drain_node,
        .summary = "Start nothing new on a node",
        .description = "Jobs that run there go on.",
        .body = "Nothing",
        .body_optional = true,
        .replies = {{200, "Node", "The node"}},
    },
    {
        .name = "node_undrain",
        .method = "POST",
        .path = API_V1 "/nodes/{name}/undrain",
        .handle = undrain_node,
        .summary = "Use a drained node again",
        .description = "Jobs start there again.",
        .body = "Nothing",
        .body_optional = true,
        .replies = {{200, "Node", "The node"}},
    },
    {0},
};

const struct api_part api_part_nodes = {"Nodes", endpoints, schemas};
