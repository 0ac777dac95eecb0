/* Owns the table of live jobs. */
#include "server/jobs/live.h"

#include <string.h>

#include "server/jobs/gang.h"

const char *stop_why_name(enum stop_why why)
{
    static const char *const names[] = {
#define X(name, text) text,
        STOP_CODES(X)
#undef X
    };
    return names[why];
}

enum stop_why stop_why_parse(const char *text)
{
    for (enum stop_why why = STOP_NONE; why < STOP_COUNT; why++)
        if (!strcmp(stop_why_name(why), text))
            return why;
    return STOP_NONE;
}

void attempt_free(struct attempt *a)
{
    if (!a)
        return;
    arena_done(&a->op.arena);
    free(a->reason);
    free(a->error);
    free(a->left_running);
    free(a->notice);
    free(a->waits);
    free(a->cause);
    gang_drop_ending(a->done);
    free(a);
}

void live_job_free(struct live_job *j)
{
    if (!j)
        return;
    job_row_done(&j->row);
    VEC_DONE(&j->deps);
    VEC_DONE(&j->dependents);
    arena_done(&j->arena[0]);
    arena_done(&j->arena[1]);
    estimate_done(&j->estimate);
    free(j->metrics);
    attempt_free(j->attempt);
    free(j);
}

struct live_job *live_find(const struct live_jobs *jobs, int64_t id)
{
    return idmap_get(&jobs->by_id, (uint64_t)id);
}

/* New jobs have the largest id; only a requeued job is inserted between others. */
static void list_insert(struct live_jobs *jobs, struct live_job *j)
{
    struct live_job *before = jobs->last;
    while (before && before->row.id > j->row.id)
        before = before->prev;
    j->prev = before;
    j->next = before ? before->next : jobs->first;
    *(j->next ? &j->next->prev : &jobs->last) = j;
    *(before ? &before->next : &jobs->first) = j;
}

static void list_remove(struct live_jobs *jobs, struct live_job *j)
{
    *(j->next ? &j->next->prev : &jobs->last) = j->prev;
    *(j->prev ? &j->prev->next : &jobs->first) = j->next;
    j->prev = j->next = NULL;
}

void live_add(struct live_jobs *jobs, struct live_job *j)
{
    list_insert(jobs, j);
    idmap_set(&jobs->by_id, (uint64_t)j->row.id, j);
    ties_add(&jobs->ties, j);
}

static int compare_deps(const void *a, const void *b)
{
    const struct live_dep *x = a, *y = b;
    return x->on != y->on ? (x->on > y->on) - (x->on < y->on) : (int)x->kind - (int)y->kind;
}

struct live_dep *live_dep_on(struct live_job *j, int64_t on)
{
    size_t lo = 0, hi = j->deps.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (j->deps.at[mid].on < on)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < j->deps.n && j->deps.at[lo].on == on ? &j->deps.at[lo] : NULL;
}

void live_depend(struct live_jobs *jobs, struct live_job *j)
{
    if (j->deps.n)
        qsort(j->deps.at, j->deps.n, sizeof *j->deps.at, compare_deps);
    j->unmet = 0;
    for (size_t i = 0; i < j->deps.n; i++) {
        j->unmet += j->deps.at[i].kind != SPEC_SINGLETON && !j->deps.at[i].met;
        struct live_job *on = j->deps.at[i].met ? NULL : live_find(jobs, j->deps.at[i].on);
        if (on)
            VEC_PUSH(&on->dependents, j->row.id);
    }
}

void live_remove(struct live_jobs *jobs, struct live_job *j)
{
    list_remove(jobs, j);
    idmap_remove(&jobs->by_id, (uint64_t)j->row.id);
    ties_remove(&jobs->ties, j);
    backoffs_remove(&jobs->backoffs, j);
}

void live_done(struct live_jobs *jobs)
{
    while (jobs->first) {
        struct live_job *j = jobs->first;
        live_remove(jobs, j);
        live_job_free(j);
    }
    idmap_done(&jobs->by_id);
    ties_done(&jobs->ties);
    backoffs_done(&jobs->backoffs);
    *jobs = (struct live_jobs){0};
}
