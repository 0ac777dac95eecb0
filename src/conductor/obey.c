/* Owns the reaction to messages, connects and disconnects of the server. */
#include "conductor/obey.h"

#include <math.h>

#include "base/clock.h"
#include "conductor/conductor.h"
#include "conductor/finish.h"
#include "conductor/job.h"
#include "conductor/restart.h"

/* Notes once what is wrong with the server. */
static void complain(struct conductor *c, const char *what, const char *why)
{
    if (!c->complained)
        notes_add(&c->notes, "the server %s: %s", what, why);
    c->complained = true;
}

static void on_connected(void *ctx)
{
    struct conductor *c = ctx;
    loop_set_timer(&c->loop, TIMER_LEAVE, USEC_NEVER);
    notify_forget_folder(&c->notify);
    outbox_connected(&c->outbox);
}

void obey_connect(struct conductor *c)
{
    if (c->kept->fd >= 0)
        link_resume(&c->link, c->kept);
    else
        link_try(&c->link);
    if (!link_is_up(&c->link))
        notify_watch_folder_of(&c->notify, c->spec.socket);
}

static void on_lost(void *ctx)
{
    struct conductor *c = ctx;
    notify_watch_folder_of(&c->notify, c->spec.socket);
    if (c->over)
        finish_unheard(c);
}

static bool next_message(void *ctx, struct str *out)
{
    struct conductor *c = ctx;
    return outbox_next(&c->outbox, out);
}

static bool has_room(void *ctx)
{
    const struct conductor *c = ctx;
    return outbox_has_room(&c->outbox);
}

static int send_signal(struct conductor *c, const struct signal_message *m, struct err *err)
{
    if (c->over || tree_signal(&c->tree, m->reach, m->number) == 0)
        return err_set(err, ERR_CONFLICT, "the job has no process that could get the signal");
    return 0;
}

static void stop(struct conductor *c, const struct stop_message *m)
{
    if (!c->over)
        job_stop(c, m, m->reason && *m->reason ? m->reason : "stop");
}

static int freeze(struct conductor *c, struct err *err)
{
    c->thaws = false;
    if (!life_freeze(&c->life, clock_read_steady()))
        return err_set(err, ERR_CONFLICT, "the job is ending");
    if (tree_freeze(&c->tree, err) == 0)
        return 0;
    life_thaw(&c->life, clock_read_steady());
    return -1;
}

/* The command that waited for its lease starts when it has one, unless it is frozen. */
static void begin_granted(struct conductor *c)
{
    if (!c->awaits || c->life.frozen || lease_is_over(&c->lease, clock_read_boot()))
        return;
    c->awaits = false;
    job_start(c);
    if (!c->over)
        job_watch(c);
}

/* While it was frozen the lease could not be renewed. The job may have been started elsewhere
 * meanwhile, so it goes on only with a new one. */
static int thaw(struct conductor *c, struct err *err)
{
    c->thaws = lease_is_over(&c->lease, clock_read_boot());
    if (c->thaws)
        return 0;
    if (tree_thaw(&c->tree, err) < 0)
        return -1;
    life_thaw(&c->life, clock_read_steady());
    begin_granted(c);
    return 0;
}

static int renew(struct conductor *c, const struct lease_message *m, struct err *err)
{
    lease_renew(&c->lease, m->asked, m->length);
    begin_granted(c);
    return c->thaws ? thaw(c, err) : 0;
}

/* The server has changed the cgroup already; without one, sets the CPUs here. */
static int resize(struct conductor *c, const struct resize_message *m, struct err *err)
{
    if (!c->over && m->cpuset && *m->cpuset && !group_has(&c->groups, "cpuset.cpus") &&
        tree_set_cpus(&c->tree, m->cpuset, err) < 0)
        return -1;
    if (c->awaits && m->cpuset && *m->cpuset)
        c->spec.cpuset = arena_strdup(&c->arena, m->cpuset);
    c->spec.cpus = m->cpus;
    return 0;
}

static int obey(struct conductor *c, const struct to_conductor *m, struct err *err)
{
    switch (m->kind) {
    case TO_CONDUCTOR_SIGNAL:
        return send_signal(c, &m->signal, err);
    case TO_CONDUCTOR_STOP:
        stop(c, &m->stop);
        return 0;
    case TO_CONDUCTOR_FREEZE:
        return freeze(c, err);
    case TO_CONDUCTOR_THAW:
        return thaw(c, err);
    case TO_CONDUCTOR_RESIZE:
        return resize(c, &m->resize, err);
    case TO_CONDUCTOR_RESTART:
        return restart_ask(c, &m->restart, err);
    case TO_CONDUCTOR_LIMIT:
        life_set_limit(&c->life, m->limit.time_limit ? m->limit.time_limit : USEC_NEVER);
        return 0;
    case TO_CONDUCTOR_LEASE:
        return renew(c, &m->lease, err);
    case TO_CONDUCTOR_NEXT:
        return err_set(err, ERR_CONFLICT, "an attempt is going on");
    default:
        return err_set(err, ERR_INVALID, "%s", m->problem);
    }
}

static void answer_applied(struct conductor *c, const struct applied_message *applied)
{
    outbox_answer(&c->outbox, &(struct to_server){.kind = TO_SERVER_APPLIED, .applied = *applied});
}

/* A job with a page gets its number of threads there, and the answer follows when it has obeyed. */
static void answer_resize(struct conductor *c, int64_t id, const struct resize_message *m)
{
    struct applied_message asks = {.id = id, .cpus = m->cpus}, answer;
    int64_t threads = m->threads ? m->threads : m->cpus < 1 ? 1 : (int64_t)m->cpus;
    pid_t listener;
    int signal;
    if (c->threads.fd < 0 || c->over) {
        asks.threads = (int64_t)ceil(m->cpus);
        asks.in = asks.regions = -1;
        answer_applied(c, &asks);
        return;
    }
    if (threads_order(&c->threads, clock_read_steady(), &asks, (uint32_t)threads, &answer))
        answer_applied(c, &answer);
    if (threads_listener(&c->threads, &listener, &signal))
        tree_signal_one(&c->tree, listener, signal);
}

void obey_look(struct conductor *c)
{
    struct applied_message answer;
    if (threads_look(&c->threads, clock_read_steady(), &answer))
        answer_applied(c, &answer);
}

void obey_lease(struct conductor *c)
{
    usec_t now = clock_read_boot();
    bool connected = c->outbox.welcomed && link_is_up(&c->link);
    bool stops = lease_is_over(&c->lease, now) && !c->life.frozen && !c->lease_over && !c->awaits;
    if (c->over || !c->lease.length)
        return;
    if (connected && lease_ask(&c->lease, now))
        outbox_lease(&c->outbox, now);
    if (stops) {
        c->lease_over = true;
        job_stop(c, &(struct stop_message){.grace = USEC_NEVER, .reach = REACH_ALL},
                 EXIT_STOP_LEASE);
    }
    usec_t next = c->lease_over || lease_is_over(&c->lease, now) ? USEC_NEVER
                                                                 : lease_next(&c->lease, connected);
    loop_set_timer(&c->loop, TIMER_LEASE,
                   next == USEC_NEVER ? USEC_NEVER : clock_read_steady() + (next - now));
}

static void obey_and_answer(struct conductor *c, const struct to_conductor *m)
{
    struct err err;
    struct to_server answer = {.kind = TO_SERVER_OK, .ok = {m->id}};
    int rc = obey(c, m, &err);
    if (rc == 0 && m->kind == TO_CONDUCTOR_RESIZE) {
        answer_resize(c, m->id, &m->resize);
        return;
    }
    if (rc < 0)
        answer = (struct to_server){.kind = TO_SERVER_ERROR, .error = {m->id, err.text}};
    if (m->id >= 0)
        outbox_answer(&c->outbox, &answer);
    else if (rc < 0)
        complain(c, "sent a message that cannot be carried out", err.text);
}

/* A conductor that could not end all processes of its job cannot be reused. */
static void take_ack(struct conductor *c, bool stay)
{
    c->leave = true;
    c->stay = stay && c->recorded && !c->life.stuck;
    link_stop(&c->link);
}

/* False if the connection must be dropped: only a refusal may come before the welcome. */
static bool take_message(struct conductor *c, const struct to_conductor *m)
{
    if (m->kind == TO_CONDUCTOR_WELCOME) {
        c->refused = false;
        link_welcome(&c->link);
        lease_reconnected(&c->lease);
        outbox_welcomed(&c->outbox, m->welcome.version, m->welcome.seq);
    } else if (m->kind == TO_CONDUCTOR_REFUSED) {
        complain(c, "refuses this attempt", m->refused.text ? m->refused.text : "");
        c->refused = true;
        link_drop(&c->link);
    } else if (!c->outbox.welcomed) {
        complain(c, "did not begin with a welcome",
                 m->kind == TO_CONDUCTOR_BAD ? m->problem : to_conductor_kinds[m->kind].name);
        return false;
    } else if (m->kind == TO_CONDUCTOR_ACK) {
        if (c->over)
            take_ack(c, m->ack.stay);
    } else {
        obey_and_answer(c, m);
    }
    return true;
}

static bool on_line(void *ctx, const char *line, size_t n)
{
    struct conductor *c = ctx;
    struct arena arena = {0};
    struct to_conductor m;
    struct err err;
    bool fine = to_conductor_decode(line, n, &arena, &m, &err) == 0;
    if (fine)
        fine = take_message(c, &m);
    else
        complain(c, "sent garbage", err.text);
    arena_done(&arena);
    return fine;
}

const struct link_user obey_link = {
    .connected = on_connected,
    .lost = on_lost,
    .next = next_message,
    .line = on_line,
    .has_room = has_room,
};
