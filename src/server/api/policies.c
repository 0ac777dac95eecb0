/* Owns the endpoint that lists the policies that the program knows. */
#include "policy/policy.h"

#include "policy/registry.h"
#include "server/api/parts.h"

struct parameter_view {
    const char *name, *preset, *range, *help;
};

static const struct api_member parameter_members[] = {
    API_STRING(parameter_view, name, "Name"),
    API_STRING(parameter_view, preset, "Value if it is not given"),
    API_STRING(parameter_view, range, "Name, default and allowed values, in words"),
    API_STRING(parameter_view, help, "What it does"),
    {0},
};

static const struct api_schema parameter_schema = {"PolicyParameter", .members = parameter_members};

struct known_view {
    const char *name, *axis, *summary, *rule, *source, *same_as;
    json_t *parameters;
};

static const struct api_member known_members[] = {
    API_STRING(known_view, name, "Name"),
    API_STRING(known_view, axis,
               "allocate, place, share, or preset for a combination of the three"),
    API_STRING(known_view, summary, "What it does, in a few words"),
    API_STRING_OR_NULL(known_view, rule, "What it does, exactly"),
    API_STRING_OR_NULL(known_view, source, "Where it comes from"),
    API_STRING_OR_NULL(known_view, same_as, "What a preset stands for"),
    API_JSON(known_view, parameters, "PolicyParameter[]", "Its parameters"),
    {0},
};

static const struct api_schema known_schema = {"KnownPolicy", .members = known_members};

static const struct api_member list_members[] = {
    API_MEMBER("policies", "KnownPolicy[]", "Policies by axis, then presets"),
    {0},
};

static const struct api_schema list_schema = {"PolicyList", .members = list_members};

static json_t *print_parameters(const struct param *params)
{
    json_t *out = json_array();
    for (const struct param *p = params; p && p->name; p++) {
        char range[160];
        param_describe(p, range, sizeof range);
        struct parameter_view v = {p->name, p->preset, range, p->help};
        json_array_append_new(out, api_print(&parameter_schema, &v));
    }
    return out;
}

static json_t *print_policy(const struct policy *p)
{
    struct known_view v = {.name = p->name,
                           .axis = axis_name(p->axis),
                           .summary = p->summary,
                           .rule = p->rule,
                           .source = p->source,
                           .parameters = print_parameters(p->params)};
    return api_print(&known_schema, &v);
}

static json_t *print_preset(const struct preset *p)
{
    struct known_view v = {.name = p->name,
                           .axis = "preset",
                           .summary = p->summary,
                           .same_as = p->spec,
                           .parameters = json_array()};
    return api_print(&known_schema, &v);
}

static void list_policies(const struct api_call *c)
{
    json_t *list = json_array();
    for (size_t i = 0; policies[i]; i++)
        json_array_append_new(list, print_policy(policies[i]));
    for (const struct preset *p = presets; p->name; p++)
        json_array_append_new(list, print_preset(p));
    reply_json(c->reply, 200, json_pack("{s:o}", "policies", list));
}

static const struct api_schema *const schemas[] = {&parameter_schema, &known_schema, &list_schema,
                                                   NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "policies_list",
        .method = "GET",
        .path = API_V1 "/policies",
        .handle = list_policies,
        .summary = "List the policies that can be activated",
        .description = "Each with its rule, its source and its parameters.",
        .replies = {{200, "PolicyList", "The policies"}},
    },
    {0},
};

const struct api_part api_part_policies = {"Policy", endpoints, schemas};
