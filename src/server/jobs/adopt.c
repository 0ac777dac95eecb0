/* Owns the adoption of attempts that were running when an earlier server ended.
 *
 * Each attempt is restored in the engine and handed to its runtime, which finds out what it
 * holds. Then pursue.c settles it: a running attempt continues, an ended one is recorded, and
 * one that never began is given up for good before its job is requeued. */
#include "server/jobs/adopt.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "server/jobs/attempts.h"
#include "server/jobs/eligible.h"
#include "server/jobs/gang.h"
#include "server/jobs/leases.h"
#include "server/nodes.h"
#include "server/stretch.h"
#include "store/attempts.h"
#include "store/job_state.h"

static int prepare(void *ctx, const struct attempt_row *row, struct err *err)
{
    (void)err;
    if (*row->gpu_type)
        (void)nodes_gpu_pool(ctx, row->gpu_type);
    (void)nodes_expect(ctx, row->runtime, row->node);
    return 0;
}

int adopt_prepare(struct yard *y, struct err *err)
{
    return store_attempt_list(y->store, 0, prepare, y, err) < 0
               ? -1
               : store_part_list(y->store, 0, prepare, y, err);
}

static int load_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    struct yard *y = ctx;
    struct live_job *j = yard_live(y, row->job);
    (void)err;
    bool over = job_state_over(row->state);
    if ((!j && !over) || (row->part && !over && !(j->attempt && j->attempt->n == row->n)))
        return 0;
    struct attempt *a = xcalloc(1, sizeof *a);
    *a = (struct attempt){
        .job = row->job,
        .n = row->n,
        .part = row->part,
        .state = row->state,
        .pid = row->pid,
        .created = row->created,
        .started = row->started,
        .ended = row->ended,
        .code = row->code,
        .signal = row->signal,
        .reason = over ? xstrdup(row->reason) : NULL,
        .cause = !over && *row->reason ? xstrdup(row->reason) : NULL,
        .error = over ? xstrdup(row->error) : NULL,
        .left_running = over ? xstrdup(row->left_running) : NULL,
        .cpu_seconds = row->cpu_seconds,
        .memory_max_mb = row->memory_max_mb,
        .leaves = over,
        .lease = row->lease,
        .leased = clock_now(&y->clock),
        .fenced = row->fenced,
        .fetch = row->fetch,
        .log_end = -1,
        .paused = row->paused,
        .stop = stop_why_parse(row->stop),
        .grace = row->grace,
        .stopped_by = row->stopped_by,
        .frozen_at = row->frozen_at,
        .lost = row->lost,
        .cpus = row->cpus,
        .gpus = row->gpus,
        .cpu_limit = row->cpu_limit,
        .cpu_weight = row->cpu_weight,
        .pool = (uint8_t)(*row->gpu_type ? cluster_gpu_pool(&y->cluster, row->gpu_type) : POOL_CPU),
        .seq = row->seq,
        .before = row->before,
        .ran = row->ran,
        .since = row->since,
        .unheard = clock_now(&y->clock),
    };
    snprintf(a->token, sizeof a->token, "%s", row->token);
    snprintf(a->boot, sizeof a->boot, "%s", row->boot);
    a->adopted = true;
    lease_started(y, a);
    a->told.limit = -1;
    /* The last operations of the earlier server may have failed: repeat them. */
    a->unsure = 1U << OP_FREEZE | 1U << OP_RESIZE;
    a->node = nodes_expect(y, row->runtime, row->node);
    attempt_enter(y, a);
    nodes_follow_fences(y, a->node);
    if (!over && !a->part)
        j->attempt = a;
    else if (!over && j->attempt)
        gang_join(j->attempt, a);
    return 0;
}

int adopt_load(struct yard *y, struct err *err)
{
    return store_attempt_list(y->store, 0, load_attempt, y, err) < 0
               ? -1
               : store_part_list(y->store, 0, load_attempt, y, err);
}

/* When a file of the attempt was last modified; 0 if it does not exist. */
static usec_t modified_at(const struct yard *y, const struct attempt *a, const char *file)
{
    AUTO_FREE char *dir = attempt_dir(y, a->job, a->n);
    struct str path = {0};
    struct stat st;
    str_addf(&path, "%s/%s", dir, file);
    bool there = stat(path.at, &st) == 0;
    str_done(&path);
    return there ? (usec_t)st.st_mtim.tv_sec * USEC_PER_SEC + st.st_mtim.tv_nsec / 1000 : 0;
}

/* How long the job has run: the time in its row, or, if that is longer, the time until its record
 * or until now of an attempt that has run without a break. Nobody knows when a machine that was
 * restarted went down. */
static usec_t run_time(const struct yard *y, const struct live_job *j)
{
    const struct attempt *a = j->attempt;
    if (!a || a->paused)
        return j->row.run_time;
    /* The earlier server may have missed the start; the claim is made just before it. */
    usec_t since = a->since ? a->since : a->started ? a->started : modified_at(y, a, "claim");
    usec_t until = modified_at(y, a, "exit.json");
    if (!since || (!until && strcmp(a->boot, y->boot_id) != 0))
        return j->row.run_time;
    usec_t ran = a->ran + (until ? until : clock_wall(&y->clock)) - since;
    return ran > j->row.run_time ? ran : j->row.run_time;
}

/* Restores the task in the engine, from what the store has. */
static void restore(struct yard *y, struct live_job *j)
{
    const struct attempt *a = j->attempt;
    usec_t ran = run_time(y, j);
    const struct job *job = &j->job[j->job_now];
    usec_t now = clock_now(&y->clock);
    units_t n = a ? (a->pool == POOL_CPU ? gang_cpus(a) : gang_gpus(a)) : 0;
    AUTO_FREE struct slot *slots = xcalloc(gang_size(a) + 1, sizeof *slots);
    uint32_t places = 0;
    for (const struct attempt *p = a; p; p = p->next_part)
        slots[places++] = (struct slot){p->node, p->pool == POOL_CPU ? p->cpus : p->gpus};
    bool stopping = a && (a->stop == STOP_PREEMPT || stop_goes_on(a->stop));
    struct task was = {
        .job = job,
        .phase = !a          ? TASK_QUEUED
                 : a->paused ? TASK_PAUSED
                 : stopping  ? TASK_STOPPING
                             : TASK_RUNNING,
        .pool = a ? a->pool : job->pool,
        .n = n,
        .at = {a ? slots : NULL, places},
        .work = j->row.work > 0 ? j->row.work : TERMS_WORK_UNKNOWN,
        .done = j->row.done,
        .saved = j->row.done,
        .attained = j->row.attained + (double)(ran - j->row.run_time) * (double)n / UNIT,
        .started_at = j->row.started ? j->row.started : USEC_NEVER,
        .queued_at = now,
        .resumed_at = now,
        .changed_at = now,
        .ready_at = now,
        .run_time = ran,
        .wait_time = j->row.wait_time,
        .starts = j->row.attempt,
        .cpu_limit = !a             ? 0
                     : a->next_part ? n
                                    : a->cpu_limit,
        .cpu_weight = a && a->cpu_weight > 0 ? a->cpu_weight : 1,
    };
    stretch_restore(y, j, &was);
}

static void adopt(struct yard *y, struct attempt *a)
{
    const struct yard_runtime *r = nodes_runtime(y, a->node);
    struct runtime_size size = attempt_size(y, a);
    const struct yard_node *node = &y->nodes.at[a->node];
    if (!node->orphan)
        r->ops->adopt(r->runtime, attempt_id_of(a), node->name, &size);
    turn_pursue(y, a);
}

/* All tasks are restored first, so that ends and requeues find them, and limits of arrays
 * count running jobs. */
void adopt_all(struct yard *y)
{
    for (struct live_job *j = y->jobs.first; j; j = j->next) {
        if (j->attempt || j->row.attempt)
            restore(y, j);
        if (!j->attempt)
            continue;
        for (struct attempt *p = j->attempt; p; p = p->next_part)
            adopt(y, p);
        ties_note(j, true, false);
    }
    for (size_t i = 0; i < y->attempts.n; i++)
        if (y->attempts.at[i]->leaves)
            adopt(y, y->attempts.at[i]);
    stretch_follow(y);
    for (size_t i = 0; i < y->runtimes.n; i++)
        y->runtimes.at[i].ops->sweep(y->runtimes.at[i].runtime);
    for (struct live_job *j = y->jobs.first, *next; j; j = next) {
        next = j->next;
        if (!j->attempt && j->submission->bare)
            yard_end(y, j, JOB_FAILED, 125, SUBMISSION_BARE);
        else if (!j->attempt)
            eligible_offer(y, j);
    }
}
