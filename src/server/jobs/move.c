/* Owns moves of jobs between nodes, and where their checkpoints are. */
#include "server/jobs/move.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "server/events.h"
#include "server/jobs/attempts.h"
#include "server/jobs/gang.h"
#include "server/jobs/rules.h"
#include "server/load.h"
#include "server/log.h"
#include "server/nodes.h"
#include "store/job_state.h"

bool move_is_due(const struct live_job *j, const struct task *t)
{
    if (t->at.n > 1 || j->attempt->next_part)
        return t->at.n && !gang_fits(j, j->attempt, t);
    return t->at.n && t->at.at[0].node != j->attempt->node;
}

void move_begin(struct yard *y, struct live_job *j, const struct task *t, const char *why)
{
    struct attempt *a = j->attempt;
    if (a->stop != STOP_NONE)
        return; /* it leaves anyway */
    j->moving = (struct moving){
        .attempt = a->n, .asked = clock_now(&y->clock), .reports = j->progress.known};
    events_add(y, "job.moving", a->job,
               json_pack("{s:I, s:s, s:s, s:s}", "attempt", (json_int_t)a->n, "from",
                         y->nodes.at[a->node].name, "to", y->nodes.at[t->at.at[0].node].name, "why",
                         j->by_hand == y->engine.decisions ? "hand" : why));
    load_moved(y, t->at.at[0].node);
    attempt_stop(y, j, STOP_MOVE, -1);
}

bool move_go_on(struct yard *y, struct live_job *j, const struct ending *end)
{
    const struct task *t = yard_task(y, j);
    (void)end;
    if (!t || !task_running(t))
        return false;
    j->moving.stopped = clock_now(&y->clock);
    attempt_begin(y, j, t);
    return true;
}

/* ---- where checkpoints are -------------------------------------------------------------- */

/* Whether they are where only one node has them: a mount is the same everywhere. */
static bool keeps_checkpoints(const struct live_job *j)
{
    const struct spec *s = &j->submission->spec;
    return j->terms.container &&
           !(s->checkpoint_dir && runtime_is_mounted(s->mounts.at, s->mounts.n, s->checkpoint_dir));
}

void move_started(struct yard *y, struct live_job *j, const struct attempt *a)
{
    const char *node = y->nodes.at[a->node].name;
    if (keeps_checkpoints(j) && strcmp(j->row.checkpoint_node, node) != 0) {
        snprintf(j->row.checkpoint_node, sizeof j->row.checkpoint_node, "%s", node);
        j->row.checkpoint_attempt = a->n;
        yard_touch(y, j);
    }
    if (j->moving.attempt && !j->moving.reports)
        move_resumed(y, j);
}

struct move_source move_find_source(const struct yard *y, const struct live_job *j,
                                    const struct attempt *a)
{
    const char *has = a->part ? "" : j->row.checkpoint_node; /* part 0 keeps them */
    if (!*has || !keeps_checkpoints(j))
        return (struct move_source){0};
    if (!strcmp(has, y->nodes.at[a->node].name))
        return (struct move_source){.attempt = j->row.checkpoint_attempt};
    return (struct move_source){.node = has, .from = j->row.checkpoint_attempt};
}

static void give_up_checkpoints(struct yard *y, struct live_job *j, struct attempt *a)
{
    struct str text = {0};
    str_addf(&text, "its checkpoints were on %s, which is lost: it starts from the beginning",
             j->row.checkpoint_node);
    free(a->notice);
    a->notice = text.at;
    log_warning("job=%lld attempt=%u %s", (long long)a->job, a->n, a->notice);
    j->row.checkpoint_node[0] = '\0';
    j->row.checkpoint_attempt = 0;
    yard_touch(y, j);
}

bool move_must_wait(struct yard *y, struct live_job *j, struct attempt *a)
{
    struct move_source source = move_find_source(y, j, a);
    usec_t now = clock_now(&y->clock);
    usec_t patience = j->terms.lease ? j->terms.lease : y->config.lease;
    struct err unknown;
    uint32_t node;
    if (!source.node)
        return false;
    bool gone = nodes_find(y, source.node, &node, &unknown) < 0 || y->nodes.at[node].gone;
    if (!gone && !y->nodes.at[node].lost)
        return false;
    usec_t since = gone ? 0 : y->nodes.at[node].lost_since;
    if (gone || (patience != USEC_NEVER && now - since >= patience)) {
        give_up_checkpoints(y, j, a);
        return false;
    }
    struct str text = {0};
    str_addf(&text, "its checkpoints are on %s, which does not respond", source.node);
    free(a->waits);
    a->waits = text.at;
    yard_care(y);
    return true;
}

/* ---- what it costs ----------------------------------------------------------------------- */

void move_resumed(struct yard *y, struct live_job *j)
{
    struct moving m = j->moving;
    usec_t cost = clock_now(&y->clock) - m.asked, old = j->row.move_cost;
    j->moving = (struct moving){0};
    if (!m.asked || !m.stopped || !j->attempt)
        return;
    j->row.move_cost = j->terms.move_cost = old ? (old + cost) / 2 : cost;
    yard_touch(y, j);
    events_add(y, "job.moved", j->row.id,
               json_pack("{s:I, s:s, s:f, s:f, s:f}", "attempt", (json_int_t)j->attempt->n, "node",
                         y->nodes.at[j->attempt->node].name, "pause_s", time_seconds(cost),
                         "stop_s", time_seconds(m.stopped - m.asked), "expected_s",
                         time_seconds(j->terms.move_cost)));
    rules_tell_terms(y, j);
}

/* ---- users and drains ---------------------------------------------------------------------- */

static int try_node(struct yard *y, struct live_job *j, uint32_t node, struct err *err)
{
    struct event event = {.kind = EVENT_MOVE, .task = j->task, .node = node};
    return yard_step(y, &event, err);
}

/* The node with the most free CPUs that takes it. */
static int try_any(struct yard *y, struct live_job *j, struct err *err)
{
    const struct cluster *c = &y->engine.cluster;
    AUTO_FREE bool *tried = xcalloc(c->n, sizeof *tried);
    for (uint32_t round = 0; round < c->n; round++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < c->n; i++)
            if (!tried[i] &&
                (best == UINT32_MAX || c->nodes[i].cpus - c->nodes[i].cpu_held >
                                           c->nodes[best].cpus - c->nodes[best].cpu_held))
                best = i;
        tried[best] = true;
        if (try_node(y, j, best, err) == 0)
            return 0;
    }
    return err_set(err, ERR_CONFLICT, "no other node has room for it now");
}

int move_by_hand(struct yard *y, struct live_job *j, uint32_t node, struct err *err)
{
    const struct task *t = yard_task(y, j);
    struct attempt *a = j->attempt;
    if (!a || !t || !task_running(t) || a->paused || a->stop != STOP_NONE)
        return err_set(err, ERR_CONFLICT, "job %lld is %s; only a running job can be moved",
                       (long long)j->row.id, job_state_name(j->row.state));
    if (!j->terms.resumes)
        return err_set(err, ERR_CONFLICT,
                       "job %lld has no checkpoint and would lose its work; submit it with "
                       "--checkpoint-dir or --checkpoint-signal, or requeue it",
                       (long long)j->row.id);
    uint64_t was = j->by_hand;
    j->by_hand = y->engine.decisions;
    int rc = node == UINT32_MAX ? try_any(y, j, err) : try_node(y, j, node, err);
    if (rc < 0)
        j->by_hand = was;
    turn_hurry(y);
    return rc;
}

void move_off(struct yard *y, uint32_t node)
{
    struct err err;
    for (size_t i = 0; i < y->attempts.n; i++) {
        const struct attempt *a = y->attempts.at[i];
        struct live_job *j = a->node == node && !a->leaves ? yard_live(y, a->job) : NULL;
        if (j && j->attempt == a && j->terms.resumes && a->stop == STOP_NONE && !a->paused)
            (void)move_by_hand(y, j, UINT32_MAX, &err); /* or it may end there */
    }
}
