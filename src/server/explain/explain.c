/* Owns the choice of what to explain about a job, and the resulting object. */
#include "server/explain/explain.h"

#include "base/str.h"
#include "server/automatic.h"
#include "server/explain/blocked.h"
#include "server/explain/over.h"
#include "server/explain/queued.h"
#include "server/explain/running.h"
#include "server/explain/text.h"
#include "store/job_state.h"
#include "store/jobs.h"

static void explain_live(struct explanation *x)
{
    const struct attempt *a = x->j->attempt;
    struct str s = {0};
    if ((a && a->stop != STOP_NONE) || (x->t && x->t->phase == TASK_STOPPING))
        explain_stopping(x);
    else if (!a && x->j->blocks)
        explain_blocked(x);
    else if (x->t && a && x->t->phase == TASK_RUNNING)
        explain_running(x);
    else if (x->t && (x->t->phase == TASK_QUEUED || x->t->phase == TASK_PAUSED))
        explain_queued(x);
    else {
        /* It was adopted, but the engine has not restored its task. */
        phrase_job(&x->summary, x->j);
        str_addf(&x->summary, " is %s.", job_state_name(x->j->row.state));
        str_add(&s, "The scheduler has assigned nothing to it: the policy does not manage it.");
        explain_reason(x, "unmanaged", &s, NULL);
    }
}

/* Under auto the allocator itself was chosen. */
static void explain_choice(struct explanation *x)
{
    struct str s = {0};
    if (x->t && automatic_reason(x->y, &s))
        explain_reason(x, "auto", &s, NULL);
}

static json_t *make_object(struct explanation *x, const struct job_row *row)
{
    const char *state = job_state_name(x->j ? x->j->row.state : row->state);
    explain_capitalise(&x->summary);
    return json_pack("{s:I, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "job", (json_int_t)row->id,
                     "state", state, "policy", x->y->engine.config.combo.name, "summary",
                     x->summary.at, "reasons", x->reasons, "ahead", x->ahead, "frees", x->frees,
                     "start", x->start ? x->start : json_null());
}

struct explain_request {
    struct yard *y;
    json_t *out;
};

static int explain_row(void *ctx, const struct job_row *row, struct err *err)
{
    struct explain_request *r = ctx;
    struct explanation x = {.y = r->y,
                            .j = yard_live(r->y, row->id),
                            .now = clock_now(&r->y->clock),
                            .wall = clock_wall(&r->y->clock),
                            .reasons = json_array(),
                            .ahead = json_array(),
                            .frees = json_array()};
    (void)err;
    x.t = x.j ? yard_task(x.y, x.j) : NULL;
    if (x.j) {
        explain_live(&x);
        explain_choice(&x);
    } else {
        explain_over(&x, row);
    }
    r->out = make_object(&x, row);
    str_done(&x.summary);
    return 0;
}

int explain_job(struct yard *y, int64_t id, json_t **out, struct err *err)
{
    struct explain_request r = {.y = y};
    if (store_job_get(y->store, id, explain_row, &r, err) < 0)
        return -1;
    *out = r.out;
    return 0;
}
