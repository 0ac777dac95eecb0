/* Owns what the conductor does when the server says something, comes or goes. */
#include "conductor/conductor.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* Says once what is wrong with the server. */
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

static int send_signal(struct conductor *c, const struct command *m, struct err *err)
{
    if (c->over || tree_signal(&c->tree, m->reach, m->signal) == 0)
        return err_set(err, ERR_CONFLICT, "the job has no process that could get the signal");
    return 0;
}

static int freeze(struct conductor *c, struct err *err)
{
    if (!life_freeze(&c->life, clock_read_steady()))
        return err_set(err, ERR_CONFLICT, "the job is ending");
    if (tree_freeze(&c->tree, err) == 0)
        return 0;
    life_thaw(&c->life, clock_read_steady());
    return -1;
}

static int thaw(struct conductor *c, struct err *err)
{
    if (tree_thaw(&c->tree, err) < 0)
        return -1;
    life_thaw(&c->life, clock_read_steady());
    return 0;
}

/* The server has changed the cgroup; without one the CPUs are set here. */
static int resize(struct conductor *c, const struct command *m, struct err *err)
{
    if (!c->over && *m->cpuset && !group_has(&c->groups, "cpuset.cpus") &&
        tree_set_cpus(&c->tree, m->cpuset, err) < 0)
        return -1;
    c->spec.cpus = m->cpus;
    return 0;
}

static int obey(struct conductor *c, const struct command *m, struct err *err)
{
    switch (m->type) {
    case COMMAND_SIGNAL:
        return send_signal(c, m, err);
    case COMMAND_STOP:
        if (!c->over)
            job_stop(c, m->grace, m->signal, m->reach, m->text);
        return 0;
    case COMMAND_FREEZE:
        return freeze(c, err);
    case COMMAND_THAW:
        return thaw(c, err);
    case COMMAND_RESIZE:
        return resize(c, m, err);
    case COMMAND_RESTART:
        return restart_ask(c, m, err);
    case COMMAND_LIMIT:
        life_set_limit(&c->life, m->limit);
        return 0;
    default:
        return err_set(err, ERR_INVALID, "%s", m->text);
    }
}

/* A job with a page is told its threads, and answered for when it has obeyed. */
static void answer_resize(struct conductor *c, const struct command *m)
{
    struct threads_answer asks = {.id = m->id, .cpus = m->cpus}, answer;
    int64_t threads = m->threads ? m->threads : m->cpus < 1 ? 1 : (int64_t)m->cpus;
    pid_t listener;
    int signal;
    if (c->threads.fd < 0 || c->over) {
        message_applied(outbox_answer(&c->outbox), m->id, m->cpus, (int64_t)ceil(m->cpus));
        return;
    }
    if (threads_order(&c->threads, clock_read_steady(), &asks, (uint32_t)threads, &answer))
        message_obeyed(outbox_answer(&c->outbox), &answer);
    if (threads_listener(&c->threads, &listener, &signal))
        tree_signal_one(&c->tree, listener, signal);
}

void obey_look(struct conductor *c)
{
    struct threads_answer answer;
    if (threads_look(&c->threads, clock_read_steady(), &answer))
        message_obeyed(outbox_answer(&c->outbox), &answer);
}

static void obey_and_answer(struct conductor *c, const struct command *m)
{
    struct err err;
    int rc = obey(c, m, &err);
    if (rc == 0 && m->type == COMMAND_RESIZE)
        answer_resize(c, m);
    else if (m->id >= 0 && rc == 0)
        message_ok(outbox_answer(&c->outbox), m->id);
    else if (m->id >= 0)
        message_error(outbox_answer(&c->outbox), m->id, err.text);
    else if (rc < 0)
        complain(c, "sent what cannot be obeyed", err.text);
}

static bool on_line(void *ctx, const char *line, size_t n)
{
    struct conductor *c = ctx;
    struct command m;
    struct err err;
    if (command_parse(line, n, &c->spec, &m, &err) < 0) {
        complain(c, "sent garbage", err.text);
        return false;
    }
    if (m.type == COMMAND_WELCOME) {
        link_welcome(&c->link);
        outbox_welcomed(&c->outbox, m.seq);
    } else if (m.type == COMMAND_REFUSED) {
        complain(c, "refuses this attempt", m.text);
        link_drop(&c->link);
    } else if (!c->outbox.welcomed) {
        complain(c, "did not begin with a welcome", m.text);
        return false;
    } else if (m.type == COMMAND_ACK) {
        if (c->over && strcmp(m.text, "exit") == 0)
            c->acked = c->leave = true;
    } else {
        obey_and_answer(c, &m);
    }
    return true;
}

const struct link_user obey_link = {
    .connected = on_connected,
    .lost = on_lost,
    .next = next_message,
    .line = on_line,
    .has_room = has_room,
};
