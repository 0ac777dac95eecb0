/* Owns the answer to whether a deadline can be met. A copy of the engine runs on until the job has
 * ended (advisor/rollout.h). If that is too late, the copy is asked once more with the deadline at
 * the end that was found: a policy that had given the job up then serves it in time for it. */
#include "server/jobs/outlook.h"

#include "advisor/rollout.h"
#include "server/jobs/past.h"

/* The horizon is longer than anyone waits; the number of looks bounds the time of a request. */
static const struct rollout_limits limits = {366LL * 86400 * USEC_PER_SEC, 100000};

static const struct job *job_of(const struct live_job *j)
{
    return &j->job[j->job_now];
}

/* What is known of the work that it takes. A time limit only says what it takes at most. */
static enum outlook_basis find_work(const struct live_job *j, double *work)
{
    const struct job *job = job_of(j);
    unsigned pool = job->pool == POOL_ANY_GPU ? POOL_GPU : job->pool;
    *work = 0;
    if (estimate_knows_work(j))
        return OUTLOOK_BY_STEPS; /* the engine has it */
    if (j->past.known && j->past.work > 0) {
        *work = j->past.work;
        return OUTLOOK_BY_PAST;
    }
    *work = (double)j->terms.time_limit * speed_at(job_speed(job, pool), job->max);
    return j->terms.time_limit > 0 ? OUTLOOK_BY_LIMIT : OUTLOOK_BY_NOTHING;
}

/* One course with this deadline. */
static int run_course(const struct yard *y, const struct live_job *j, double work, usec_t deadline,
                      struct rollout_result *out)
{
    struct job job = *job_of(j);
    struct err err;
    uint32_t task = j->task;
    struct rollout *r = rollout_create(&y->engine, clock_now(&y->clock));
    job.deadline = deadline;
    int rc = task == TASK_NONE ? rollout_add_job(r, &job, &task, &err)
                               : rollout_set_job(r, task, &job, &err);
    if (rc == 0 && work > 0)
        rc = rollout_set_work(r, task, work, &err);
    if (rc == 0)
        rc = rollout_run(r, task, ROLLOUT_END, &limits, out, &err);
    if (rc == 0)
        rollout_result_done(out);
    rollout_free(r);
    return rc;
}

/* A job that may run until its time limit is late only if it starts too late. */
static enum outlook_kind judge(const struct outlook *o, const struct rollout_result *r,
                               usec_t deadline)
{
    if (r->end <= deadline)
        return OUTLOOK_MET;
    return o->basis != OUTLOOK_BY_LIMIT || r->start >= deadline ? OUTLOOK_LATE : OUTLOOK_UNKNOWN;
}

void outlook_make(const struct yard *y, const struct live_job *j, struct outlook *out)
{
    usec_t deadline = job_of(j)->deadline;
    struct rollout_result first = {0}, second = {0};
    double work;
    *out = (struct outlook){.kind = OUTLOOK_UNKNOWN, .end = USEC_NEVER, .start = USEC_NEVER};
    out->basis = find_work(j, &work);
    if (out->basis == OUTLOOK_BY_NOTHING || (j->task == TASK_NONE && j->blocks) ||
        run_course(y, j, work, deadline, &first) < 0 || first.end == USEC_NEVER)
        return;
    out->kind = judge(out, &first, deadline);
    if (out->kind == OUTLOOK_LATE && run_course(y, j, work, first.end, &second) == 0 &&
        second.end < first.end)
        first = second;
    out->end = first.end;
    out->start = first.start;
    out->units = first.units;
}

const char *outlook_name(enum outlook_kind kind)
{
    static const char *const names[] = {"met", "late", "unknown"};
    return names[kind];
}

static void add_span(struct str *out, usec_t span)
{
    char text[32];
    str_add(out, time_format(span > 0 ? span : 0, text, sizeof text));
}

static void add_unknown(const struct outlook *o, usec_t now, struct str *out)
{
    if (o->basis == OUTLOOK_BY_NOTHING) {
        str_add(out, ": how long the job takes is not known yet; its first steps, or --time-limit, "
                     "will tell");
    } else if (o->basis == OUTLOOK_BY_LIMIT && o->end != USEC_NEVER) {
        str_add(out, ": how long the job takes is not known yet; its time limit ends it in ");
        add_span(out, o->end - now);
        str_add(out, " at the latest");
    } else {
        str_add(out, ": whether it can be met is not known yet");
    }
}

static void add_end(const struct outlook *o, usec_t now, struct str *out)
{
    bool limited = o->basis == OUTLOOK_BY_LIMIT;
    if (o->kind == OUTLOOK_LATE && limited)
        return; /* that it starts too late is all that is known */
    str_add(out, o->kind == OUTLOOK_MET && !limited ? " and ends in about " : " and ends in ");
    add_span(out, o->end - now);
    str_add(out, o->kind == OUTLOOK_LATE ? " at the earliest" : limited ? " at the latest" : "");
}

void outlook_phrase(const struct yard *y, const struct live_job *j, const struct outlook *o,
                    struct str *out)
{
    usec_t now = clock_now(&y->clock);
    const char *unit = job_of(j)->pool == POOL_CPU ? "CPU" : "GPU";
    str_add(out, "the deadline in ");
    add_span(out, job_of(j)->deadline - now);
    if (o->kind == OUTLOOK_UNKNOWN) {
        add_unknown(o, now, out);
        return;
    }
    str_add(out, o->kind == OUTLOOK_MET ? " can be met: it starts " : " cannot be met: it starts ");
    if (o->start <= now + USEC_PER_SEC) {
        str_add(out, "at once");
    } else {
        str_add(out, "in ");
        add_span(out, o->start - now);
    }
    str_addf(out, " on %g %s%s", (double)o->units / UNIT, unit, o->units == UNIT ? "" : "s");
    add_end(o, now, out);
}
