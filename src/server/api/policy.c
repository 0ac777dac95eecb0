/* Owns the endpoints that show and replace the active policy. */
#include "policy/combo.h"

#include "server/api/call.h"
#include "server/api/parts.h"
#include "server/automatic.h"
#include "wire/value.h"

struct policy_view {
    const char *policy, *allocate, *place, *share, *chosen;
    json_t *parameters;
};

static const struct api_member parameters_members[] = {
    API_MEMBER("", "number|string|number[]", ""),
    {0},
};

static const struct api_schema parameters_schema = {"Parameters", API_MAP,
                                                    .members = parameters_members};

static const struct api_member all_parameters_members[] = {
    API_MEMBER("allocate", "Parameters", "Of the allocator"),
    API_MEMBER("place", "Parameters", "Of the placer"),
    API_MEMBER("share", "Parameters", "Of the sharer"),
    {0},
};

static const struct api_schema all_parameters_schema = {"AllParameters",
                                                        .members = all_parameters_members};

static const struct api_member policy_members[] = {
    API_STRING(policy_view, policy, "As it was set"),
    API_STRING(policy_view, allocate, "Decides how much each job gets"),
    API_STRING(policy_view, place, "Decides where"),
    API_STRING(policy_view, share, "Divides the CPUs of a node"),
    API_STRING_OR_NULL(policy_view, chosen, "Why auto has this allocator; null for other policies"),
    API_JSON(policy_view, parameters, "AllParameters",
             "Percentages as numbers (50 = 50 %), durations in seconds"),
    {0},
};

static const struct api_schema policy_schema = {"Policy", .members = policy_members};

static const struct api_member change_members[] = {
    API_MEMBER("policy", "string",
               "A preset, an allocator, or allocate=A,place=P,share=S; with parameters as in "
               "las:thresholds=60"),
    {0},
};

static const struct api_schema change_schema = {"PolicyChange", .members = change_members};

/* Percentages as numbers (50 = 50 %), durations in seconds. */
static json_t *print_param(const struct param *p, const struct param_value *v)
{
    char word[64];
    json_t *list;
    switch (p->type) {
    case PARAM_PERCENT:
        return json_real(v->number * 100);
    case PARAM_DURATION:
        return json_real(v->number / (double)USEC_PER_SEC);
    case PARAM_CHOICE:
        return json_string(value_choice_name(p->choices, (unsigned)v->number, word, sizeof word));
    case PARAM_LIST:
    case PARAM_NUMBERS:
        list = json_array();
        for (uint32_t i = 0; i < v->n; i++)
            json_array_append_new(list, json_real(v->list[i]));
        return list;
    case PARAM_NUMBER:
        break;
    }
    return json_real(v->number);
}

static json_t *print_params(const struct combo *combo, enum axis axis)
{
    const struct policy *p = combo->policy[axis];
    json_t *out = json_object();
    for (size_t i = 0; p->params && p->params[i].name; i++)
        json_object_set_new(out, p->params[i].name,
                            print_param(&p->params[i], &combo->params[axis].v[i]));
    return out;
}

static json_t *print_policy(const struct yard *y)
{
    const struct combo *combo = &y->engine.config.combo;
    struct str why = {0};
    json_t *parameters = json_object();
    for (enum axis axis = 0; axis < AXES; axis++)
        json_object_set_new(parameters, axis_name(axis), print_params(combo, axis));
    struct policy_view v = {
        .policy = combo->name,
        .allocate = combo->policy[AXIS_ALLOCATE]->name,
        .place = combo->policy[AXIS_PLACE]->name,
        .share = combo->policy[AXIS_SHARE]->name,
        .chosen = automatic_reason(y, &why) ? why.at : NULL,
        .parameters = parameters,
    };
    json_t *out = api_print(&policy_schema, &v);
    str_done(&why);
    return out;
}

static void show_policy(const struct api_call *c)
{
    turn_reply(c->yard, c->reply, 200, print_policy(c->yard));
}

static void set_policy(const struct api_call *c)
{
    const char *text = json_string_value(json_object_get(c->body, "policy"));
    struct combo combo;
    struct err err;
    if (combo_parse(text, &combo, &err) < 0 || yard_set_policy(c->yard, &combo, &err) < 0)
        reply_problem(c->reply, &err, "policy");
    else
        show_policy(c);
}

static const struct api_schema *const schemas[] = {&parameters_schema, &all_parameters_schema,
                                                   &policy_schema, &change_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "policy_show",
        .method = "GET",
        .path = API_V1 "/policy",
        .handle = show_policy,
        .summary = "Show the active policy",
        .description = "Its parts and all their parameters, including defaults.",
        .replies = {{200, "Policy", "The policy"}},
    },
    {
        .name = "policy_set",
        .role = ROLE_ADMIN,
        .method = "PUT",
        .path = API_V1 "/policy",
        .handle = set_policy,
        .summary = "Activate another policy",
        .description = "It applies at once, also to running jobs, and is kept when the server "
                       "restarts.",
        .body = "PolicyChange",
        .body_example = "{\"policy\":\"las:thresholds=3250\"}",
        .replies = {{200, "Policy", "The new policy"}},
    },
    {0},
};

const struct api_part api_part_policy = {"Policy", endpoints, schemas};
