/* Owns loading the yard from the store: nodes, engine, jobs and their dependencies.
 * Running attempts are handled in jobs/adopt.c. */
#include "server/boot.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/version.h"
#include "policy/combo.h"
#include "server/automatic.h"
#include "server/jobs/adopt.h"
#include "server/jobs/attempts.h"
#include "server/jobs/category.h"
#include "server/jobs/early.h"
#include "server/jobs/past.h"
#include "server/jobs/reports.h"
#include "server/jobs/rules.h"
#include "server/log.h"
#include "server/nodes.h"
#include "server/stretch.h"
#include "server/studies.h"
#include "server/upgrade.h"
#include "store/deps.h"
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/nodes.h"
#include "store/store.h"

/* ---- the engine ------------------------------------------------------------- */

static int make_engine(struct yard *y, struct err *err)
{
    AUTO_FREE char *kept = store_meta_get(y->store, "policy");
    struct combo combo = y->config.combo;
    struct err bad;
    if (kept && !y->config.combo_given && combo_parse(kept, &combo, &bad) < 0)
        log_warning("stored policy '%s' is ignored: %s", kept, bad.text);
    if (stretch_begin(y, &combo, err) < 0)
        return -1;
    return store_meta_set(y->store, "policy", combo.name, err);
}

/* ---- jobs ---------------------------------------------------------------- */

static void drop_live(struct yard *y, struct live_job *j)
{
    submission_drop(&y->submissions, j->submission);
    live_job_free(j);
}

static struct live_job *make_live(struct yard *y, const struct job_row *row, struct err *err)
{
    struct live_job *j = xcalloc(1, sizeof *j);
    j->row = job_row_copy(row);
    j->task = TASK_NONE;
    j->first_step = NAN;
    j->submission = submission_get(&y->submissions, y->store, row->request, err);
    int rc = j->submission ? terms_from_spec(&j->submission->spec, &j->terms, err) : -1;
    if (rc == 0) {
        terms_follow_row(&j->terms, row);
        report_recall(j);
        category_find(y, j);
        rc = estimate_load(y->store, j, err);
        if (rc == 0)
            rc = early_recall(y, j, err);
        if (rc == 0)
            past_find(y, j);
    }
    if (rc == 0)
        rc = rules_make_job(y, j, err);
    if (rc == 0)
        return j;
    drop_live(y, j);
    return NULL;
}

struct unusable {
    struct yard *y;
    VEC(int64_t) ids; /* jobs that this version cannot run */
    VEC(char *) why;
};

static int load_job(void *ctx, const struct job_row *row, struct err *err)
{
    struct unusable *u = ctx;
    struct live_job *j = make_live(u->y, row, err);
    if (j) {
        live_add(&u->y->jobs, j);
        return 0;
    }
    if (err->code == ERR_IO || err->code == ERR_INTERNAL)
        return -1; /* the store failed, not the job */
    VEC_PUSH(&u->ids, row->id);
    VEC_PUSH(&u->why, xstrdup(err->text));
    return 0;
}

static int take_row(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    *(struct job_row *)ctx = job_row_copy(row);
    return 0;
}

/* A job that this version cannot run fails with the reason; the server goes on. */
static int end_unusable(struct yard *y, int64_t id, const char *why, struct err *err)
{
    struct job_row row;
    if (store_job_get(y->store, id, take_row, &row, err) < 0)
        return -1;
    struct job_row end = row;
    end.state = JOB_FAILED;
    end.ended = clock_wall(&y->clock);
    end.code = 125;
    end.reason = why;
    log_warning("job=%lld cannot run with this version: %s", (long long)id, why);
    int rc = store_job_save(y->store, &end, err);
    job_row_done(&row);
    return rc;
}

static int load_jobs(struct yard *y, struct err *err)
{
    struct job_filter filter = {.oldest_first = true};
    struct unusable u = {.y = y};
    for (int state = 0; state < JOB_STATE_COUNT; state++)
        if (!job_state_over((enum job_state)state))
            filter.states |= 1U << state;
    int rc = store_job_list(y->store, &filter, load_job, &u, err);
    for (size_t i = 0; i < u.ids.n; i++) {
        if (rc == 0)
            rc = end_unusable(y, u.ids.at[i], u.why.at[i], err);
        free(u.why.at[i]);
    }
    VEC_DONE(&u.ids);
    VEC_DONE(&u.why);
    return rc;
}

/* A job whose dependency can never be met was cancelled. If it is live, a user has requeued
 * it, so the dependency counts as met. */
static int load_dep(void *ctx, int64_t job, int kind, int64_t on, struct err *err)
{
    struct yard *y = ctx;
    struct live_job *j = yard_live(y, job);
    struct job_row row;
    bool met = false;
    if (!j)
        return 0;
    if (kind != SPEC_SINGLETON) {
        if (store_job_get(y->store, on, take_row, &row, err) < 0)
            return err->code == ERR_NOT_FOUND ? 0 : -1;
        met = rules_dep((enum spec_dep_kind)kind, row.state, row.started > 0) != DEP_WAITS;
        job_row_done(&row);
    }
    VEC_PUSH(&j->deps, (struct live_dep){(enum spec_dep_kind)kind, on, met});
    return 0;
}

struct live_job *yard_revive(struct yard *y, int64_t id, struct err *err)
{
    struct job_row row;
    if (store_job_get(y->store, id, take_row, &row, err) < 0)
        return NULL;
    struct live_job *j = make_live(y, &row, err);
    job_row_done(&row);
    if (!j)
        return NULL;
    live_add(&y->jobs, j);
    if (store_dep_get(y->store, id, load_dep, y, err) < 0) {
        yard_unrevive(y, j);
        return NULL;
    }
    live_depend(&y->jobs, j);
    return j;
}

void yard_unrevive(struct yard *y, struct live_job *j)
{
    live_remove(&y->jobs, j);
    drop_live(y, j);
}

/* ---- load and unload ----------------------------------------------------- */

int yard_load(struct yard *y, struct err *err)
{
    if (store_meta_set(y->store, STORE_META_PROGRAM, TRAINYARD_VERSION, err) < 0 ||
        nodes_open(y, err) < 0 || adopt_prepare(y, err) < 0 ||
        upgrade_requests(y->store, err) < 0 || make_engine(y, err) < 0 || load_jobs(y, err) < 0 ||
        store_dep_list(y->store, load_dep, y, err) < 0 || adopt_load(y, err) < 0 ||
        arrivals_load(y, err) < 0)
        return -1;
    for (struct live_job *j = y->jobs.first; j; j = j->next)
        live_depend(&y->jobs, j);
    adopt_all(y);
    submissions_sweep(&y->submissions);
    y->trimming = true;
    yard_care(y);
    return 0;
}

void yard_unload(struct yard *y)
{
    studies_end(y); /* they borrow the nodes' names */
    automatic_stop(y);
    nodes_close(y); /* after this, no operation is in progress */
    for (size_t i = 0; i < y->attempts.n; i++) {
        struct live_job *j = yard_live(y, y->attempts.at[i]->job);
        if (j && j->attempt == y->attempts.at[i])
            j->attempt = NULL;
        attempt_free(y->attempts.at[i]);
    }
    VEC_DONE(&y->attempts);
    VEC_DONE(&y->by_task);
    y->turn.todo.n = y->turn.changed.n = y->turn.attempts.n = 0;
    for (struct live_job *j = y->jobs.first, *next; j; j = next) {
        next = j->next;
        live_remove(&y->jobs, j);
        drop_live(y, j);
    }
    live_done(&y->jobs);
    arrivals_unload(y);
    submissions_done(&y->submissions);
    if (y->has_engine)
        engine_done(&y->engine);
    y->engine = (struct engine){0};
    y->has_engine = false;
}

void yard_reload(struct yard *y)
{
    struct err err;
    y->ready = false;
    yard_unload(y);
    if (yard_load(y, &err) < 0) {
        /* Jobs keep running, and the next start adopts them. */
        log_warning("cannot load the state again: %s", err.text);
        exit(1);
    }
    y->ready = true;
}
