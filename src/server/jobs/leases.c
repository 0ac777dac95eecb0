/* Owns leases, and giving up the attempts of lost nodes. */
#include "server/jobs/leases.h"

#include <jansson.h>
#include <stdio.h>

#include "server/events.h"
#include "server/jobs/attempts.h"
#include "server/jobs/pursue.h"
#include "server/log.h"
#include "server/nodes.h"

/* Clocks run at slightly different speeds, and killing takes a moment. */
#define MARGIN (10 * USEC_PER_SEC)
enum { DRIFT = 100 };

void lease_begin(struct yard *y, struct attempt *a, const struct terms *terms)
{
    bool remote = nodes_runtime(y, a->node)->ops->leases && !y->nodes.at[a->node].here;
    usec_t lease = terms->lease ? terms->lease : remote ? y->config.lease : USEC_NEVER;
    if (!nodes_runtime(y, a->node)->ops->leases || lease == USEC_NEVER)
        lease = 0;
    a->lease = lease;
    a->leased = clock_now(&y->clock);
}

static void extend(struct attempt *a, usec_t from)
{
    a->leased = from > a->leased ? from : a->leased;
}

void lease_started(struct yard *y, struct attempt *a)
{
    extend(a, clock_now(&y->clock) + (a->started ? 0 : RUNTIME_START_LAG));
}

void lease_grant(struct yard *y, struct attempt *a, const struct lease_request *m)
{
    struct to_conductor answer = {
        .kind = TO_CONDUCTOR_LEASE, .id = -1, .lease = {.asked = m->asked, .length = a->lease}};
    if (!a->lease)
        return;
    extend(a, clock_now(&y->clock));
    attempt_say(y, a, &answer);
}

/* Engine time at which its job must have ended if the server does not hear of it again. */
static usec_t lease_ends(const struct yard *y, const struct attempt *a)
{
    const struct live_job *j = yard_live(y, a->job);
    usec_t grace = j ? j->terms.grace : 0;
    return a->leased + a->lease + grace + a->lease / DRIFT + MARGIN;
}

/* Whether its lease decides: nobody hears of it, and its node is lost. A start that is under way
 * may still succeed. */
static bool is_cut_off(const struct yard *y, const struct attempt *a)
{
    bool starting = a->busy && a->op.kind == OP_START;
    return y->nodes.at[a->node].lost && !a->link && !a->leaves && a->lease && !starting;
}

static void give_up(struct yard *y, struct attempt *a)
{
    const char *node = y->nodes.at[a->node].name;
    char reason[160];
    snprintf(reason, sizeof reason, "its node %.100s was lost", node);
    struct ending end = {.at = clock_wall(&y->clock),
                         .code = 137,
                         .stop = "",
                         .reason = reason,
                         .lost = true,
                         .node_lost = true,
                         .started = a->started};
    events_add(y, "job.fenced", a->job,
               json_pack("{s:I, s:s, s:f}", "attempt", (json_int_t)a->n, "node", node, "lease_s",
                         time_seconds(a->lease)));
    log_warning("job=%lld attempt=%u given up: node=%s is lost and its lease is over",
                (long long)a->job, a->n, node);
    a->fenced = true;
    nodes_follow_fences(y, a->node);
    attempt_over(y, a, &end);
}

usec_t lease_look(struct yard *y, usec_t now)
{
    usec_t next = USEC_NEVER;
    for (size_t i = y->attempts.n; i-- > 0;) {
        struct attempt *a = y->attempts.at[i];
        if (!is_cut_off(y, a))
            continue;
        usec_t ends = lease_ends(y, a);
        if (ends <= now)
            give_up(y, a);
        else if (ends < next)
            next = ends;
    }
    return next;
}

void lease_killed(struct yard *y, struct attempt *a)
{
    a->fenced = false;
    attempt_touch(y, a);
    nodes_follow_fences(y, a->node);
}
