/* Owns how a job's terms become the engine's job, and how changed terms are applied. */
#include "server/jobs/rules.h"

#include "server/jobs/probe.h"
#include "server/log.h"
#include "server/nodes.h"
#include "store/job_state.h"
#include "wire/spec_lists.h"

enum dep_state rules_dep(enum spec_dep_kind kind, enum job_state state, bool started)
{
    bool over = job_state_over(state);
    switch (kind) {
    case SPEC_AFTER:
        return started || over ? DEP_MET : DEP_WAITS;
    case SPEC_AFTEROK:
        return !over ? DEP_WAITS : state == JOB_DONE ? DEP_MET : DEP_NEVER;
    case SPEC_AFTERNOTOK:
        return !over ? DEP_WAITS : state == JOB_DONE ? DEP_NEVER : DEP_MET;
    case SPEC_AFTERANY:
        return over ? DEP_MET : DEP_WAITS;
    case SPEC_SINGLETON:
        break;
    }
    return DEP_MET;
}

void rules_say_never(enum spec_dep_kind kind, int64_t on, enum job_state state, struct str *out)
{
    str_addf(out, "%s:%lld can never be met: job %lld is %s", spec_dep_name(kind), (long long)on,
             (long long)on, job_state_name(state));
}

static usec_t engine_deadline(const struct yard *y, usec_t wall)
{
    usec_t left = wall - clock_wall(&y->clock), now = clock_now(&y->clock);
    return !wall ? USEC_NEVER : now + left > 0 ? now + left : 1;
}

/* The units of the pool on the largest node. */
static units_t largest_node(const struct yard *y, unsigned pool)
{
    units_t most = 0;
    for (uint32_t i = 0; i < y->cluster.n; i++) {
        const struct node *n = &y->cluster.nodes[i];
        units_t size = pool == POOL_ANY_GPU ? n->gpus : node_size(n, pool);
        most = size > most ? size : most;
    }
    return most;
}

int rules_make_job(const struct yard *y, struct live_job *j, struct err *err)
{
    struct job *job = &j->job[!j->job_now];
    struct arena *arena = &j->arena[!j->job_now];
    arena_reset(arena);
    /* The same offset for all, so that jobs of one request keep their order. */
    usec_t submit = j->row.submitted - y->clock.offset;
    submit = submit > 0 ? submit : 1;
    if (j->terms.gpu_type) {
        unsigned pool = cluster_gpu_pool(&y->cluster, j->terms.gpu_type);
        j->terms.pool = (uint8_t)(pool < POOLS_MAX ? pool : POOL_ANY_GPU);
    }
    terms_open(&j->terms, largest_node(y, POOL_CPU));
    struct terms terms = j->terms;
    const struct speed_fit *curve = &j->estimate.fit;
    probe_limit(j, &terms, &curve);
    if (terms_to_job(&terms, (uint32_t)j->row.id, j->row.name, j->row.priority, submit,
                     engine_deadline(y, j->row.deadline), largest_node(y, j->terms.pool), curve,
                     arena, job, err) < 0)
        return -1;
    if (j->past.known && j->past.work > 0)
        job->work = j->past.work;
    j->job_now = !j->job_now;
    return 0;
}

int rules_can_hold(const struct yard *y, const struct live_job *j, struct err *err)
{
    const char *type = j->terms.gpu_type;
    if (j->terms.container && !nodes_run_images(y))
        return err_set(err, ERR_LIMIT,
                       "no node can run containers; `trainyard nodes add` adds one");
    if (j->terms.container && nodes_unknown(y))
        return err_set(err, ERR_UNREACHABLE, "a node with a container engine does not respond yet");
    if (type && cluster_gpu_pool(&y->cluster, type) == POOLS_MAX)
        return err_set(err, ERR_LIMIT, "no node has GPUs of type '%s'", type);
    if (cluster_can_hold(&y->cluster, &j->job[j->job_now], err) == 0)
        return 0;
    /* In a cluster that others use too, nodes join and what others use becomes free. */
    if (j->terms.container && nodes_discover_images(y))
        err->code = ERR_UNREACHABLE;
    return -1;
}

/* Passes the job to the engine, unless the engine does not know it or no node can hold it. */
static int tell_job(struct yard *y, struct live_job *j, struct err *err)
{
    struct event event = {.kind = EVENT_JOB, .task = j->task, .job = &j->job[j->job_now]};
    bool outside = j->task == TASK_NONE || j->blocks & BLOCK_NODES;
    return outside ? 0 : yard_step(y, &event, err);
}

void rules_tell_terms(struct yard *y, struct live_job *j)
{
    struct err err;
    unsigned half = j->job_now;
    if (rules_make_job(y, j, &err) == 0 && tell_job(y, j, &err) == 0)
        return;
    j->job_now = half;
    log_warning("job=%lld terms: %s", (long long)j->row.id, err.text);
}

int rules_apply_terms(struct yard *y, struct live_job *j, const struct terms *terms,
                      int32_t priority, usec_t deadline, struct err *err)
{
    struct terms old = j->terms, new = *terms;
    int32_t old_priority = j->row.priority;
    usec_t old_deadline = j->row.deadline;
    unsigned half = j->job_now;
    j->terms = new;
    j->row.priority = priority;
    j->row.deadline = deadline;
    int rc = rules_make_job(y, j, err);
    if (rc == 0)
        rc = tell_job(y, j, err);
    if (rc < 0) {
        j->terms = old;
        j->row.priority = old_priority;
        j->row.deadline = old_deadline;
        j->job_now = half;
        return -1;
    }
    terms_to_row(&j->terms, &j->row);
    yard_touch(y, j);
    turn_hurry(y);
    return 0;
}

void rules_follow_clock(struct yard *y)
{
    struct err err;
    for (struct live_job *j = y->jobs.first; j; j = j->next) {
        if (j->row.deadline &&
            rules_apply_terms(y, j, &j->terms, j->row.priority, j->row.deadline, &err) < 0)
            log_warning("job=%lld deadline: %s", (long long)j->row.id, err.text);
    }
    log_info("the wall clock was set; deadlines were updated");
}
