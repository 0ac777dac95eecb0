/* Owns the explanation of a job that is not in the queue: what it waits for, and how to
 * unblock it. */
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
    str_add(out,
            forecast_basis(j) == END_KNOWN ? " and should end in about " : " and ends in at most ");
    phrase_span(out, end - x->now);
}

static void add_hold(struct explanation *x)
{
    struct str s = {0};
    str_add(&s, "A user put it on hold.");
    explain_reason(x, "hold", &s, NULL);
    str_addf(&s, "`trainyard release %" PRId64 "` releases it.", x->j->row.id);
    explain_free(x, &s);
}

/* What must happen to the other job. */
static const struct {
    const char *must, *has;
} wanted[] = {
    [SPEC_AFTER] = {"start", "started"},
    [SPEC_AFTEROK] = {"succeed", "succeeded"},
    [SPEC_AFTERNOTOK] = {"fail", "failed"},
    [SPEC_AFTERANY] = {"end", "ended"},
};

static void add_dependency(struct explanation *x, const struct live_dep *d)
{
    const struct live_job *on = yard_live(x->y, d->on);
    struct str s = {0};
    str_add(&s, "It may start once ");
    phrase_job_id(&s, x->y, d->on);
    str_addf(&s, " has %s", wanted[d->kind].has);
    if (on) {
        str_addf(&s, "; that job is %s", job_state_name(on->row.state));
        add_expected_end(&s, x, on);
    }
    str_add(&s, ".");
    explain_reason(x, "dependency", &s, explain_one(d->on));
    phrase_job_id(&s, x->y, d->on);
    str_addf(&s, " must %s first.", wanted[d->kind].must);
    explain_free(x, &s);
}

static void add_singleton(struct explanation *x)
{
    const struct live_job *elder = ties_elder(x->j);
    struct str s = {0};
    str_add(&s, "Jobs of the same name and user run one at a time");
    if (elder) {
        str_add(&s, "; ");
        phrase_job(&s, elder);
        str_add(&s, " was submitted earlier");
        add_expected_end(&s, x, elder);
    }
    str_add(&s, ".");
    explain_reason(x, "singleton", &s, elder ? explain_one(elder->row.id) : NULL);
    if (!elder)
        return;
    phrase_job(&s, elder);
    str_add(&s, " must end first.");
    explain_free(x, &s);
}

static void add_array_limit(struct explanation *x)
{
    struct str s = {0};
    uint32_t limit = x->j->terms.array_limit;
    json_t *jobs = json_array();
    for (struct live_job *j = x->y->jobs.first; j; j = j->next) {
        if (j != x->j && j->row.array == x->j->row.array && j->task != TASK_NONE && !j->blocks)
            json_array_append_new(jobs, json_integer(j->row.id));
    }
    str_add(&s, "Its array may have at most ");
    phrase_count(&s, limit, "active job");
    str_add(&s, ", and this limit is reached.");
    explain_reason(x, "array", &s, jobs);
    str_add(&s, "An active job of the array must end first.");
    explain_free(x, &s);
}

static void add_backoff(struct explanation *x)
{
    const struct job_row *row = &x->j->row;
    usec_t left = row->eligible - x->wall;
    struct str s = {0};
    if (!row->failures) { /* it waits for something of the machine */
        str_add_utf8(&s, row->reason);
        str_add(&s, ". It is tried again in ");
        phrase_span(&s, left);
        str_add(&s, ".");
        explain_reason(x, "retry", &s, NULL);
        return;
    }
    str_add(&s, "It has failed ");
    str_addf(&s, row->failures == 1 ? "once" : "%u times", row->failures);
    if (row->reason && *row->reason) {
        str_add(&s, " (");
        str_add_utf8(&s, row->reason);
        str_add(&s, ")");
    }
    str_add(&s, "; it is retried in ");
    phrase_span(&s, left);
    str_addf(&s, " (try %u of %u).", row->failures + 1, x->j->terms.retries + 1);
    explain_reason(x, "backoff", &s, NULL);
    str_add(&s, "It returns to the queue in ");
    phrase_span(&s, left);
    str_add(&s, ".");
    explain_free(x, &s);
}

/* The latest expected end of the jobs that it waits for; 0 when one of them is unknown. */
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

static void add_no_node(struct explanation *x)
{
    struct err err;
    struct str s = {0};
    if (rules_can_hold(x->y, x->j, &err) == 0)
        return; /* it enters the queue at the end of this turn */
    str_addf(&s, "No node can run it now: it %s.", err.text);
    explain_reason(x, "nodes", &s, NULL);
    str_add(&s, "The job enters the queue when a node is large enough again; `trainyard nodes` "
                "shows what each node has.");
    explain_free(x, &s);
}

static void expect_start(struct explanation *x)
{
    unsigned blocks = x->j->blocks;
    struct str basis = {0};
    usec_t end = blocks == BLOCK_DEPS ? last_end(x) : 0;
    if (blocks == BLOCK_BACKOFF) {
        explain_start(x, x->j->row.eligible - x->wall, "the retry is due then");
        return;
    }
    if (blocks & BLOCK_HOLD) {
        str_add(&basis, "it is on hold");
    } else if (blocks & BLOCK_NODES) {
        str_add(&basis, "no node can run it now");
    } else if (end > x->now) {
        str_add(&basis, "not before the jobs that it waits for end, in about ");
        phrase_span(&basis, end - x->now);
    } else {
        str_add(&basis, "it is not in the queue yet");
    }
    explain_start(x, USEC_NEVER, basis.at);
    str_done(&basis);
}

void explain_blocked(struct explanation *x)
{
    unsigned blocks = x->j->blocks;
    if (blocks & BLOCK_HOLD)
        add_hold(x);
    for (size_t i = 0; blocks & BLOCK_DEPS && i < x->j->deps.n; i++)
        if (!x->j->deps.at[i].met && x->j->deps.at[i].kind != SPEC_SINGLETON)
            add_dependency(x, &x->j->deps.at[i]);
    if (blocks & BLOCK_SINGLETON)
        add_singleton(x);
    if (blocks & BLOCK_ARRAY)
        add_array_limit(x);
    if (blocks & BLOCK_NODES)
        add_no_node(x);
    if (blocks & BLOCK_BACKOFF)
        add_backoff(x);
    phrase_job(&x->summary, x->j);
    str_add(&x->summary, blocks & BLOCK_HOLD ? " is on hold until a user releases it."
                         : blocks & BLOCK_BACKOFF && x->j->row.failures
                             ? " failed and will be retried."
                         : blocks & BLOCK_BACKOFF ? " could not start and will be tried again."
                         : blocks & BLOCK_NODES   ? " waits for a node that can run it."
                                                  : " waits for other jobs before it can queue.");
    expect_start(x);
}
