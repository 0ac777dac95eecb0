/* Owns the list of jobs that are ahead of a job. */
#include "server/explain/ahead.h"

#include "base/str.h"
#include "server/explain/forecast.h"
#include "server/explain/text.h"
#include "store/job_state.h"

enum { AHEAD_SHOWN = 10 };

bool explain_holds(const struct explanation *x, uint32_t task)
{
    const struct task *t = &x->y->engine.tasks[task];
    return t != x->t && t->job && t->n > 0 && job_takes_pool(x->t->job, t->pool);
}

static int compare_ends(const void *a, const void *b)
{
    const struct holder *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->j->row.id < y->j->row.id ? -1 : 1;
}

static void list_ahead(struct explanation *x, const struct live_job *j, usec_t end)
{
    const struct task *t = yard_task(x->y, j);
    units_t cpus = j->attempt                 ? j->attempt->cpus
                   : t->job->pool == POOL_CPU ? t->asked
                                              : j->terms.cpus_max;
    if (json_array_size(x->ahead) == AHEAD_SHOWN)
        return;
    json_array_append_new(
        x->ahead,
        json_pack("{s:I, s:s, s:s, s:f, s:o}", "id", (json_int_t)j->row.id, "name", j->row.name,
                  "state", job_state_name(j->row.state), "cpus", (double)cpus / UNIT, "remaining_s",
                  end == USEC_NEVER ? json_null() : json_real(time_seconds(end - x->now))));
}

struct holders explain_holders(const struct explanation *x)
{
    struct holders found = {0};
    for (uint32_t i = 0; i < x->y->engine.tasks_n; i++) {
        const struct live_job *j = explain_holds(x, i) ? yard_job_of_task(x->y, i) : NULL;
        if (j)
            VEC_PUSH(&found, (struct holder){j, forecast_end(x, j)});
    }
    if (found.n)
        qsort(found.at, found.n, sizeof *found.at, compare_ends);
    return found;
}

json_t *phrase_holders(struct str *out, const struct explanation *x, uint32_t node)
{
    enum { SHOWN = 3 };
    struct holders all = explain_holders(x);
    json_t *ids = json_array();
    uint32_t n = 0;
    for (size_t i = 0; i < all.n; i++) {
        const struct task *t = yard_task(x->y, all.at[i].j);
        if ((node != TASK_NONE && t->at.at[0].node != node) || n++ >= SHOWN)
            continue;
        str_add(out, n > 1 ? ", " : "");
        phrase_job(out, all.at[i].j);
        str_add(out, " has ");
        phrase_units(out, t->pool, t->n);
        json_array_append_new(ids, json_integer(all.at[i].j->row.id));
    }
    if (n > SHOWN) {
        str_add(out, ", and ");
        phrase_count(out, n - SHOWN, "more job");
        str_addf(out, " %s the rest", n - SHOWN == 1 ? "has" : "have");
    }
    VEC_DONE(&all);
    return ids;
}

static bool is_waiting(const struct task *t)
{
    return t->phase == TASK_QUEUED || t->phase == TASK_PAUSED;
}

uint32_t explain_ahead(struct explanation *x)
{
    const struct engine *e = &x->y->engine;
    struct holders holders = explain_holders(x);
    uint32_t queued = 0;
    for (size_t i = 0; i < holders.n; i++)
        list_ahead(x, holders.at[i].j, holders.at[i].end);
    VEC_DONE(&holders);
    if (!is_waiting(x->t))
        return 0;
    for (uint32_t i = e->snapshot.first; i != TASK_NONE && i != x->j->task; i = e->links[i].next) {
        const struct live_job *j = is_waiting(&e->tasks[i]) ? yard_job_of_task(x->y, i) : NULL;
        if (!j)
            continue;
        list_ahead(x, j, USEC_NEVER);
        queued++;
    }
    return queued;
}
