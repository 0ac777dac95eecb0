/* Owns the explanation of a job that is not in the queue: what it waits for, and who
 * can do something about it. */
#include "server/explain/blocked.h"

#include <inttypes.h>

#include "base/str.h"
#include "server/explain/forecast.h"
#include "server/explain/text.h"
#include "server/jobs/rules.h"
#include "store/job_state.h"
#include "store/jobs.h"

static void add_expected_end(struct str *out, const struct explanation *x, const struct live_job *j)
{
    usec_t end = forecast_end(x, j);
    if (end == USEC_NEVER)
        return;
    str_add(out, forecast_basis(j) == END_KNOWN ? ", and should end in about "
                                                : ", and ends in at most ");
    phrase_span(out, end - x->now);
}

static void held(struct explanation *x)
{
    struct str s = {0};
    str_add(&s, "A user holds it.");
    explain_reason(x, "hold", &s, NULL);
    str_addf(&s, "`trainyard release %" PRId64 "` lets it go.", x->j->row.id);
    explain_free(x, &s);
}

/* What must become of the other job. */
static const char *const wanted[] = {
    [SPEC_AFTER] = "start",
    [SPEC_AFTEROK] = "end well",
    [SPEC_AFTERNOTOK] = "end badly",
    [SPEC_AFTERANY] = "end",
};

static void depends(struct explanation *x, const struct live_dep *d)
{
    const struct live_job *on = yard_live(x->y, d->on);
    struct str s = {0};
    str_add(&s, "It is to run when ");
    phrase_job_id(&s, x->y, d->on);
    str_addf(&s, " has %s",
             d->kind == SPEC_AFTER      ? "started"
             : d->kind == SPEC_AFTEROK  ? "ended well"
             : d->kind == SPEC_AFTERANY ? "ended"
                                        : "ended badly");
    if (on) {
        str_addf(&s, ", which is %s", job_state_name(on->row.state));
        add_expected_end(&s, x, on);
    }
    str_add(&s, ".");
    explain_reason(x, "dependency", &s, explain_one(d->on));
    phrase_job_id(&s, x->y, d->on);
    str_addf(&s, " must %s first.", wanted[d->kind]);
    explain_free(x, &s);
}

static void singleton(struct explanation *x)
{
    const struct live_job *elder = ties_elder(x->j);
    struct str s = {0};
    str_add(&s, "Only one job of its name and user may be active");
    if (elder) {
        str_add(&s, ", and ");
        phrase_job(&s, elder);
        str_add(&s, " is");
        add_expected_end(&s, x, elder);
    }
    str_add(&s, ".");
    explain_reason(x, "singleton", &s, elder ? explain_one(elder->row.id) : NULL);
    if (!elder)
        return;
    phrase_job(&s, elder);
    str_add(&s, " must be over first.");
    explain_free(x, &s);
}

static void array_limit(struct explanation *x)
{
    struct str s = {0};
    uint32_t limit = x->j->terms.array_limit;
    json_t *jobs = json_array();
    for (struct live_job *j = x->y->jobs.first; j; j = j->next) {
        if (j != x->j && j->row.array == x->j->row.array && j->task != TASK_NONE && !j->blocks)
            json_array_append_new(jobs, json_integer(j->row.id));
    }
    phrase_count(&s, limit, "job");
    str_add(&s, " of its array may be active at once, and so many are.");
    explain_reason(x, "array", &s, jobs);
    str_add(&s, "One of them must be over first.");
    explain_free(x, &s);
}

static void backoff(struct explanation *x)
{
    const struct job_row *row = &x->j->row;
    usec_t left = row->eligible - x->wall;
    struct str s = {0};
    str_add(&s, "It has failed ");
    str_addf(&s, row->failures == 1 ? "once" : "%u times", row->failures);
    if (row->reason && *row->reason) {
        str_add(&s, " (");
        str_add_utf8(&s, row->reason);
        str_add(&s, ")");
    }
    str_add(&s, "; the next try is in ");
    phrase_span(&s, left);
    str_addf(&s, ", which is number %u of %u.", row->failures + 1, x->j->terms.retries + 1);
    explain_reason(x, "backoff", &s, NULL);
    str_add(&s, "In ");
    phrase_span(&s, left);
    str_add(&s, " it goes back into the queue by itself.");
    explain_free(x, &s);
}

static void expect(struct explanation *x, usec_t at, const char *basis)
{
    x->start =
        json_pack("{s:o, s:o, s:s}", "expected", at ? json_real(time_seconds(at)) : json_null(),
                  "in_s", at ? json_real(time_seconds(at - x->wall)) : json_null(), "basis", basis);
}

/* The last end of those it waits for, if all of them are known; 0 otherwise. */
static usec_t last_end(const struct explanation *x)
{
    usec_t last = 0;
    for (size_t i = 0; i < x->j->deps.n; i++) {
        const struct live_dep *d = &x->j->deps.at[i];
        const struct live_job *on = d->met || !d->on ? NULL : yard_live(x->y, d->on);
        usec_t end = on ? forecast_end(x, on) : 0;
        if (end == USEC_NEVER || (on && d->kind == SPEC_AFTER))
            return 0;
        last = end > last ? end : last;
    }
    return last;
}

static void no_node(struct explanation *x)
{
    struct err err;
    struct str s = {0};
    if (rules_can_hold(x->y, x->j, &err) == 0)
        return; /* it is offered at the end of this turn */
    str_addf(&s, "No node can hold it now: it %s.", err.text);
    explain_reason(x, "nodes", &s, NULL);
    str_add(&s, "`trainyard nodes` shows what the nodes have; the job starts by itself when one "
                "is large enough again.");
    explain_free(x, &s);
}

static void expect_start(struct explanation *x)
{
    unsigned blocks = x->j->blocks;
    struct str basis = {0};
    usec_t end = blocks == BLOCK_DEPS ? last_end(x) : 0;
    if (blocks == BLOCK_BACKOFF) {
        expect(x, x->j->row.eligible, "then it is tried again, if there is room");
        return;
    }
    if (blocks & BLOCK_HOLD) {
        str_add(&basis, "it is held");
    } else if (blocks & BLOCK_NODES) {
        str_add(&basis, "no node can hold it now");
    } else if (end > x->now) {
        str_add(&basis, "not before the end of what it waits for, in about ");
        phrase_span(&basis, end - x->now);
    } else {
        str_add(&basis, "it is not in the queue yet");
    }
    expect(x, 0, basis.at);
    str_done(&basis);
}

void explain_blocked(struct explanation *x)
{
    unsigned blocks = x->j->blocks;
    if (blocks & BLOCK_HOLD)
        held(x);
    for (size_t i = 0; blocks & BLOCK_DEPS && i < x->j->deps.n; i++)
        if (!x->j->deps.at[i].met && x->j->deps.at[i].kind != SPEC_SINGLETON)
            depends(x, &x->j->deps.at[i]);
    if (blocks & BLOCK_SINGLETON)
        singleton(x);
    if (blocks & BLOCK_ARRAY)
        array_limit(x);
    if (blocks & BLOCK_NODES)
        no_node(x);
    if (blocks & BLOCK_BACKOFF)
        backoff(x);
    phrase_job(&x->summary, x->j);
    str_add(&x->summary, blocks & BLOCK_HOLD      ? " is held: it waits for a user to release it."
                         : blocks & BLOCK_BACKOFF ? " has failed and will be tried again."
                         : blocks & BLOCK_NODES   ? " waits for a node that can hold it."
                                                  : " waits for other jobs before it may queue.");
    expect_start(x);
}
