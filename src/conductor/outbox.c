/* Owns the pending messages and their order: hello; then, after the welcome, started, restarted,
 * warnings, answers, progress, usage, exit. The exit is last, so a server that has it has
 * everything. If there is nothing else to send, it does not wait for the welcome. */
#include "conductor/outbox.h"

#include "base/mem.h"

/* The first protocol version in which a server accepts an exit before its welcome. */
enum { EXIT_BEFORE_WELCOME = 2 };

void outbox_init(struct outbox *o, const struct launch_spec *spec, const struct notes *notes,
                 pid_t pid)
{
    *o = (struct outbox){.spec = spec, .notes = notes, .pid = pid};
}

static void drop_answers(struct outbox *o)
{
    for (size_t i = 0; i < o->n_answers; i++)
        str_done(&o->answers[i]);
    o->n_answers = 0;
}

void outbox_done(struct outbox *o)
{
    drop_answers(o);
    series_done(&o->progress);
}

void outbox_connected(struct outbox *o)
{
    drop_answers(o);
    o->hello = true;
    o->welcomed = o->said_exit = o->say_lease = false;
}

void outbox_welcomed(struct outbox *o, int32_t version, int64_t known)
{
    bool knows_all = o->said_exit && version >= EXIT_BEFORE_WELCOME;
    o->welcomed = true;
    o->say_started = o->leader && !knows_all;
    o->say_exit = o->exit && !knows_all;
    o->warnings = 0;
    series_rewind(&o->progress, known);
}

void outbox_started(struct outbox *o, pid_t leader, usec_t at)
{
    o->leader = leader;
    o->started = at;
    o->say_started = true;
}

void outbox_restarted(struct outbox *o, const struct restarted_message *m)
{
    o->restarted = *m;
    o->say_restarted = true;
}

void outbox_progress(struct outbox *o, const struct progress_message *m)
{
    series_add(&o->progress, m);
}

void outbox_usage(struct outbox *o, usec_t at, const struct usage *u, bool saves)
{
    o->usage = (struct usage_message){at, *u, saves};
    o->say_usage = true;
}

void outbox_lease(struct outbox *o, usec_t asked)
{
    o->lease = asked;
    o->say_lease = true;
}

void outbox_exit(struct outbox *o, const char *line)
{
    o->exit = line;
    o->say_exit = true;
    o->say_usage = false;
}

void outbox_answer(struct outbox *o, const struct to_server *m)
{
    struct str *line = &o->answers[o->n_answers++];
    *line = (struct str){0};
    to_server_encode(m, line);
}

bool outbox_has_room(const struct outbox *o)
{
    return o->n_answers < OUTBOX_ANSWERS;
}

static void take_answer(struct outbox *o, struct str *out)
{
    str_add_n(out, o->answers[0].at, o->answers[0].n);
    str_done(&o->answers[0]);
    o->n_answers--;
    memmove(o->answers, o->answers + 1, o->n_answers * sizeof *o->answers);
}

/* Clears a flag and returns its previous value. */
static bool take(bool *flag)
{
    bool was = *flag;
    *flag = false;
    return was;
}

static struct to_server hello(const struct outbox *o)
{
    return (struct to_server){.kind = TO_SERVER_HELLO,
                              .hello = {.version = PROTOCOL_VERSION,
                                        .job = o->spec->job,
                                        .attempt = o->spec->attempt,
                                        .token = o->spec->token,
                                        .pid = o->pid,
                                        .started = o->started,
                                        .seq = o->progress.seq,
                                        .cpus = o->spec->cpus}};
}

/* What comes before the answers; false if there is nothing. */
static bool take_first(struct outbox *o, struct to_server *m)
{
    if (take(&o->say_started))
        *m = (struct to_server){.kind = TO_SERVER_STARTED, .started = {o->leader, o->started}};
    else if (take(&o->say_restarted))
        *m = (struct to_server){.kind = TO_SERVER_RESTARTED, .restarted = o->restarted};
    else if (take(&o->say_lease))
        *m = (struct to_server){.kind = TO_SERVER_LEASE, .lease = {o->lease}};
    else if (o->warnings < o->notes->n)
        *m = (struct to_server){.kind = TO_SERVER_WARNING,
                                .warning = {o->notes->text[o->warnings++]}};
    else
        return false;
    return true;
}

/* What comes after them. */
static bool take_later(struct outbox *o, struct to_server *m)
{
    const struct progress_message *p;
    if ((p = series_take(&o->progress)))
        *m = (struct to_server){.kind = TO_SERVER_PROGRESS, .progress = *p};
    else if (take(&o->say_usage))
        *m = (struct to_server){.kind = TO_SERVER_USAGE, .usage = o->usage};
    else
        return false;
    return true;
}

/* If the job is over and there is nothing else to report, the exit goes along with the hello. */
static void add_early_exit(struct outbox *o, struct str *out)
{
    if (!o->exit || o->progress.n || o->notes->n || o->say_restarted)
        return;
    str_add(out, o->exit);
    o->said_exit = true;
}

bool outbox_next(struct outbox *o, struct str *out)
{
    struct to_server m;
    if (take(&o->hello)) {
        m = hello(o);
        to_server_encode(&m, out);
        add_early_exit(o, out);
        return true;
    }
    if (!o->welcomed)
        return false;
    if (take_first(o, &m) || (!o->n_answers && take_later(o, &m)))
        to_server_encode(&m, out);
    else if (o->n_answers)
        take_answer(o, out);
    else if (take(&o->say_exit))
        str_add(out, o->exit);
    else
        return false;
    return true;
}
