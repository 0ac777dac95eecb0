/* Owns the beginning of a stretch of the journal: a new engine, and the rows from which a
 * replay creates an engine that decides the same. */
#include "server/stretch.h"

#include <string.h>

#include "base/str.h"
#include "journal/journal.h"
#include "server/jobs/attempts.h"
#include "server/jobs/parts.h"
#include "server/log.h"
#include "server/nodes.h"
#include "store/journal.h"

int stretch_begin(struct yard *y, const struct combo *combo, struct err *err)
{
    struct engine_config config = {.combo = *combo,
                                   .seed = 1,
                                   .resched_min = y->config.resched_min,
                                   .min_run = y->config.min_run,
                                   .explain = true};
    engine_init(&y->engine, &config, &y->cluster);
    y->has_engine = true;
    struct str text = {0};
    journal_write_boot(&y->engine, &text);
    int rc = store_boot_begin(y->store, clock_wall(&y->clock), &y->boot, err);
    if (rc == 0)
        rc = store_journal_add(y->store, "boot", text.at, err);
    y->journal_rows = y->journal_head = 1;
    str_done(&text);
    return rc;
}

void stretch_restore(struct yard *y, struct live_job *j, const struct task *was)
{
    struct event event = {.kind = EVENT_RESTORE, .job = was->job, .was = was};
    struct err err;
    nodes_make_room(y, was);
    if (yard_step(y, &event, &err) < 0) {
        log_warning("job=%lld cannot be restored, requeueing it: %s", (long long)j->row.id,
                    err.text);
        if (j->attempt)
            attempt_stop(y, j, STOP_REQUEUE, -1);
        return;
    }
    j->task = y->engine.submitted;
    y->by_task.at[j->task] = j->row.id;
}

void stretch_follow(struct yard *y)
{
    const struct engine *e = &y->engine;
    for (size_t i = 0; i < e->running.n; i++) {
        struct live_job *j = yard_job_of_task(y, e->running.at[i]);
        if (j && j->attempt)
            attempt_resize(y, j, &e->tasks[e->running.at[i]], e->config.combo.name);
    }
    for (uint32_t node = 0; node < e->cluster.n; node++)
        parts_divide(y, node);
}

struct kept_task {
    int64_t job;
    struct task was;
    struct slot *slots; /* owned copy of was.at.at */
};

static struct kept_task keep_task(const struct yard *y, uint32_t task)
{
    struct kept_task k = {.job = y->by_task.at[task], .was = y->engine.tasks[task]};
    usec_t now = clock_now(&y->clock);
    k.was.done = task_done(&k.was, now);
    k.was.attained = task_attained(&k.was, now);
    k.was.cpu_time = task_cpu_time(&k.was, now);
    k.was.history = NULL;
    k.slots = xcalloc(k.was.at.n + 1, sizeof *k.slots);
    if (k.was.at.n)
        memcpy(k.slots, k.was.at.at, k.was.at.n * sizeof *k.slots);
    k.was.at.at = k.slots;
    return k;
}

int stretch_renew(struct yard *y, struct err *err)
{
    VEC(struct kept_task) tasks = {0};
    struct engine *e = &y->engine;
    struct combo combo = e->config.combo;
    const struct snapshot *s = engine_snapshot(e, clock_now(&y->clock));
    SNAPSHOT_EACH (s, i)
        VEC_PUSH(&tasks, keep_task(y, i));
    for (uint32_t i = 0; i < e->tasks_n; i++)
        if (e->tasks[i].job &&
            (e->tasks[i].phase == TASK_HELD || e->tasks[i].phase == TASK_STOPPING))
            VEC_PUSH(&tasks, keep_task(y, i));
    engine_done(e);
    y->by_task.n = 0;
    int rc = stretch_begin(y, &combo, err);
    for (size_t i = 0; i < tasks.n; i++) {
        if (rc == 0)
            stretch_restore(y, yard_live(y, tasks.at[i].job), &tasks.at[i].was);
        free(tasks.at[i].slots);
    }
    VEC_DONE(&tasks);
    y->journal_head = y->journal_rows;
    stretch_follow(y);
    y->trimming = true;
    yard_care(y);
    return rc;
}
