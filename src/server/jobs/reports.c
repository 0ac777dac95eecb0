/* Owns the handling of reports: they update a job's progress and usage, its series of samples,
 * and the engine. Since every event of the engine is recorded, the engine gets an event only
 * when the expected work changes noticeably. */
#include "server/jobs/reports.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/events.h"
#include "server/jobs/attempts.h"
#include "server/jobs/early.h"
#include "server/jobs/elastic.h"
#include "server/jobs/metric_list.h"
#include "server/jobs/move.h"
#include "server/jobs/preempted.h"
#include "server/jobs/probe.h"
#include "server/jobs/reported.h"
#include "server/jobs/rules.h"
#include "server/jobs/size.h"
#include "server/load.h"
#include "server/log.h"
#include "server/notices/alarms.h"
#include "store/events.h"
#include "store/jobs.h"
#include "store/samples.h"

/* Unknown counts are negative in messages. */
static double count_or_nan(int64_t n)
{
    return n < 0 ? NAN : (double)n;
}

/* ---- the row ----------------------------------------------------------------- */

static void keep_progress(struct live_job *j)
{
    const struct progress_seen *p = &j->progress;
    struct job_row *row = &j->row;
    row->step = p->step;
    row->total = p->total > 0 ? p->total : NAN;
    row->epoch = p->epoch;
    row->epochs = p->epochs;
    row->loss = p->loss;
    row->metric = p->value;
    row->rate = p->rate;
    row->weak = p->weak;
    row->progress_at = p->at;
    snprintf(row->metric_name, sizeof row->metric_name, "%s", p->metric);
    snprintf(row->progress_source, sizeof row->progress_source, "%s", p->source);
    snprintf(row->total_from, sizeof row->total_from, "%s", p->total_from);
    snprintf(row->diverged, sizeof row->diverged, "%s",
             !p->diverged     ? ""
             : isnan(p->loss) ? "nan"
             : p->loss > 0    ? "inf"
                              : "-inf");
}

void report_recall(struct live_job *j)
{
    struct progress_seen *p = &j->progress;
    const struct job_row *row = &j->row;
    if (!row->progress_at)
        return;
    *p = (struct progress_seen){.known = true,
                                .at = row->progress_at,
                                .step = row->step,
                                .total = row->total,
                                .epoch = row->epoch,
                                .epochs = row->epochs,
                                .loss = row->loss,
                                .value = row->metric,
                                .rate = row->rate,
                                .weak = row->weak,
                                .diverged = *row->diverged,
                                .value_at = row->progress_at,
                                .value_known = row->progress_at};
    snprintf(p->metric, sizeof p->metric, "%s", row->metric_name);
    snprintf(p->source, sizeof p->source, "%s", row->progress_source);
    snprintf(p->total_from, sizeof p->total_from, "%s", row->total_from);
}

/* ---- the engine --------------------------------------------------------------- */

/* The engine's limit: a job may report any number of steps. */
#define WORK_MAX 1e17

/* Updates the engine's estimate if it is off by more than 5 %. */
static void tell_estimate(struct yard *y, struct live_job *j)
{
    const struct task *t = yard_task(y, j);
    struct err err;
    if (!t)
        return;
    double done = task_done(t, clock_now(&y->clock)),
           work = fmin(estimate_work(y, j, done), WORK_MAX);
    double left = work - done, thought = t->work - done;
    if (fabs(left - thought) <= fmax(0.05 * fmax(left, thought), 0.1 * USEC_PER_SEC))
        return;
    struct event event = {.kind = EVENT_PROGRESS, .task = j->task, .work = work, .done = done};
    if (yard_step(y, &event, &err) < 0)
        log_warning("job=%lld progress: %s", (long long)j->row.id, err.text);
}

static void step_sample(struct yard *y, const struct live_job *j, const struct sample *sample)
{
    struct event event = {.kind = EVENT_SAMPLE, .task = j->task, .sample = sample};
    struct err err;
    if (yard_step(y, &event, &err) < 0)
        log_warning("job=%lld sample: %s", (long long)j->row.id, err.text);
}

struct first_sample {
    uint32_t attempt;
    struct sample_row row;
    bool found;
};

static int see_sample(void *ctx, uint32_t attempt, const struct sample_row *row, struct err *err)
{
    (void)err;
    if (isnan(row->metric))
        return 0;
    *(struct first_sample *)ctx = (struct first_sample){attempt, *row, true};
    return 1;
}

/* If the engine has no metric of the job yet, it first gets the job's first value ever, from
 * which policies measure the improvement. */
static void tell_first(struct yard *y, const struct live_job *j, const struct sample *now)
{
    struct first_sample f = {.found = false};
    struct err err;
    if (store_sample_list(y->store, j->row.id, see_sample, &f, &err) < 0)
        log_warning("job=%lld samples: %s", (long long)j->row.id, err.text);
    usec_t at = f.row.at - y->clock.offset;
    if (!f.found || at >= now->at)
        return;
    struct sample first = *now;
    first.at = first.metric_at = at;
    first.metric = f.row.metric;
    first.step = f.row.step;
    /* Each attempt counts what it uses from zero. */
    if (f.attempt == j->attempt->n && !isnan(f.row.cpu_time)) {
        first.cpu_time = f.row.cpu_time;
        first.memory_mb = f.row.memory_mb;
        first.block_bytes = f.row.block_bytes;
        first.net_bytes = f.row.net_bytes;
    }
    step_sample(y, j, &first);
}

/* Called with each usage report, so that CPU time and metric are of the same time. */
static void tell_sample(struct yard *y, const struct live_job *j, const struct sample_row *row)
{
    const struct task *t = yard_task(y, j);
    struct sample sample = {
        .at = clock_now(&y->clock),
        .step = row->step,
        .metric = row->metric,
        .units = row->units,
        .cpu_time = row->cpu_time,
        .memory_mb = row->memory_mb,
        .block_bytes = row->block_bytes,
        .net_bytes = row->net_bytes,
    };
    /* The report cannot be newer than now, whatever the job's clock says. */
    sample.metric_at = j->progress.value_known - y->clock.offset;
    if (sample.metric_at > sample.at || !j->progress.known)
        sample.metric_at = sample.at;
    if (!isnan(sample.metric) && (!t->history || isnan(t->history->first.metric)))
        tell_first(y, j, &sample);
    step_sample(y, j, &sample);
}

/* One sample per second; a little less, since reports come once a second. */
#define SAMPLE_EVERY (USEC_PER_SEC * 9 / 10)

static struct sample_row make_sample(const struct live_job *j, const struct attempt *a, usec_t at)
{
    const struct usage_seen *u = &j->usage;
    return (struct sample_row){
        .at = at,
        .step = j->progress.known ? j->progress.step : NAN,
        .metric = j->progress.known ? j->progress.value : NAN,
        .units = (double)(a->pool == POOL_CPU ? a->cpus : a->gpus),
        .cpu_time = u->known ? u->cpu_s * 1e6 : NAN,
        .memory_mb = u->known ? u->memory_mb : NAN,
        .block_bytes = u->known ? u->block_bytes : NAN,
        .net_bytes = u->known ? u->net_bytes : NAN,
    };
}

/* Reports from a time without a server arrive at once, each with its own time. */
static void keep_sample(struct yard *y, struct live_job *j, const struct attempt *a, usec_t at)
{
    struct sample_row row = make_sample(j, a, at);
    struct err err;
    if (at - j->sampled < SAMPLE_EVERY)
        return;
    j->sampled = at;
    AUTO_FREE char *metrics = metric_list_print(j);
    row.metrics = metrics;
    if (store_sample_add(y->store, a->job, a->n, &row, &err) < 0)
        log_warning("job=%lld sample: %s", (long long)a->job, err.text);
}

/* Records the cost of a restart for a new size: from the signal to the next step. */
static void learn_cost(struct yard *y, struct live_job *j, struct attempt *a)
{
    usec_t cost = a->pause + clock_now(&y->clock) - a->resumed, old = j->row.resize_cost;
    a->resumed = 0;
    j->row.resize_cost = j->terms.resize_cost = old ? (old + cost) / 2 : cost;
    yard_touch(y, j);
    events_add(y, "job.restarted", a->job,
               json_pack("{s:I, s:f, s:f, s:f}", "attempt", (json_int_t)a->n, "cpus",
                         (double)a->cpus / UNIT, "cost_s", time_seconds(cost), "expected_s",
                         time_seconds(j->terms.resize_cost)));
    rules_tell_terms(y, j);
}

/* A report without a new value repeats the last one, as between two epochs. An unchanged value
 * counts as current only when a new one was due. */
static void take_value(struct progress_seen *p, double value)
{
    enum { EVERY = 60 };
    bool again = p->value_at && p->value == value, first = !p->value_at;
    if (!again) {
        p->value_every = first ? EVERY * USEC_PER_SEC : p->at - p->value_at;
        p->value_at = p->at;
    }
    if (!again || p->at - p->value_at > 2 * p->value_every)
        p->value_known = p->at;
    p->value = value;
}

/* The number by which the job is judged: the metric of its request, or what its conductor
 * chose. */
static void judge(const struct spec *s, const struct progress_message *m, struct progress_seen *p)
{
    const struct progress_report *r = &m->report;
    struct err checked;
    if (s->metric) {
        (void)condition_metric(s->metric, strlen(s->metric), p->metric, &checked);
        take_value(p, reported_number(m, s->metric));
        return;
    }
    take_value(p, isnan(r->value) ? r->loss : r->value);
    snprintf(p->metric, sizeof p->metric, "%s", r->metric);
}

static void take_report(struct progress_seen *p, const struct progress_report *r)
{
    p->step = count_or_nan(r->step);
    p->total = count_or_nan(r->total);
    p->epoch = r->epoch;
    p->epochs = count_or_nan(r->epochs);
    p->loss = r->loss;
    p->rate = r->rate;
    snprintf(p->source, sizeof p->source, "%s", r->source);
    snprintf(p->total_from, sizeof p->total_from, "%s", r->total_from);
}

/* The loss is not a number any more: the user should know at once, and may have asked to stop
 * the job then. */
static void tell_divergence(struct yard *y, struct live_job *j, const struct attempt *a)
{
    log_info("job=%lld attempt=%u loss=%s", (long long)a->job, a->n, j->row.diverged);
    events_add(y, "job.diverged", a->job,
               json_pack("{s:I, s:s, s:o}", "attempt", (json_int_t)a->n, "loss", j->row.diverged,
                         "step", isnan(j->row.step) ? json_null() : json_real(j->row.step)));
    if (j->submission->spec.stop_on_nan)
        attempt_stop(y, j, STOP_DIVERGED, -1);
}

static void tell_followers(struct yard *y, const struct live_job *j,
                           const struct progress_message *m)
{
    if (!events_progress_wanted(y, j->row.id))
        return;
    AUTO_FREE char *metrics = metric_list_print(j);
    events_progress(y, j->row.id, m->at, &m->report, metrics);
}

void report_progress(struct yard *y, struct attempt *a, const struct progress_message *m)
{
    struct live_job *j = yard_live(y, a->job);
    struct progress_seen *p = &j->progress;
    if (m->seq <= a->seq)
        return; /* repeated for a new server */
    a->seq = m->seq;
    p->known = true;
    p->at = m->at;
    bool diverges = m->diverged && !p->diverged;
    p->diverged = m->diverged;
    p->weak = m->weak;
    take_report(p, &m->report);
    judge(&j->submission->spec, m, p);
    metric_list_take(j, &m->metrics);
    if (a->resumed)
        learn_cost(y, j, a);
    if (j->moving.stopped)
        move_resumed(y, j);
    preempted_report(y, j, p->step);
    keep_progress(j);
    yard_touch(y, j);
    attempt_touch(y, a);
    estimate_report(y, j, p->at, p->step, p->value);
    tell_estimate(y, j);
    keep_sample(y, j, a, p->at);
    tell_followers(y, j, m);
    if (diverges)
        tell_divergence(y, j, a);
    alarms_progress(y, j);
    probe_report(y, j);
    early_report(y, j, m);
}

static double scaled(int64_t value, double by)
{
    return value < 0 ? NAN : (double)value / by;
}

/* The job asks whether to save a checkpoint: it can be stopped to make room. */
static void learn_saves(struct yard *y, struct live_job *j)
{
    j->row.saves = j->terms.resumes = true;
    rules_tell_terms(y, j);
    turn_hurry(y);
    log_info("job=%lld saves checkpoints when it is asked to", (long long)j->row.id);
}

void report_usage(struct yard *y, struct attempt *a, const struct usage_message *m)
{
    struct live_job *j = yard_live(y, a->job);
    struct usage_seen *u = &j->usage, before = *u;
    *u = (struct usage_seen){
        .known = true,
        .at = m->at,
        .cpu_s = fmax(scaled(m->usage.cpu_us, 1e6), 0),
        .memory_mb = fmax(scaled(m->usage.memory_bytes, 1048576), 0),
        .block_bytes = fmax(scaled(m->usage.block_bytes, 1), 0),
        .net_bytes = scaled(m->usage.net_bytes, 1),
        .throttled_s = fmax(scaled(m->usage.throttled_us, 1e6), 0),
        .processes = m->usage.processes > 0 ? m->usage.processes : 0,
        .threads = m->usage.pids > 0 ? m->usage.pids : 0,
        .cpus = NAN,
    };
    if (before.known && u->at > before.at)
        u->cpus = (u->cpu_s - before.cpu_s) / time_seconds(u->at - before.at);
    if (before.known) /* each attempt counts from zero */
        load_used(y, a->node, u->cpu_s < before.cpu_s ? u->cpu_s : u->cpu_s - before.cpu_s);
    if (m->saves && !j->terms.resumes)
        learn_saves(y, j);
    tell_estimate(y, j);
    yard_touch(y, j);
    attempt_touch(y, a);
    keep_sample(y, j, a, u->at);
    if (j->task != TASK_NONE && combo_needs_samples(&y->engine.config.combo)) {
        struct sample_row row = make_sample(j, a, u->at);
        tell_sample(y, j, &row);
    }
}

void report_samples(struct yard *y)
{
    if (!combo_needs_samples(&y->engine.config.combo))
        return;
    for (struct live_job *j = y->jobs.first; j; j = j->next) {
        const struct task *t = yard_task(y, j);
        if (!t || !j->attempt || !j->usage.known || t->history)
            continue;
        struct sample_row row = make_sample(j, j->attempt, j->usage.at);
        tell_sample(y, j, &row);
    }
}

void report_applied(struct yard *y, struct attempt *a, const struct applied_message *m)
{
    bool again = a->late;
    a->late = m->late;
    /* One thread and no parallel region: a shell, say, in which nothing is parallel. */
    a->threads = (uint32_t)(m->threads > 1 || m->regions > 0 ? m->threads : 0);
    log_info("job=%lld attempt=%u cpus=%g threads=%lld in_us=%lld%s", (long long)a->job, a->n,
             m->cpus, (long long)m->threads, (long long)m->in, a->late ? " late" : "");
    if (m->late && !again && a->threads)
        events_add(y, "job.late", a->job,
                   json_pack("{s:I, s:f, s:I}", "attempt", (json_int_t)a->n, "cpus", m->cpus,
                             "threads", (json_int_t)m->threads));
    if (m->misfit)
        elastic_keep_size(y, a, m->misfit);
    size_applied(y, a, m->cpus);
}

void report_restarted(struct yard *y, struct attempt *a, const struct restarted_message *m)
{
    struct live_job *j = yard_live(y, a->job);
    a->pause = m->pause;
    a->resumed = clock_now(&y->clock);
    estimate_break(y, j, NULL);
    if (!j->progress.known) /* it reports no steps to wait for */
        learn_cost(y, j, a);
    log_info("job=%lld attempt=%u restarted cpus=%g pause_us=%lld", (long long)a->job, a->n,
             m->cpus, (long long)m->pause);
    size_applied(y, a, m->cpus);
}
