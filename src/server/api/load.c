/* Owns the endpoint that shows how busy the cluster was over time. */
#include "server/load.h"

#include "server/api/call.h"
#include "server/api/parts.h"

/* Samples in a reply, at most about this many. */
enum { POINTS = 600 };

enum { LOAD_SINCE };

static const struct api_query load_query[] = {
    [LOAD_SINCE] = {"since", QUERY_INTEGER,
                    .help = "From this time on, in seconds since 1970; by default the last hour",
                    .max = INT64_MAX / USEC_PER_SEC, .example = "1794801301"},
    {0},
};

struct load_view {
    double at;
    int64_t running, waiting;
    double cpus, cpus_held, gpus, gpus_held, cpus_used;
    int64_t memory_mb;
    double memory_used_mb;
    int64_t moves;
    json_t *nodes;
};

static const struct api_member load_members[] = {
    API_NUMBER_OR_NULL(load_view, at, "When; it holds until the next sample"),
    API_INTEGER(load_view, running, "Jobs that run, start or stop"),
    API_INTEGER(load_view, waiting, "Jobs that are queued or held"),
    API_NUMBER(load_view, cpus, "CPUs of all nodes"),
    API_NUMBER(load_view, cpus_held, "CPUs that jobs hold"),
    API_NUMBER(load_view, gpus, "GPUs of all nodes"),
    API_NUMBER(load_view, gpus_held, "GPUs that jobs hold"),
    API_NUMBER_OR_NULL(load_view, cpus_used,
                       "CPUs that jobs used, on average since the sample before; null = not "
                       "measured yet"),
    API_INTEGER_OR_NULL(load_view, memory_mb, "Memory; null = not limited"),
    API_NUMBER_OR_NULL(load_view, memory_used_mb, "Memory that jobs were measured to use"),
    API_INTEGER(load_view, moves,
                "Running jobs that were moved to another node since there are samples"),
    API_JSON(load_view, nodes, "NodeLoad[]", "The same for each node"),
    {0},
};

static const struct api_schema load_schema = {"Load", .members = load_members};

struct node_load_view {
    const char *name;
    int64_t running;
    double cpus, cpus_held, gpus, gpus_held, cpus_used;
    int64_t memory_mb;
    double memory_used_mb;
    int64_t moves;
};

static const struct api_member node_members[] = {
    API_STRING(node_load_view, name, "Name of the node"),
    API_INTEGER(node_load_view, running, "Jobs that hold resources there"),
    API_NUMBER(node_load_view, cpus, "CPUs"),
    API_NUMBER(node_load_view, cpus_held, "CPUs that jobs hold"),
    API_NUMBER(node_load_view, gpus, "GPUs"),
    API_NUMBER(node_load_view, gpus_held, "GPUs that jobs hold"),
    API_NUMBER_OR_NULL(node_load_view, cpus_used,
                       "CPUs that jobs used, on average since the sample before; null = not "
                       "measured yet"),
    API_INTEGER_OR_NULL(node_load_view, memory_mb, "Memory; null = not limited"),
    API_NUMBER_OR_NULL(node_load_view, memory_used_mb, "Memory that jobs were measured to use"),
    API_INTEGER(node_load_view, moves,
                "Running jobs that were moved there since there are samples"),
    {0},
};

static const struct api_schema node_schema = {"NodeLoad", .members = node_members};

static const struct api_member list_members[] = {
    API_MEMBER("samples", "Load[]", "Oldest first; the last one is the present"),
    {0},
};

static const struct api_schema list_schema = {"LoadSeries", .members = list_members};

struct load_list {
    json_t *samples, *nodes; /* of the last sample */
};

static int add_row(void *ctx, const struct load_row *row, struct err *err)
{
    struct load_list *list = ctx;
    double cpus = api_units(row->cpus), cpus_held = api_units(row->cpus_held);
    int64_t memory = row->memory_mb ? row->memory_mb : API_NULL;
    double gpus = api_units(row->gpus), gpus_held = api_units(row->gpus_held);
    (void)err;
    if (*row->node) {
        struct node_load_view v = {
            row->node, row->running,   cpus,   cpus_held,           gpus,
            gpus_held, row->cpus_used, memory, row->memory_used_mb, row->moves};
        json_array_append_new(list->nodes, api_print(&node_schema, &v));
        return 0;
    }
    list->nodes = json_array();
    struct load_view v = {.at = api_seconds(row->at),
                          .running = row->running,
                          .waiting = row->waiting,
                          .cpus = cpus,
                          .cpus_held = cpus_held,
                          .gpus = gpus,
                          .gpus_held = gpus_held,
                          .cpus_used = row->cpus_used,
                          .memory_mb = memory,
                          .memory_used_mb = row->memory_used_mb,
                          .moves = row->moves,
                          .nodes = list->nodes};
    json_array_append_new(list->samples, api_print(&load_schema, &v));
    return 0;
}

static void show_load(const struct api_call *c)
{
    const struct api_value *q = &c->query[LOAD_SINCE];
    usec_t now = clock_wall(&c->yard->clock);
    usec_t since = q->given ? q->number * USEC_PER_SEC : now - 3600 * USEC_PER_SEC;
    usec_t step = now > since ? (now - since) / POINTS + 1 : 1;
    struct load_list list = {.samples = json_array()};
    struct err err;
    if (store_load_list(c->yard->store, since, step, add_row, &list, &err) < 0 ||
        load_now(c->yard, add_row, &list, &err) < 0) {
        json_decref(list.samples);
        reply_problem(c->reply, &err, NULL);
        return;
    }
    turn_reply(c->yard, c->reply, 200, json_pack("{s:o}", "samples", list.samples));
}

static const struct api_schema *const schemas[] = {&load_schema, &node_schema, &list_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "load_show",
        .method = "GET",
        .path = API_V1 "/load",
        .handle = show_load,
        .summary = "Show how busy the cluster was",
        .description = "Samples are taken when something has changed, and are thinned with age. "
                       "The first one holds at `since`, if one is that old.",
        .query = load_query,
        .replies = {{200, "LoadSeries", "The samples"}},
    },
    {0},
};

const struct api_part api_part_load = {"Nodes", endpoints, schemas};
