/* Owns the checks of the store: rows against memory, events against rows, engines against
 * rows. Rows that have not changed in memory since they were compared are not read again. */
#include "support/promises_store.h"

#include <math.h>

#include "runtime/fake_world.h"
#include "server/followers.h"
#include "server/jobs/live.h"
#include "store/events.h"
#include "store/job_read.h"
#include "store/job_state.h"
#include "store/store.h"
#include "support/test.h"

/* ---- rows of jobs ------------------------------------------------------------------ */

#define SAME_int(a, b) ((a) == (b))
#define SAME_real(a, b) ((a) == (b) || (isnan(a) && isnan(b)))
#define SAME_text(a, b) (!strcmp((a) ? (a) : "", (b) ? (b) : ""))
#define SAME_name(a, b) (!strcmp(a, b))

/* The first column that differs; NULL = none. */
static const char *other_column(const struct job_row *a, const struct job_row *b)
{
#define X(column, type)                                                                            \
    if (!SAME_##type(a->column, b->column))                                                        \
        return #column;
    JOB_COLUMNS_ONCE(X)
    JOB_COLUMNS_PLAIN(X)
    X(ended, int)
    X(state, int)
#undef X
    return NULL;
}

static int keep_row(void *ctx, const struct job_row *row, struct err *err)
{
    struct job_row *kept = ctx;
    (void)err;
    job_row_done(kept);
    *kept = job_row_copy(row);
    return 0;
}

static bool read_row(struct day *d, struct known *k)
{
    struct err err;
    if (store_job_get(d->w.y->store, k->id, keep_row, &k->row, &err) == 0)
        return true;
    return day_broken(d, k->id, "it was accepted, and is lost: %s", err.text);
}

static bool check_live(struct day *d, struct known *k, const struct live_job *j)
{
    if (j->changed || !other_column(&j->row, &k->row))
        return true;
    if (!read_row(d, k))
        return false;
    const char *column = other_column(&j->row, &k->row);
    if (column)
        return day_broken(d, k->id, "its %s is not in the store", column);
    return true;
}

/* ---- rows of attempts --------------------------------------------------------------- */

#define ATTEMPT_COLUMNS(X)                                                                         \
    X(n)                                                                                           \
    X(state)                                                                                       \
    X(started)                                                                                     \
    X(ended)                                                                                       \
    X(cpus)                                                                                        \
    X(gpus)                                                                                        \
    X(cpu_limit)                                                                                   \
    X(cpu_weight)                                                                                  \
    X(pid)                                                                                         \
    X(paused)                                                                                      \
    X(grace)                                                                                       \
    X(seq)                                                                                         \
    X(before)                                                                                      \
    X(ran)                                                                                         \
    X(since)                                                                                       \
    X(fetch)

static const char *other_attempt(const struct attempt_row *row, const char *node,
                                 const struct attempt *a, const struct yard *y)
{
#define X(column)                                                                                  \
    if (row->column != a->column)                                                                  \
        return #column;
    ATTEMPT_COLUMNS(X)
#undef X
    if (strcmp(row->stop, stop_why_name(a->stop)) != 0)
        return "stop";
    return node && !strcmp(node, y->nodes.at[a->node].name) ? NULL : "node";
}

static int keep_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    struct known *k = ctx;
    (void)err;
    k->attempt = *row;
    free(k->node);
    k->node = xstrdup(row->node);
    return 0;
}

static bool check_attempt(struct day *d, struct known *k, const struct attempt *a)
{
    struct err err;
    if (!a || a->changed || !other_attempt(&k->attempt, k->node, a, d->w.y))
        return true;
    if (store_attempt_list(d->w.y->store, k->id, keep_attempt, k, &err) < 0)
        return day_broken(d, k->id, "its attempts cannot be read: %s", err.text);
    const char *column = other_attempt(&k->attempt, k->node, a, d->w.y);
    if (column)
        return day_broken(d, k->id, "%s of attempt %u is not in the store", column, a->n);
    return true;
}

/* Whether it is a member of an array that has not arrived yet. The array was accepted: that the
 * others come is checked when it is quiet. */
static bool is_to_come(const struct day *d, const struct known *k)
{
    const struct arrival *a = k->array ? arrivals_find(d->w.y, k->array) : NULL;
    return a && !k->seen && !yard_live(d->w.y, k->id) && k->id >= a->first + a->arrived;
}

bool promises_check_rows(struct day *d)
{
    for (size_t i = 0; i < d->jobs.n; i++) {
        struct known *k = d->jobs.at[i];
        const struct live_job *j = yard_live(d->w.y, k->id);
        if (is_to_come(d, k))
            continue;
        k->seen = true;
        if (j ? !check_live(d, k, j) || !check_attempt(d, k, j->attempt)
              : !k->over && !read_row(d, k))
            return false;
        if (!j && !job_state_over(k->row.state))
            return day_broken(d, k->id, "it is %s in the store, and the server does not know it",
                              job_state_name(k->row.state));
        k->over = !j;
    }
    return true;
}

/* ---- events -------------------------------------------------------------------------- */

static bool hear_event(struct day *d, struct known *k, const char *kind, const char *json)
{
    struct day_told *t = &k->told;
    bool is_ended = t->ended;
    unsigned attempt = 0;
    if (!strcmp(kind, "job.submitted")) {
        if (t->submitted)
            return day_broken(d, k->id, "it was submitted twice");
        t->submitted = true;
        return true;
    }
    if (!t->submitted)
        return day_broken(d, k->id, "%s before it was submitted", kind);
    if (!strcmp(kind, "job.requeued"))
        is_ended = t->ended = false;
    if (is_ended)
        return day_broken(d, k->id, "%s after its end", kind);
    if (!strcmp(kind, "job.started")) {
        if (sscanf(json, "{\"attempt\":%u", &attempt) != 1 || attempt != t->attempt + 1)
            return day_broken(d, k->id, "attempt %u begins after attempt %u", attempt, t->attempt);
        t->attempt = attempt;
    } else if (!strcmp(kind, "job.ended")) {
        char state[16] = "";
        t->ended = true;
        if (sscanf(json, "{\"state\":\"%15[a-z]", state) == 1)
            t->state = (enum job_state)job_state_parse(state);
    }
    return true;
}

static int see_event(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                     const char *json, struct err *err)
{
    struct day *d = ctx;
    struct known *k = day_job(d, job);
    (void)at, (void)err;
    if (seq > d->w.y->followers->committed)
        return 1;
    if (seq != d->event + 1)
        day_broken(d, job, "event %lld follows event %lld", (long long)seq, (long long)d->event);
    d->event = seq;
    if (job && !k)
        day_broken(d, job, "%s of a job that was not accepted", kind);
    if (k)
        hear_event(d, k, kind, json);
    return *d->why ? 1 : 0;
}

bool promises_check_events(struct day *d)
{
    const struct followers *all = d->w.y->followers;
    struct err err;
    if (d->event > all->committed)
        return day_broken(d, 0, "event %lld is gone", (long long)d->event);
    if (d->event == all->committed)
        return true;
    if (store_event_list(d->w.y->store, d->event, 0, 0, see_event, d, &err) < 0)
        return day_broken(d, 0, "events cannot be read: %s", err.text);
    if (*d->why || all->newest != all->committed || store_dirty(d->w.y->store))
        return !*d->why;
    for (size_t i = 0; i < d->jobs.n; i++) {
        const struct known *k = d->jobs.at[i];
        if (k->told.ended != k->over || (k->over && k->told.state != k->row.state))
            return day_broken(d, k->id, "it is %s, and its events do not tell",
                              job_state_name(k->row.state));
        if (k->told.attempt != k->row.attempt)
            return day_broken(d, k->id, "its events tell of %u attempts of %u", k->told.attempt,
                              k->row.attempt);
    }
    return true;
}

/* ---- engines -------------------------------------------------------------------------- */

struct find_attempt {
    uint32_t n;
    usec_t created;
    bool found;
};

static int see_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    struct find_attempt *f = ctx;
    (void)err;
    if (row->n == f->n) {
        f->found = true;
        f->created = row->created;
    }
    return 0;
}

static bool check_engine(struct day *d, uint32_t i, const struct fake_attempt *a)
{
    struct find_attempt f = {.n = a->id.n};
    struct err err;
    usec_t drained = d->drained[i][a->node];
    if (store_attempt_list(d->w.y->store, a->id.job, see_attempt, &f, &err) < 0)
        return day_broken(d, a->id.job, "its attempts cannot be read: %s", err.text);
    if (!f.found)
        return day_broken(d, a->id.job, "attempt %u was begun before it was on disk", a->id.n);
    if (!d->clock_set && drained && f.created > drained)
        return day_broken(d, a->id.job, "attempt %u was begun on %s, which is drained", a->id.n,
                          d->w.fakes[i]->nodes.at[a->node].name);
    return true;
}

bool promises_check_engines(struct day *d)
{
    for (uint32_t i = 0; i < d->w.n_fakes; i++) {
        const struct fake *f = d->w.fakes[i];
        for (; d->attempts_seen[i] < f->attempts.n; d->attempts_seen[i]++)
            if (!check_engine(d, i, &f->attempts.at[d->attempts_seen[i]]))
                return false;
    }
    return true;
}
