/* Owns the assignment of links to attempts. A link has no attempt until its hello shows the
 * token of one. If that attempt has ended and is recorded, its messages are acknowledged. */
#include "server/jobs/links.h"

#include <string.h>

#include "server/jobs/attempts.h"
#include "server/jobs/leases.h"
#include "server/jobs/log_copy.h"
#include "server/jobs/pursue.h"
#include "server/jobs/reports.h"
#include "server/jobs/size.h"
#include "server/log.h"
#include "server/nodes.h"
#include "store/attempts.h"
#include "store/job_state.h"

/* The user of a link whose attempt has ended. */
static const char over;

void links_over(struct runtime_link *link)
{
    link->user = (void *)&over;
}

static struct attempt *attempt_of(const struct runtime_link *link)
{
    return link->user == &over ? NULL : link->user;
}

static const struct runtime_ops *ops_of(const struct yard *y, const struct runtime *r)
{
    for (size_t i = 0; i < y->runtimes.n; i++)
        if (y->runtimes.at[i].runtime == r)
            return y->runtimes.at[i].ops;
    return NULL;
}

static void send_message(const struct yard *y, struct runtime_link *link,
                         const struct to_conductor *m)
{
    ops_of(y, link->runtime)->send(link->runtime, link, m);
}

/* ---- hello ------------------------------------------------------------------- */

struct find_over {
    const struct hello_message *hello;
    bool found;
};

static int see_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    struct find_over *f = ctx;
    (void)err;
    f->found |= row->n == f->hello->attempt && job_state_over(row->state) &&
                !strcmp(row->token, f->hello->token);
    return 0;
}

static bool is_over(struct yard *y, const struct hello_message *m)
{
    struct find_over f = {m, false};
    struct err err;
    return store_attempt_list(y->store, m->job, see_attempt, &f, &err) == 0 &&
           store_part_list(y->store, m->job, see_attempt, &f, &err) == 0 && f.found;
}

/* Assigns the link, and repeats messages that the conductor may have missed. */
static void attach(struct yard *y, struct runtime_link *link, struct attempt *a,
                   const struct hello_message *m)
{
    struct to_conductor welcome = {
        .kind = TO_CONDUCTOR_WELCOME, .id = -1, .welcome = {PROTOCOL_VERSION, a->seq}};
    if (a->link && a->link != link)
        ops_of(y, a->link->runtime)->unlink(a->link->runtime, a->link);
    link->user = a;
    a->link = link;
    a->pid = m->pid;
    a->unheard = 0;
    a->begun = true;
    a->adopted = false;
    if (a->state == JOB_STARTING) /* its conductor has all that it needs */
        nodes_accepted(y, a->node);
    a->told.threads = 0;
    if (a->told.cpus == 0 && m->cpus > 0) /* unless what it was started with still counts */
        a->told.cpus = (units_t)(m->cpus * UNIT + 0.5);
    send_message(y, link, &welcome);
    log_copy_ask(y, a);
    turn_look_at(y, a);
    if (m->started > 0)
        attempt_started(y, a, m->started);
}

/* The part of the attempt whose token the conductor has. */
static struct attempt *find_by_token(const struct yard *y, const struct hello_message *m)
{
    for (size_t i = 0; i < y->attempts.n; i++) {
        struct attempt *a = y->attempts.at[i];
        if (a->job == m->job && a->n == m->attempt && !strcmp(a->token, m->token))
            return a;
    }
    return NULL;
}

static void take_hello(struct yard *y, struct runtime_link *link, const struct hello_message *m)
{
    struct to_conductor welcome = {
        .kind = TO_CONDUCTOR_WELCOME, .id = -1, .welcome = {PROTOCOL_VERSION, -1}};
    struct to_conductor refused = {
        .kind = TO_CONDUCTOR_REFUSED, .id = -1, .refused = {"no such attempt"}};
    struct attempt *a = find_by_token(y, m);
    if (a) {
        attach(y, link, a, m);
    } else if (is_over(y, m)) {
        links_over(link);
        send_message(y, link, &welcome);
    } else {
        log_warning("job=%lld attempt=%lld refused an unknown conductor", (long long)m->job,
                    (long long)m->attempt);
        send_message(y, link, &refused);
    }
}

/* ---- the rest ---------------------------------------------------------------- */

static void take_exit(struct yard *y, struct runtime_link *link, const struct exit_record *r)
{
    struct to_conductor ack = {.kind = TO_CONDUCTOR_ACK, .id = -1, .ack = {.what = ACK_EXIT}};
    struct attempt *a = attempt_of(link);
    if (link->user == &over)
        send_message(y, link, &ack);
    else if (a && !a->leaves) /* otherwise it is acknowledged when it is cleaned up */
        attempt_over_by(y, a, r);
}

static void warn(const struct attempt *a, const char *text)
{
    log_warning("job=%lld attempt=%u conductor: %s", (long long)a->job, a->n, text);
}

/* Handles a report of a running attempt. */
static void take_report(struct yard *y, struct attempt *a, const struct to_server *m)
{
    switch (m->kind) {
    case TO_SERVER_STARTED:
        attempt_started(y, a, m->started.at);
        break;
    case TO_SERVER_PROGRESS:
        if (!a->part) /* which reports for all */
            report_progress(y, a, &m->progress);
        break;
    case TO_SERVER_USAGE:
        if (!a->part)
            report_usage(y, a, &m->usage);
        break;
    case TO_SERVER_APPLIED:
        report_applied(y, a, &m->applied);
        break;
    case TO_SERVER_RESTARTED:
        report_restarted(y, a, &m->restarted);
        break;
    case TO_SERVER_LEASE:
        lease_grant(y, a, &m->lease);
        break;
    case TO_SERVER_WARNING:
        warn(a, m->warning.text);
        break;
    case TO_SERVER_ERROR:
        warn(a, m->error.text);
        break;
    case TO_SERVER_BAD: /* perhaps from a newer version: logged once */
        if (!a->complained)
            warn(a, m->problem);
        a->complained = true;
        break;
    default:
        break;
    }
}

void links_message(struct runtime_host *h, struct runtime_link *link, const struct to_server *m)
{
    struct yard *y = h->ctx;
    struct attempt *a = attempt_of(link);
    if (m->kind == TO_SERVER_HELLO) {
        if (!link->user)
            take_hello(y, link, &m->hello);
    } else if (m->kind == TO_SERVER_EXIT) {
        take_exit(y, link, &m->exit);
    } else if (a && !a->leaves) {
        take_report(y, a, m);
    }
}

void links_lost(struct runtime_host *h, struct runtime_link *link)
{
    struct yard *y = h->ctx;
    struct attempt *a = attempt_of(link);
    if (!a)
        return;
    a->link = NULL;
    a->unheard = a->look_at = clock_now(&y->clock);
    a->told.cpus = a->told.threads = 0;
    a->told.stop = STOP_NONE;
    a->told.limit = -1;
    size_shrunk(y, a);
    yard_care(y);
}
