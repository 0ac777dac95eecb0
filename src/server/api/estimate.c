/* Owns the endpoint that explains when a job is expected to end, and why. */
#include <math.h>

#include "base/str.h"
#include "server/api/band.h"
#include "server/api/call.h"
#include "server/api/parts.h"
#include "server/jobs/estimate.h"
#include "server/jobs/outlook.h"
#include "server/jobs/past.h"

enum { SIZES_MAX = 16 };

struct size_view {
    double units;
    json_t *step_s, *remaining_s;
    bool measured, held;
};

static const struct api_member size_members[] = {
    API_NUMBER(size_view, units, "CPUs, or GPUs of a job with GPUs"),
    API_JSON(size_view, step_s, "Band", "Time of a step there, in seconds"),
    API_JSON(size_view, remaining_s, "Band|null", "Time left there, in seconds"),
    API_BOOLEAN(size_view, measured, "Whether the job was measured on this size"),
    API_BOOLEAN(size_view, held, "Whether it holds this size now"),
    {0},
};

static const struct api_schema size_schema = {"SizeEstimate", .members = size_members};

#define BASIS_WORDS "unknown|declared|target|settled|unreachable|earlier runs"

static const struct api_member basis_words[] = {API_MEMBER("", BASIS_WORDS, ""), {0}};
static const struct api_schema basis_schema = {"EndBasis", API_WORDS, .members = basis_words};

struct estimate_view {
    int64_t job;
    const char *basis, *text, *unit, *deadline;
    double step;
    json_t *end_step, *remaining_s, *sizes;
    int64_t past_jobs;
    double past_error, past_inside;
};

static const struct api_member estimate_members[] = {
    API_INTEGER(estimate_view, job, "Number of the job"),
    API_WORD(estimate_view, basis, "EndBasis",
             "What the end is known by: its total, the value at which its metric ends it or that "
             "is its target, where its metric stops improving, or the time of earlier runs"),
    API_STRING(estimate_view, text, "The same in sentences"),
    API_STRING(estimate_view, deadline,
               "Whether its deadline can be met, with what, and when otherwise; empty without one"),
    API_STRING(estimate_view, unit, "cpus or gpus: what its sizes count"),
    API_NUMBER_OR_NULL(estimate_view, step, "Steps done"),
    API_JSON(estimate_view, end_step, "Band|null", "The step at which it ends"),
    API_JSON(estimate_view, remaining_s, "Band|null", "Time left on its present size, in seconds"),
    API_JSON(estimate_view, sizes, "SizeEstimate[]", "What it would take on other sizes"),
    API_INTEGER(estimate_view, past_jobs, "Finished jobs of its category whose end was estimated"),
    API_NUMBER_OR_NULL(estimate_view, past_error,
                       "Mean error of these estimates, at a quarter of the steps; 0.1 = 10 %"),
    API_NUMBER_OR_NULL(estimate_view, past_inside, "Part of these ends that were in the band"),
    {0},
};

static const struct api_schema estimate_schema = {"Estimate", .members = estimate_members};

/* ---- sentences -------------------------------------------------------------------- */

static void add_end(const struct live_job *j, enum steps_basis basis, const struct range *end,
                    struct str *out)
{
    const struct progress_seen *p = &j->progress;
    if (basis == STEPS_DECLARED) {
        str_addf(out, "It has made %.0f of %.0f steps; the total is from %s.", p->step, end->mid,
                 *p->total_from ? p->total_from : "its output");
        return;
    }
    str_addf(out, "The curve that is fitted to its %s %s at step %.0f", p->metric,
             basis == STEPS_TARGET ? "reaches its target" : "stops improving", end->mid);
    if (isfinite(end->high))
        str_addf(out, " (%.0f to %.0f)", end->low, end->high);
    str_add(out, ", which is taken as its end.");
}

static void add_unknown(const struct live_job *j, struct str *out)
{
    const struct progress_seen *p = &j->progress;
    double flat;
    if (!p->known || isnan(p->step))
        str_add(out, "It has not reported a step yet, so its end is not known.");
    else if (p->weak && p->total > 0)
        str_addf(out,
                 "It shows %.0f of %.0f, but that may not be its training; give the total "
                 "with --total.",
                 p->step, p->total);
    else if (j->estimate.curve.left.basis == STEPS_UNREACHABLE)
        str_addf(out, "It reports no total, and its %s is not expected to reach its target.",
                 p->metric);
    else if (curve_flat(j, &flat))
        str_addf(out,
                 "It reports no total. Its %s is expected to be flat from step %.0f on, which "
                 "need not be its end; give the total with --total.",
                 p->metric, flat);
    else
        str_add(out, "It reports no total, and its metric does not predict an end either; give the "
                     "total with --total.");
}

static void add_speed(const struct live_job *j, struct str *out)
{
    uint32_t sizes = j->estimate.fit.sizes;
    if (sizes == 0)
        str_add(out, " How long a step takes is not known yet.");
    else if (sizes == 1 && j->estimate.fit.category)
        str_add(out,
                " It was measured on one size; others are expected to scale like finished jobs of "
                "its category.");
    else if (sizes == 1)
        str_add(out, " It was measured on one size; others are assumed to scale with a loss of 5 % "
                     "for each further unit.");
    else
        str_addf(out, " It was measured on %u sizes.", sizes);
}

/* How far such estimates can be trusted. */
static void add_record(const struct live_job *j, struct str *out)
{
    const struct estimate_score *s = &j->estimate.prior.score;
    if (!s->n)
        return;
    str_addf(
        out,
        " At a quarter of their steps, estimates of %u finished job%s of its category were off "
        "by %.0f %% on average, and %u of %u ends were inside the band.",
        s->n, s->n == 1 ? "" : "s", 100 * s->error, s->inside, s->n);
}

/* ---- figures ---------------------------------------------------------------------- */

static void add_size(const struct yard *y, const struct live_job *j, units_t n, json_t *list)
{
    const struct attempt *a = j->attempt;
    struct range step = speed_fit_step(&j->estimate.fit, n), left;
    struct size_view v = {.units = api_units(n)};
    struct range seconds = {step.low / 1e6, step.mid / 1e6, step.high / 1e6};
    struct range seen;
    v.measured =
        j->estimate.seen && speed_seen_step(j->estimate.seen, clock_wall(&y->clock), n, &seen);
    v.held = a && !a->paused && n == (a->pool == POOL_CPU ? a->cpus : a->gpus);
    v.step_s = band_print(&seconds);
    v.remaining_s = estimate_left_on(y, j, n, &left) ? band_print(&left) : NULL;
    json_array_append_new(list, api_print(&size_schema, &v));
}

/* All whole sizes, or so many of them that they fit, and the present one. */
static json_t *list_sizes(const struct yard *y, const struct live_job *j)
{
    const struct terms *t = &j->terms;
    bool gpu = t->pool != POOL_CPU;
    units_t min = gpu ? t->gpus_min : t->cpus_min, max = gpu ? t->gpus_max : t->cpus_max;
    json_t *list = json_array();
    if (!j->estimate.fit.sizes)
        return list;
    bool doubles = (max - min) / UNIT >= SIZES_MAX;
    for (units_t n = min, k = 0; n <= max && k < SIZES_MAX; k++) {
        units_t next = doubles && n >= UNIT ? 2 * n : n / UNIT * UNIT + UNIT;
        add_size(y, j, n, list);
        n = n < max && next > max ? max : next;
    }
    return list;
}

/* Of a job that tells no steps, going by an earlier run. */
static bool left_by_past(const struct yard *y, const struct live_job *j, struct range *out)
{
    const struct task *t = j->attempt ? yard_task(y, j) : NULL;
    if (!t || !(t->rate > 0))
        return false;
    double done = task_done(t, clock_now(&y->clock)), work = past_work(j, done);
    if (isnan(work))
        return false;
    double left = (work - done) / t->rate / USEC_PER_SEC;
    *out = (struct range){NAN, left, NAN};
    return true;
}

static void add_deadline(const struct yard *y, const struct live_job *j, struct str *out)
{
    struct outlook o;
    usec_t passed = clock_wall(&y->clock) - j->row.deadline;
    char text[32];
    if (passed >= 0) {
        str_addf(out, "the deadline has passed %s ago", time_format(passed, text, sizeof text));
        return;
    }
    outlook_make(y, j, &o);
    outlook_phrase(y, j, &o, out);
}

static json_t *print_estimate(const struct yard *y, const struct live_job *j)
{
    static const char *const names[] = {"unknown", "declared", "target", "settled", "unreachable"};
    struct range end, left;
    struct str text = {0}, deadline = {0};
    enum steps_basis basis = estimate_end(j, &end);
    bool known = basis != STEPS_UNKNOWN, past = !known && left_by_past(y, j, &left);
    struct estimate_view v = {.job = j->row.id, .basis = past ? "earlier runs" : names[basis]};
    if (known)
        add_end(j, basis, &end, &text);
    else if (past)
        str_add(&text, "It tells no steps; an earlier run of the same program tells how long.");
    else
        add_unknown(j, &text);
    if (!known && !past && j->estimate.curve.left.basis == STEPS_UNREACHABLE)
        v.basis = names[STEPS_UNREACHABLE];
    add_speed(j, &text);
    add_record(j, &text);
    v.text = text.at;
    v.unit = j->terms.pool == POOL_CPU ? "cpus" : "gpus";
    if (j->row.deadline)
        add_deadline(y, j, &deadline);
    v.deadline = deadline.at ? deadline.at : "";
    v.step = j->progress.known ? j->progress.step : NAN;
    v.end_step = known ? band_print(&end) : NULL;
    v.remaining_s = past || estimate_left(y, j, &left) ? band_print(&left) : NULL;
    v.sizes = list_sizes(y, j);
    const struct estimate_score *score = &j->estimate.prior.score;
    v.past_jobs = score->n;
    v.past_error = score->n ? score->error : NAN;
    v.past_inside = score->n ? (double)score->inside / score->n : NAN;
    json_t *out = api_print(&estimate_schema, &v);
    str_done(&text);
    str_done(&deadline);
    return out;
}

static void show_estimate(const struct api_call *c)
{
    const struct live_job *j = yard_live(c->yard, c->job);
    struct err err;
    if (j) {
        turn_reply(c->yard, c->reply, 200, print_estimate(c->yard, j));
        return;
    }
    err_set(&err, ERR_CONFLICT, "job %lld has ended; there is nothing to estimate",
            (long long)c->job);
    reply_problem(c->reply, &err, NULL);
}

static const struct api_schema *const schemas[] = {&band_schema, &basis_schema, &size_schema,
                                                   &estimate_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "job_estimate",
        .method = "GET",
        .path = API_V1 "/jobs/{id}/estimate",
        .handle = show_estimate,
        .summary = "Explain when a job is expected to end",
        .description = "What its end is known by, how long a step takes on each size, and the time "
                       "that is left there.",
        .replies = {{200, "Estimate", "The estimate"}},
    },
    {0},
};

const struct api_part api_part_estimate = {"Jobs", endpoints, schemas};
