/* Owns submission: expands arrays into jobs, resolves dependencies to ids, and accepts a batch
 * as a whole or not at all. */
#include "server/jobs/submit.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "progress/pattern.h"
#include "progress/progress.h"
#include "server/events.h"
#include "server/jobs/eligible.h"
#include "server/jobs/find.h"
#include "server/jobs/rules.h"
#include "server/log.h"
#include "server/nodes.h"
#include "server/yard.h"
#include "store/deps.h"
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "wire/spec_lists.h"

/* The jobs of one batch. Until they are written and have ids, dependencies refer to the i-th
 * as -(i + 1). */
struct batch {
    VEC(struct live_job *) jobs;
    VEC(uint32_t) of; /* index of each job's request */
};

/* ---- one job ------------------------------------------------------------- */

struct look {
    enum job_state state;
    bool started;
    int64_t array;
};

static int see_state(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    *(struct look *)ctx = (struct look){row->state, row->started > 0, row->array};
    return 0;
}

static int add_dep(struct yard *y, struct live_job *j, enum spec_dep_kind kind, int64_t on,
                   struct err *err)
{
    struct look look;
    if (store_job_get(y->store, on, see_state, &look, err) < 0)
        return -1;
    const struct live_job *live = yard_live(y, on);
    if (live)
        look = (struct look){live->row.state, live->row.started > 0, live->row.array};
    enum dep_state state = rules_dep(kind, look.state, look.started);
    if (state == DEP_NEVER)
        return err_set(err, ERR_CONFLICT, "%s:%lld can never be met: job %lld is %s",
                       spec_dep_name(kind), (long long)on, (long long)on,
                       job_state_name(look.state));
    VEC_PUSH(&j->deps, (struct live_dep){kind, on, state == DEP_MET});
    return 0;
}

struct members {
    struct yard *y;
    struct live_job *j;
    enum spec_dep_kind kind;
};

static int add_member(void *ctx, const struct job_row *row, struct err *err)
{
    struct members *m = ctx;
    return add_dep(m->y, m->j, m->kind, row->id, err);
}

/* Adds dependencies on jobs of this name that come earlier in the same batch. */
static bool add_deps_in_batch(const struct batch *b, struct live_job *j, const struct spec_dep *d)
{
    uint32_t own = b->of.at[b->jobs.n - 1];
    bool found = false;
    for (size_t i = 0; i < b->jobs.n && b->of.at[i] < own; i++)
        if (!strcmp(b->jobs.at[i]->row.name, d->job)) {
            VEC_PUSH(&j->deps, (struct live_dep){d->kind, -(int64_t)i - 1, false});
            found = true;
        }
    return found;
}

/* The id of an array's first job refers to all its jobs. */
static int add_deps(struct yard *y, const struct batch *b, struct live_job *j,
                    const struct spec_dep *d, struct err *err)
{
    struct look look;
    int64_t on;
    if (d->kind == SPEC_SINGLETON) {
        VEC_PUSH(&j->deps, (struct live_dep){.kind = d->kind});
        return 0;
    }
    if (add_deps_in_batch(b, j, d))
        return 0;
    if (find_job(y, d->job, &on, err) < 0 || store_job_get(y->store, on, see_state, &look, err) < 0)
        return -1;
    if (look.array != on)
        return add_dep(y, j, d->kind, on, err);
    struct job_filter filter = {.array = on};
    struct members members = {y, j, d->kind};
    return store_job_list(y->store, &filter, add_member, &members, err);
}

static struct live_job *make_live(const struct spec *s, usec_t now)
{
    struct live_job *j = xcalloc(1, sizeof *j);
    usec_t deadline = s->deadline_at ? s->deadline_at : s->deadline ? now + s->deadline : 0;
    j->task = TASK_NONE;
    j->row = (struct job_row){
        .name = xstrdup(s->name),
        .user = xstrdup(s->user),
        .reason = xstrdup(""),
        .state = s->hold ? JOB_HELD : JOB_QUEUED,
        .held = s->hold,
        .priority = s->priority,
        .submitted = now,
        .deadline = deadline,
        .code = -1,
        .work = TERMS_WORK_UNKNOWN,
        .step = NAN,
        .total = s->total > 0 ? s->total : NAN,
        .epoch = NAN,
        .epochs = NAN,
        .loss = NAN,
        .metric = NAN,
        .rate = NAN,
    };
    return j;
}

/* ---- a batch ------------------------------------------------------------- */

static void batch_done(struct yard *y, struct batch *b)
{
    for (size_t i = 0; i < b->jobs.n; i++) {
        submission_drop(&y->submissions, b->jobs.at[i]->submission);
        live_job_free(b->jobs.at[i]);
    }
    VEC_DONE(&b->jobs);
    VEC_DONE(&b->of);
}

/* Makes the jobs of one request, without writing them. */
static int expand_request(struct yard *y, const struct spec *s, uint32_t at, usec_t now,
                          struct batch *b, const char **field, struct err *err)
{
    uint32_t n = s->array.n ? indices_count(&s->array) : 1;
    struct live_job *first = make_live(s, now);
    *field = NULL;
    VEC_PUSH(&b->jobs, first);
    VEC_PUSH(&b->of, at);
    if (s->image && !nodes_run_images(y)) {
        *field = "image";
        return err_set(err, ERR_INVALID,
                       "image: no node can run containers; remove it to run the job as a process");
    }
    if (s->deadline_at && s->deadline_at <= now) {
        *field = "deadline_at";
        return err_set(err, ERR_INVALID, "deadline_at: must be in the future");
    }
    if (s->pattern && progress_pattern_check(s->pattern, err) < 0) {
        *field = "pattern";
        return -1;
    }
    if (terms_from_spec(s, &first->terms, err) < 0 || rules_make_job(y, first, err) < 0)
        return -1;
    if (rules_can_hold(y, first, err) < 0) {
        bool unknown = s->gpu_type && cluster_gpu_pool(&y->cluster, s->gpu_type) == POOLS_MAX;
        *field = unknown ? "gpu_type" : NULL;
        return -1;
    }
    for (uint32_t i = 0; i < s->after.n; i++)
        if (add_deps(y, b, first, &s->after.at[i], err) < 0) {
            *field = "after";
            return -1;
        }
    for (uint32_t i = 1; i < n; i++) {
        struct live_job *j = make_live(s, now);
        j->terms = first->terms;
        for (size_t k = 0; k < first->deps.n; k++)
            VEC_PUSH(&j->deps, first->deps.at[k]);
        VEC_PUSH(&b->jobs, j);
        VEC_PUSH(&b->of, at);
    }
    uint32_t k = 0;
    struct live_job **jobs = b->jobs.at + (b->jobs.n - n);
    for (uint32_t i = 0; i < s->array.n; i++)
        for (uint64_t x = s->array.at[i].first; x <= s->array.at[i].last; x += s->array.at[i].step)
            jobs[k++]->row.array_index = (int64_t)x;
    return 0;
}

static int write_job(struct yard *y, const struct batch *b, struct live_job *j, int64_t array,
                     struct err *err)
{
    j->row.request = j->submission->id;
    j->row.array = array;
    terms_to_row(&j->terms, &j->row);
    if (store_job_add(y->store, &j->row, &j->row.id, err) < 0)
        return -1;
    j->row.array = array == JOB_ARRAY_FIRST ? j->row.id : array;
    for (size_t i = 0; i < j->deps.n; i++) {
        struct live_dep *d = &j->deps.at[i];
        if (d->on < 0)
            d->on = b->jobs.at[-d->on - 1]->row.id;
        if (store_dep_add(y->store, j->row.id, d->kind, d->on, err) < 0)
            return -1;
    }
    return 0;
}

/* Writes request number `at`, which is empty afterwards, and its jobs, from *next on. */
static int write_request(struct yard *y, struct spec *s, uint32_t at, struct batch *b, size_t *next,
                         struct err *err)
{
    int64_t array = s->array.n ? JOB_ARRAY_FIRST : 0;
    struct submission *submission = submission_add(&y->submissions, y->store, s, err);
    int rc = submission ? 0 : -1;
    for (; rc == 0 && *next < b->jobs.n && b->of.at[*next] == at; ++*next) {
        struct live_job *j = b->jobs.at[*next];
        j->submission = submission_share(submission);
        rc = write_job(y, b, j, array, err);
        if (array == JOB_ARRAY_FIRST)
            array = j->row.id;
    }
    submission_drop(&y->submissions, submission);
    return rc;
}

/* Registers the jobs and offers them to the engine. */
static void register_jobs(struct yard *y, struct batch *b, struct ids *ids)
{
    struct err err;
    for (size_t i = 0; i < b->jobs.n; i++) {
        struct live_job *j = b->jobs.at[i];
        live_add(&y->jobs, j);
        live_depend(&y->jobs, j);
        VEC_PUSH(ids, j->row.id);
        rules_make_job(y, j, &err);
        events_add(y, "job.submitted", j->row.id, json_pack("{s:s}", "name", j->row.name));
    }
    for (size_t i = 0; i < b->jobs.n; i++)
        eligible_offer(y, b->jobs.at[i]);
    b->jobs.n = 0;
    turn_hurry(y);
}

int submit_jobs(struct yard *y, struct spec *specs, size_t n, struct ids *ids, size_t *at,
                const char **field, struct err *err)
{
    struct batch b = {0};
    usec_t now = clock_wall(&y->clock);
    size_t next = 0;
    int rc = 0;
    *field = NULL;
    for (*at = 0; rc == 0 && *at < n; ++*at)
        rc = expand_request(y, &specs[*at], (uint32_t)*at, now, &b, field, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = write_request(y, &specs[i], (uint32_t)i, &b, &next, err);
    if (rc == 0)
        register_jobs(y, &b, ids);
    else if (*at)
        --*at;
    batch_done(y, &b);
    return rc;
}
