/* Owns the driving of an engine by hand. */
#include "support/world.h"

#include "policy/combo.h"
#include "sim/nodes.h"
#include "support/audit.h"
#include "support/effects.h"
#include "support/test.h"

void world_init(struct world *w, const char *nodes, const char *policy,
                const struct world_options *o)
{
    struct engine_config config = {.seed = 1, .instant = !o || !o->slow_stops};
    struct cluster cluster;
    struct err err;
    *w = (struct world){0};
    assert_ok(nodes_parse(nodes, &w->arena, &cluster, &err), err);
    assert_ok(combo_parse(policy, &config.combo, &err), err);
    if (o) {
        config.explain = o->explain;
        config.resched_min = o->resched_min;
        config.min_run = o->min_run;
    }
    engine_init(&w->e, &config, &cluster);
}

void world_done(struct world *w)
{
    engine_done(&w->e);
    arena_done(&w->arena);
}

const struct job *world_job(struct world *w, struct job like)
{
    struct job *j = ARENA_NEW(&w->arena, struct job);
    char name[] = {(char)('a' + w->jobs % 26), '\0'};
    struct err err;
    *j = like;
    j->id = w->jobs++;
    j->name = arena_strdup(&w->arena, name);
    j->submit = j->submit ? j->submit : w->now;
    j->target = j->target != 0 ? j->target : NAN;
    assert_ok(job_normalise(j, &err), err);
    return j;
}

void world_take(struct world *w, double at, struct event event)
{
    struct err err;
    struct audit audit = {0};
    w->now = (usec_t)(at * USEC_PER_SEC);
    assert_ok(engine_step(&w->e, &event, w->now, &err), err);
    if (!audit_state(&audit, &w->e))
        fail_msg("%s", audit.why);
}

uint32_t world_submit(struct world *w, double at, struct job like)
{
    w->now = (usec_t)(at * USEC_PER_SEC);
    world_take(w, at, (struct event){.kind = EVENT_SUBMIT, .job = world_job(w, like)});
    return w->e.submitted;
}

void world_end(struct world *w, double at, uint32_t task)
{
    world_take(w, at, (struct event){.kind = EVENT_END, .task = task});
}

void world_set_node(struct world *w, double at, uint32_t node, enum node_state state)
{
    world_take(w, at, (struct event){.kind = EVENT_NODE, .node = node, .state = state});
}

void world_expect(const struct world *w, const char *effects)
{
    struct str got = {0};
    str_add(&got, "");
    effects_add(&got, &w->e, w->now);
    assert_string_equal(got.at, effects);
    str_done(&got);
}

void world_decide(struct world *w, double at, const char *effects)
{
    assert_true(engine_due(&w->e) <= (usec_t)(at * USEC_PER_SEC));
    world_take(w, at, (struct event){.kind = EVENT_TICK});
    world_expect(w, effects);
}
