/* Owns the spelling of effects. */
#include "support/effects.h"

#include "engine/ride.h"

void effects_add_time(struct str *out, usec_t now)
{
    str_addf(out, "t=%.15g ", time_seconds(now));
}

void effects_add_units(struct str *out, units_t n)
{
    str_addf(out, "%.15g", (double)n / UNIT);
}

static void add_places(struct str *out, const struct engine *e, const struct task *t)
{
    if (t->phase == TASK_RIDING) {
        str_addf(out, " with %s", e->tasks[ride_host(e, (uint32_t)(t - e->tasks))].job->name);
        return;
    }
    str_add(out, " on");
    for (uint32_t i = 0; i < t->at.n; i++) {
        str_addf(out, " %s:", e->cluster.nodes[t->at.at[i].node].name);
        effects_add_units(out, t->at.at[i].units);
    }
}

/* Weights are the CPUs that a sharer has in mind, of which only the ratio
 * counts: four digits are enough to tell them apart. */
void effects_add_share(struct str *out, const struct task *t, usec_t now)
{
    effects_add_time(out, now);
    str_addf(out, "share %s ", t->job->name);
    effects_add_units(out, t->told.share);
    str_add(out, " of limit ");
    effects_add_units(out, t->told.limit);
    str_addf(out, " weight %.4g\n", t->told.weight);
}

static void add_effect(struct str *out, const struct engine *e, const struct effect *f, usec_t now)
{
    static const char *const verbs[] = {"start", "resize", "move", "preempt",
                                        "pause", "resume", "",     "list"};
    const struct task *t = &e->tasks[f->task];
    bool takes = f->kind == EFFECT_START || f->kind == EFFECT_RESUME || f->kind == EFFECT_MOVE;
    if (f->kind == EFFECT_SHARE) {
        effects_add_share(out, t, now);
        return;
    }
    effects_add_time(out, now);
    str_addf(out, "%s %s", verbs[f->kind], t->job->name);
    if (f->kind == EFFECT_LIST) {
        str_addf(out, " %s %d->%d", axis_name(f->axis), (int)f->from, (int)f->to);
    } else {
        str_add(out, " ");
        effects_add_units(out, takes ? f->to : f->from);
    }
    if (f->kind == EFFECT_RESIZE) {
        str_add(out, "->");
        effects_add_units(out, f->to);
    }
    if (takes || f->kind == EFFECT_RESIZE)
        add_places(out, e, t);
    if (f->cost)
        str_addf(out, " stops %.15g", time_seconds(f->cost));
    str_add(out, "\n");
}

void effects_add(struct str *out, const struct engine *e, usec_t now)
{
    for (size_t i = 0; i < e->effects.n; i++)
        add_effect(out, e, &e->effects.at[i], now);
}

void effects_add_but_shares(struct str *out, const struct engine *e, usec_t now)
{
    for (size_t i = 0; i < e->effects.n; i++)
        if (e->effects.at[i].kind != EFFECT_SHARE)
            add_effect(out, e, &e->effects.at[i], now);
}
