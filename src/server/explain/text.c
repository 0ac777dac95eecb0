/* Owns the phrases of explanations: jobs, amounts and times in words. */
#include "server/explain/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "server/jobs/preempted.h"
#include "server/jobs/standing.h"
#include "server/log.h"
#include "store/attempts.h"
#include "store/job_state.h"
#include "store/jobs.h"

static void add_job_name(struct str *out, int64_t id, const char *name)
{
    str_addf(out, "job %" PRId64, id);
    if (name && *name) {
        str_add(out, " (");
        str_add_utf8(out, name);
        str_add(out, ")");
    }
}

void phrase_job(struct str *out, const struct live_job *j)
{
    add_job_name(out, j->row.id, j->row.name);
}

static int add_stored_job(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    add_job_name(ctx, row->id, row->name);
    return 0;
}

void phrase_job_id(struct str *out, struct yard *y, int64_t id)
{
    const struct live_job *j = yard_live(y, id);
    if (j)
        phrase_job(out, j);
    else if (store_job_get(y->store, id, add_stored_job, out, NULL) < 0)
        add_job_name(out, id, NULL);
}

void phrase_units(struct str *out, unsigned pool, units_t n)
{
    str_addf(out, "%g %s%s", (double)n / UNIT, pool == POOL_CPU ? "CPU" : "GPU",
             n == UNIT ? "" : "s");
}

void phrase_count(struct str *out, uint64_t n, const char *what)
{
    str_addf(out, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

void phrase_span(struct str *out, usec_t span)
{
    double seconds = time_seconds(span > 0 ? span : 0);
    if (seconds < 1.5)
        str_add(out, seconds < 0.95 ? "less than a second" : "1 second");
    else if (seconds < 90)
        str_addf(out, "%.0f seconds", seconds);
    else if (seconds < 5400)
        str_addf(out, "%.0f minutes", seconds / 60);
    else if (seconds < 129600)
        str_addf(out, "%g hours", round(seconds / 360) / 10);
    else
        str_addf(out, "%g days", round(seconds / 8640) / 10);
}

json_t *explain_one(int64_t id)
{
    return json_pack("[I]", (json_int_t)id);
}

void explain_capitalise(struct str *s)
{
    if (s->n && s->at[0] >= 'a' && s->at[0] <= 'z')
        s->at[0] = (char)(s->at[0] - 'a' + 'A');
}

void explain_reason(struct explanation *x, const char *code, struct str *sentence, json_t *jobs)
{
    explain_capitalise(sentence);
    json_array_append_new(x->reasons, json_pack("{s:s, s:s, s:o}", "code", code, "text",
                                                sentence->at, "jobs", jobs ? jobs : json_array()));
    str_done(sentence);
}

void explain_standing(struct explanation *x)
{
    json_auto_t *list = standing_list(x->y, x->j);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct str s = {0};
        str_add(&s, json_string_value(json_array_get(list, i)));
        explain_reason(x, "standing", &s, NULL);
    }
}

void explain_start(struct explanation *x, usec_t in, const char *basis)
{
    bool known = in != USEC_NEVER;
    x->start = json_pack("{s:o, s:o, s:s}", "expected",
                         known ? json_real(time_seconds(x->wall + in)) : json_null(), "in_s",
                         known ? json_real(time_seconds(in)) : json_null(), "basis", basis);
}

void explain_free(struct explanation *x, struct str *sentence)
{
    explain_capitalise(sentence);
    json_array_append_new(x->frees, json_string(sentence->at));
    str_done(sentence);
}

struct last_preemption {
    int64_t by;
    usec_t at, lost;
};

static int find_preemption(void *ctx, const struct attempt_row *row, struct err *err)
{
    struct last_preemption *last = ctx;
    (void)err;
    if (job_state_over(row->state) && stop_why_parse(row->stop) == STOP_PREEMPT)
        *last = (struct last_preemption){row->stopped_by, row->ended, row->lost};
    return 0;
}

/* Adds how a job that was not stopped made room. */
static void add_frozen(const struct attempt *a, struct str *s)
{
    char span[32];
    if (a->paused)
        str_add(s, ": it is frozen in place");
    else if (a->since > a->frozen_at)
        str_addf(s, ": it was frozen in place for %s",
                 time_format(a->since - a->frozen_at, span, sizeof span));
}

/* Whether the attempt that runs has made room by being frozen, and not by being stopped. */
static bool was_frozen(const struct attempt *a)
{
    return a && a->frozen_at && a->stop != STOP_PREEMPT;
}

/* The last one: of the attempt that runs, if it was frozen, otherwise of an earlier attempt. */
static int read_preemption(const struct explanation *x, struct last_preemption *out,
                           struct err *err)
{
    const struct attempt *a = x->j->attempt;
    if (!was_frozen(a))
        return store_attempt_list(x->y->store, x->j->row.id, find_preemption, out, err);
    *out = (struct last_preemption){a->stopped_by, a->frozen_at, 0};
    return 0;
}

void explain_preemption(struct explanation *x)
{
    const struct attempt *a = x->j->attempt;
    struct last_preemption last = {0};
    struct str s = {0};
    struct err err;
    if (read_preemption(x, &last, &err) < 0)
        log_warning("job=%lld explain: %s", (long long)x->j->row.id, err.text);
    if (!last.at)
        return;
    str_add(&s, "It was ");
    preempted_phrase(last.by, last.at, last.lost, &s);
    if (was_frozen(a))
        add_frozen(a, &s);
    str_add(&s, ".");
    explain_reason(x, "preempted", &s, last.by ? explain_one(last.by) : NULL);
}
