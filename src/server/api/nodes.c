/* Owns nodes and the policy. */
#include <stdio.h>

#include "policy/combo.h"
#include "server/api/handlers.h"
#include "server/api/job_view.h"
#include "wire/value.h"

/* ---- nodes ----------------------------------------------------------------- */

static json_t *units(units_t n)
{
    return json_real((double)n / UNIT);
}

static json_t *view_node(const struct yard *y, uint32_t index)
{
    static const char *const states[] = {
        [NODE_UP] = "up", [NODE_DRAINING] = "draining", [NODE_DOWN] = "down"};
    const struct node *n = &y->engine.cluster.nodes[index];
    json_t *o = json_object(), *jobs = json_array();
    for (size_t i = 0; i < n->tasks.n; i++) {
        const struct live_job *j = yard_job_of_task(y, n->tasks.at[i]);
        if (j)
            json_array_append_new(jobs, json_integer(j->row.id));
    }
    json_object_set_new(o, "name", json_string(n->name));
    json_object_set_new(o, "state", json_string(states[n->state]));
    json_object_set_new(o, "cpus", units(n->cpus));
    json_object_set_new(o, "cpus_held", units(n->cpu_held));
    json_object_set_new(o, "gpus", units(n->gpus));
    json_object_set_new(o, "gpus_held", units(n->gpu_held));
    json_object_set_new(
        o, "gpu_type",
        job_view_text(n->gpus ? y->engine.cluster.gpu_types[n->gpu_pool - POOL_GPU] : NULL));
    json_object_set_new(o, "memory_mb", n->memory_mb ? json_integer(n->memory_mb) : json_null());
    json_object_set_new(o, "memory_held_mb", json_integer(n->memory_held));
    json_object_set_new(o, "jobs", jobs);
    json_object_set_new(o, "runtime", json_string(y->config.runtime->name));
    json_object_set_new(o, "notice", json_string(y->notice ? y->notice : ""));
    return o;
}

void api_nodes_list(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    if (!api_check_query(q, r))
        return;
    json_t *nodes = json_array();
    for (uint32_t i = 0; i < y->engine.cluster.n; i++)
        json_array_append_new(nodes, view_node(y, i));
    turn_reply(y, r, 200, json_pack("{s:o}", "nodes", nodes));
}

static bool find_node(struct yard *y, const struct request *q, struct reply *r, uint32_t *node)
{
    struct err err;
    if (!api_check_query(q, r))
        return false;
    if (yard_find_node(y, request_param(q, "name"), node, &err) == 0)
        return true;
    reply_problem(r, &err, "name");
    return false;
}

void api_node_show(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    uint32_t node;
    if (find_node(y, q, r, &node))
        turn_reply(y, r, 200, view_node(y, node));
}

static void drain(const struct request *q, struct reply *r, struct yard *y, bool yes)
{
    uint32_t node;
    struct err err;
    json_auto_t *body = NULL;
    if (!find_node(y, q, r, &node) || !api_get_body(q, r, &body))
        return;
    if (yard_drain(y, node, yes, &err) < 0)
        reply_problem(r, &err, NULL);
    else
        turn_reply(y, r, 200, view_node(y, node));
}

void api_node_drain(const struct request *q, struct reply *r, void *ctx)
{
    drain(q, r, ctx, true);
}

void api_node_undrain(const struct request *q, struct reply *r, void *ctx)
{
    drain(q, r, ctx, false);
}

/* ---- the policy ------------------------------------------------------------ */

/* As a user would write it: percentages as such, durations in seconds. */
static json_t *view_param(const struct param *p, const struct param_value *v)
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
        list = json_array();
        for (uint32_t i = 0; i < v->n; i++)
            json_array_append_new(list, json_real(v->list[i]));
        return list;
    case PARAM_NUMBER:
        break;
    }
    return json_real(v->number);
}

static json_t *view_policy(const struct combo *combo)
{
    json_t *o = json_object(), *all = json_object();
    json_object_set_new(o, "policy", json_string(combo->name));
    for (enum axis axis = 0; axis < AXES; axis++) {
        const struct policy *p = combo->policy[axis];
        json_t *params = json_object();
        for (size_t i = 0; p->params && p->params[i].name; i++)
            json_object_set_new(params, p->params[i].name,
                                view_param(&p->params[i], &combo->params[axis].v[i]));
        json_object_set_new(o, axis_name(axis), json_string(p->name));
        json_object_set_new(all, axis_name(axis), params);
    }
    json_object_set_new(o, "parameters", all);
    return o;
}

void api_policy_show(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    if (api_check_query(q, r))
        turn_reply(y, r, 200, view_policy(&y->engine.config.combo));
}

void api_policy_set(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    struct combo combo;
    struct err err;
    json_auto_t *body = NULL;
    if (!api_check_query(q, r) || !api_get_body(q, r, &body))
        return;
    const char *text = json_string_value(json_object_get(body, "policy"));
    if (!text)
        err_set(&err, ERR_INVALID, "policy: expected a text such as \"elastic-fifo\"");
    if (!text || combo_parse(text, &combo, &err) < 0) {
        reply_problem(r, &err, "policy");
        return;
    }
    if (yard_set_policy(y, &combo, &err) < 0)
        reply_problem(r, &err, "policy");
    else
        turn_reply(y, r, 200, view_policy(&y->engine.config.combo));
}
