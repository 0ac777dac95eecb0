/* Owns the end of attempts that have several parts.
 *
 * Part 0 stands for the attempt, so it stays until the other parts are over, even if it has ended
 * before: `done`, with its ending. A server that starts meanwhile finds its record again. What the
 * parts were stopped for is in the row of part 0: the stop, the code and the reason. */
#include "server/jobs/gang.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "server/jobs/parts.h"
#include "server/jobs/size.h"
#include "server/log.h"
#include "server/nodes.h"
#include "store/job_state.h"

bool gang_has(const struct live_job *j, const struct attempt *a)
{
    for (const struct attempt *p = j->attempt; p; p = p->next_part)
        if (p == a)
            return true;
    return false;
}

void gang_join(struct attempt *head, struct attempt *part)
{
    while (head->next_part)
        head = head->next_part;
    head->next_part = part;
}

static void leave(struct attempt *head, struct attempt *part)
{
    while (head->next_part != part)
        head = head->next_part;
    head->next_part = part->next_part;
    part->next_part = NULL;
}

uint32_t gang_size(const struct attempt *head)
{
    uint32_t n = 0;
    for (; head; head = head->next_part)
        n++;
    return n;
}

uint32_t gang_rank(const struct attempt *head, const struct attempt *a)
{
    uint32_t n = 0;
    for (; head && head != a; head = head->next_part)
        n++;
    return n;
}

units_t gang_cpus(const struct attempt *head)
{
    units_t sum = 0;
    for (; head; head = head->next_part)
        sum += head->cpus;
    return sum;
}

units_t gang_gpus(const struct attempt *head)
{
    units_t sum = 0;
    for (; head; head = head->next_part)
        sum += head->gpus;
    return sum;
}

bool gang_fits(const struct live_job *j, const struct attempt *head, const struct task *t)
{
    if (gang_size(head) != t->at.n)
        return false;
    for (; head; head = head->next_part) {
        units_t there = placement_on(&t->at, head->node);
        bool same = t->pool == POOL_CPU ? head->cpus == there : head->gpus == there;
        if (!there || (j->job[j->job_now].worker && !same))
            return false;
    }
    return true;
}

/* ---- the end ----------------------------------------------------------------------- */

/* Whether it did not end by itself. */
static bool is_lost(const struct ending *end)
{
    return end->lost || end->never_ran || *end->stop;
}

/* Parts run into their time limit by themselves, each for its own. */
static bool is_bad(const struct ending *end)
{
    return !end->timeout && (end->code != 0 || is_lost(end));
}

static void stop_others(struct yard *y, struct live_job *j, const struct attempt *a,
                        const struct ending *end)
{
    struct attempt *head = j->attempt;
    struct str why = {0};
    str_addf(&why, "%s %s", y->nodes.at[a->node].name,
             end->never_ran ? "did not start it" : "ended");
    if (*end->reason)
        str_addf(&why, ": %s", end->reason);
    else if (end->signal)
        str_addf(&why, ": killed by signal %d", end->signal);
    else
        str_addf(&why, ": exit code %d", end->code);
    free(head->cause);
    head->cause = why.at;
    head->code = end->code;
    head->signal = end->signal;
    log_info("job=%lld attempt=%u part=%u stops the others: %s", (long long)a->job, a->n, a->part,
             head->cause);
    attempt_stop(y, j, is_lost(end) ? STOP_PART_LOST : STOP_PART, -1);
}

static struct ending copy_ending(const struct ending *end)
{
    struct ending e = *end;
    e.stop = xstrdup(end->stop);
    e.reason = xstrdup(end->reason);
    e.error = end->error ? xstrdup(end->error) : NULL;
    e.left_running = end->left_running ? xstrdup(end->left_running) : NULL;
    return e;
}

void gang_drop_ending(struct ending *end)
{
    if (!end)
        return;
    free((char *)end->stop);
    free((char *)end->reason);
    free((char *)end->error);
    free((char *)end->left_running);
    free(end);
}

/* A part that is over is cleaned up at once, except part 0. */
static void finish_part(struct yard *y, struct live_job *j, struct attempt *a,
                        const struct ending *end)
{
    leave(j->attempt, a);
    a->state = a->stop != STOP_NONE             ? JOB_CANCELLED
               : end->timeout                   ? JOB_TIMEOUT
               : end->lost || end->never_ran    ? JOB_LOST
               : end->code == 0 && !end->signal ? JOB_DONE
                                                : JOB_FAILED;
    if (end->started)
        a->started = end->started;
    a->ended = end->at;
    a->code = end->code;
    a->signal = end->signal;
    a->reason = xstrdup(end->reason);
    a->error = end->error && *end->error ? xstrdup(end->error) : NULL;
    a->cpu_seconds = end->cpu_seconds;
    a->memory_max_mb = end->memory_max_mb;
    a->fetch &= !end->never_ran;
    a->shrink_by = 0;
    a->leaves = true;
    attempt_touch(y, a);
    size_wake(y, a->node);
    turn_pursue(y, a);
    log_info("job=%lld attempt=%u part=%u ended code=%d signal=%d%s%s", (long long)a->job, a->n,
             a->part, a->code, a->signal, *a->reason ? " reason=" : "", a->reason);
}

bool gang_end_part(struct yard *y, struct live_job *j, struct attempt *a, const struct ending *end)
{
    struct attempt *head = j->attempt;
    if (a == head && !head->next_part)
        return false;
    if (a->done)
        return true;
    if (is_bad(end) && head->stop == STOP_NONE)
        stop_others(y, j, a, end);
    if (a == head) {
        head->done = xmalloc(sizeof *head->done);
        *head->done = copy_ending(end);
        return true;
    }
    finish_part(y, j, a, end);
    if (head->done && !head->next_part) {
        struct ending *last = head->done;
        head->done = NULL;
        attempt_over(y, head, last);
        gang_drop_ending(last);
    }
    return true;
}

bool gang_blame(const struct attempt *head, struct ending *end)
{
    bool lost = head->stop == STOP_PART_LOST;
    if (head->stop != STOP_PART && !lost)
        return false;
    end->code = head->code;
    end->signal = head->signal;
    end->reason = head->cause ? head->cause : "one of its parts ended";
    end->lost = end->node_lost = lost;
    end->never_ran = end->oom = end->timeout = false;
    end->stop = "";
    return true;
}

/* ---- where they are ------------------------------------------------------------------ */

const char *gang_address(const struct yard *y, const struct attempt *a)
{
    const struct yard_node *n = &y->nodes.at[a->node];
    return n->host ? n->host : n->name;
}

uint32_t gang_port(const struct attempt *a)
{
    enum { FIRST = 20000, PORTS = 10000 };
    return FIRST + (uint32_t)(a->job % PORTS);
}

void gang_add_hosts(const struct yard *y, const struct live_job *j, struct str *out)
{
    for (const struct attempt *p = j->attempt; p; p = p->next_part)
        str_addf(out, "%s slots=%lld\n",
                 p == j->attempt && !p->next_part ? "127.0.0.1" : gang_address(y, p),
                 (long long)(p->gpus ? p->gpus / UNIT : parts_of(j, p)));
}
