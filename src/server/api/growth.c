/* Owns how a job's growth efficiency is shown. */
#include "server/api/growth.h"

#include "server/api/parts.h"
#include "store/growths.h"

struct growth_view {
    int64_t attempt;
    double at, span_s, cpu, memory, block, network;
};

static const struct api_member growth_members[] = {
    API_INTEGER(growth_view, attempt, "Number of the attempt"),
    API_NUMBER_OR_NULL(growth_view, at, "When it was measured"),
    API_NUMBER(growth_view, span_s, "Over how many seconds"),
    API_NUMBER_OR_NULL(growth_view, cpu,
                       "The metric's change as a share of its first value, per second and per "
                       "share of the node's CPUs that it used; null = it used none"),
    API_NUMBER_OR_NULL(growth_view, memory,
                       "The same per share of the node's memory; null = that is not limited"),
    API_NUMBER_OR_NULL(growth_view, block, "The same per share of its disk's bandwidth"),
    API_NUMBER_OR_NULL(growth_view, network, "The same per share of its network's bandwidth"),
    {0},
};

static const struct api_schema growth_schema = {"GrowthPoint", .members = growth_members};

static int add_point(void *ctx, uint32_t attempt, const struct growth_row *row, struct err *err)
{
    struct growth_view v = {attempt,     api_seconds(row->at), time_seconds(row->span),
                            row->cpu,    row->memory,          row->block,
                            row->network};
    (void)err;
    json_array_append_new(ctx, api_print(&growth_schema, &v));
    return 0;
}

int growth_list_read(struct yard *y, int64_t job, size_t last, json_t **out, struct err *err)
{
    json_auto_t *all = json_array();
    if (store_growth_list(y->store, job, add_point, all, err) < 0)
        return -1;
    while (last && json_array_size(all) > last)
        json_array_remove(all, 0);
    *out = json_incref(all);
    return 0;
}

static const struct api_schema *const schemas[] = {&growth_schema, NULL};

const struct api_part api_part_growth = {.schemas = schemas};
