/* Owns arrays that are being accepted. One array at a time gets members, in the order in which
 * they were submitted. */
#include "server/jobs/arrivals.h"

#include "server/jobs/create.h"
#include "server/jobs/eligible.h"
#include "server/jobs/submit.h"
#include "server/log.h"
#include "server/yard.h"
#include "store/arrivals.h"
#include "store/deps.h"
#include "store/jobs.h"

/* Rows of jobs and dependencies in one turn: about 10 ms of work. */
enum { CHUNK = 500 };

uint32_t arrivals_chunk(const struct yard *y, size_t deps)
{
    uint32_t rows = y->config.array_chunk ? y->config.array_chunk : CHUNK;
    uint32_t members = rows / (uint32_t)(deps + 1);
    return members ? members : 1;
}

static bool is_complete(const struct arrival *a)
{
    return a->arrived == a->members;
}

static void drop_arrival(struct yard *y, struct arrival *a)
{
    submission_drop(&y->submissions, a->submission);
    a->submission = NULL;
    VEC_DONE(&a->deps);
}

static void remove_arrival(struct yard *y, size_t i)
{
    struct arrivals *all = &y->arrivals;
    drop_arrival(y, &all->at.at[i]);
    all->at.n--;
    memmove(&all->at.at[i], &all->at.at[i + 1], (all->at.n - i) * sizeof *all->at.at);
}

/* Tells who waits for the array, and forgets it. */
static void finish_arrival(struct yard *y, size_t i, const struct err *failure)
{
    const struct arrival *a = &y->arrivals.at.at[i];
    if (a->done)
        a->done(a->ctx, a, failure);
    remove_arrival(y, i);
}

/* ---- the store ------------------------------------------------------------------ */

static int save(struct yard *y, const struct arrival *a, struct err *err)
{
    struct arrival_row row = {a->request, a->first, a->arrived, a->members};
    return is_complete(a) ? store_arrival_remove(y->store, a->request, err)
                          : store_arrival_save(y->store, &row, err);
}

int arrivals_add(struct yard *y, const struct live_job *first, uint32_t arrived, uint32_t members,
                 struct err *err)
{
    struct arrival a = {.request = first->row.request,
                        .first = first->row.id,
                        .arrived = arrived,
                        .members = members,
                        .submitted = first->row.submitted};
    if (save(y, &a, err) < 0)
        return -1;
    a.submission = submission_share(first->submission);
    for (size_t i = 0; i < first->deps.n; i++)
        VEC_PUSH(&a.deps, first->deps.at[i]);
    VEC_PUSH(&y->arrivals.at, a);
    return 0;
}

static int take_submitted(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    *(usec_t *)ctx = row->submitted;
    return 0;
}

static int take_dep(void *ctx, int64_t job, int kind, int64_t on, struct err *err)
{
    struct arrival *a = ctx;
    (void)job;
    (void)err;
    VEC_PUSH(&a->deps, (struct live_dep){.kind = (enum spec_dep_kind)kind, .on = on});
    return 0;
}

static struct arrival *known_or_new(struct yard *y, int64_t request)
{
    for (size_t i = 0; i < y->arrivals.at.n; i++)
        if (y->arrivals.at.at[i].request == request)
            return &y->arrivals.at.at[i];
    VEC_PUSH(&y->arrivals.at, (struct arrival){.request = request});
    return &y->arrivals.at.at[y->arrivals.at.n - 1];
}

static int load_arrival(void *ctx, const struct arrival_row *row, struct err *err)
{
    struct yard *y = ctx;
    struct arrival *a = known_or_new(y, row->request);
    a->first = row->first;
    a->arrived = row->arrived;
    a->members = row->members;
    a->submission = submission_get(&y->submissions, y->store, row->request, err);
    if (!a->submission && err->code != ERR_INVALID)
        return -1;
    if (!a->submission) { /* its jobs cannot run either, and have failed with the reason */
        log_warning("array=%lld no more members: %s", (long long)row->first, err->text);
        return store_arrival_remove(y->store, row->request, err);
    }
    if (store_job_get(y->store, row->first, take_submitted, &a->submitted, err) < 0)
        return -1;
    return store_dep_get(y->store, row->first, take_dep, a, err);
}

int arrivals_load(struct yard *y, struct err *err)
{
    return store_arrival_list(y->store, load_arrival, y, err);
}

void arrivals_unload(struct yard *y)
{
    for (size_t i = 0; i < y->arrivals.at.n; i++)
        drop_arrival(y, &y->arrivals.at.at[i]);
}

void arrivals_undone(struct yard *y, const struct err *failure)
{
    for (size_t i = y->arrivals.at.n; i-- > 0;)
        if (!y->arrivals.at.at[i].submission)
            finish_arrival(y, i, failure);
}

void arrivals_done(struct yard *y)
{
    struct err err;
    err_set(&err, ERR_UNREACHABLE,
            "the server is stopping; the array is accepted, and its other members follow when the "
            "server is started again");
    while (y->arrivals.at.n)
        finish_arrival(y, y->arrivals.at.n - 1, &err);
    VEC_DONE(&y->arrivals.at);
}

/* ---- members -------------------------------------------------------------------- */

struct arrival *arrivals_find(struct yard *y, int64_t first)
{
    for (size_t i = 0; i < y->arrivals.at.n; i++)
        if (y->arrivals.at.at[i].first == first)
            return &y->arrivals.at.at[i];
    return NULL;
}

int arrivals_check(struct yard *y, int64_t first, struct err *err)
{
    const struct arrival *a = arrivals_find(y, first);
    if (!a)
        return 0;
    return err_set(err, ERR_CONFLICT,
                   "array %lld is still being accepted (%u of %u members); try again in a moment",
                   (long long)first, a->arrived, a->members);
}

/* Updates what has become of the array's dependencies; *never is set if one cannot be met. */
static int look_at_deps(struct yard *y, struct arrival *a, struct str *never, struct err *err)
{
    for (size_t i = 0; i < a->deps.n; i++) {
        struct live_dep *d = &a->deps.at[i];
        enum dep_state state;
        enum job_state its;
        if (d->met || d->kind == SPEC_SINGLETON)
            continue;
        if (create_look_at_dep(y, d, &state, &its, err) < 0)
            return -1;
        d->met = state == DEP_MET;
        if (state == DEP_NEVER && !never->n)
            rules_say_never(d->kind, d->on, its, never);
    }
    return 0;
}

static struct live_job *make_member(struct yard *y, const struct arrival *a, struct err *err)
{
    const struct spec *s = &a->submission->spec;
    struct live_job *j = create_job(s, a->submitted);
    j->submission = submission_share(a->submission);
    j->row.id = a->first + a->arrived;
    j->row.array_index = indices_nth(&s->array, a->arrived);
    for (size_t i = 0; i < a->deps.n; i++)
        VEC_PUSH(&j->deps, a->deps.at[i]);
    if (terms_from_spec(s, &j->terms, err) == 0 && create_write(y, j, a->first, err) == 0)
        return j;
    submission_drop(&y->submissions, j->submission);
    live_job_free(j);
    return NULL;
}

static int add_members(struct yard *y, struct arrival *a, struct err *err)
{
    uint32_t chunk = arrivals_chunk(y, a->deps.n), left = a->members - a->arrived;
    struct str never = {0};
    int rc = look_at_deps(y, a, &never, err);
    for (uint32_t n = chunk < left ? chunk : left; rc == 0 && n > 0; n--) {
        struct live_job *j = make_member(y, a, err);
        if (!j) {
            rc = -1;
            break;
        }
        a->arrived++;
        create_register(y, j);
        if (never.n)
            yard_end(y, j, JOB_CANCELLED, -1, never.at);
        else
            eligible_offer(y, j);
    }
    str_done(&never);
    return rc < 0 ? -1 : save(y, a, err);
}

static struct arrival *next_arrival(const struct yard *y)
{
    for (size_t i = 0; i < y->arrivals.at.n; i++)
        if (!is_complete(&y->arrivals.at.at[i]))
            return &y->arrivals.at.at[i];
    return NULL;
}

/* This version cannot run what an earlier one has accepted: there are no more members. */
static void give_up(struct yard *y, struct arrival *a, const struct err *why)
{
    struct err err;
    a->members = a->arrived;
    if (save(y, a, &err) == 0)
        finish_arrival(y, (size_t)(a - y->arrivals.at.at), why);
}

void arrivals_turn(struct yard *y)
{
    struct arrival *a = next_arrival(y);
    struct err err;
    if (!a)
        return;
    turn_hurry(y);
    if (add_members(y, a, &err) == 0)
        return;
    log_warning("array=%lld members: %s", (long long)a->first, err.text);
    /* If the store has failed, so will the commit, and the yard is loaded again. */
    if (err.code != ERR_IO && err.code != ERR_INTERNAL)
        give_up(y, a, &err);
}

bool arrivals_wait(const struct yard *y)
{
    return next_arrival(y) != NULL;
}

void arrivals_committed(struct yard *y)
{
    for (size_t i = y->arrivals.at.n; i-- > 0;)
        if (is_complete(&y->arrivals.at.at[i]))
            finish_arrival(y, i, NULL);
}
