/* Owns what is still to be said, and its order: hello; then, once welcome,
 * started, restarted, warnings, answers, progress, usage, exit. The exit comes last, so that
 * whoever has it has everything. */
#include "conductor/outbox.h"

#include "base/mem.h"

void outbox_init(struct outbox *o, const struct jobspec *spec, const struct notes *notes, pid_t pid)
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
    o->welcomed = false;
}

void outbox_welcomed(struct outbox *o, int64_t known)
{
    o->welcomed = true;
    o->say_started = o->leader != 0;
    o->say_exit = o->exit != NULL;
    o->warnings = 0;
    series_rewind(&o->progress, known);
}

void outbox_started(struct outbox *o, pid_t leader, usec_t at)
{
    o->leader = leader;
    o->started = at;
    o->say_started = true;
}

void outbox_restarted(struct outbox *o, unsigned incarnation, double cpus, usec_t pause)
{
    o->incarnation = incarnation;
    o->cpus = cpus;
    o->pause = pause;
    o->say_restarted = true;
}

void outbox_progress(struct outbox *o, usec_t at, char *body)
{
    series_add(&o->progress, at, body);
}

void outbox_usage(struct outbox *o, usec_t at, const struct usage *u)
{
    o->usage = *u;
    o->usage_at = at;
    o->say_usage = true;
}

void outbox_exit(struct outbox *o, const char *line)
{
    o->exit = line;
    o->say_exit = true;
    o->say_usage = false;
}

struct str *outbox_answer(struct outbox *o)
{
    o->answers[o->n_answers] = (struct str){0};
    return &o->answers[o->n_answers++];
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

/* Takes a flag down; tells whether it was up. */
static bool take(bool *flag)
{
    bool was = *flag;
    *flag = false;
    return was;
}

bool outbox_next(struct outbox *o, struct str *out)
{
    const struct series_item *p;
    if (take(&o->hello)) {
        message_hello(out, o->spec, o->pid, o->started, o->progress.seq);
        return true;
    }
    if (!o->welcomed)
        return false;
    if (take(&o->say_started))
        message_started(out, o->leader, o->started);
    else if (take(&o->say_restarted))
        message_restarted(out, o->incarnation, o->cpus, o->pause);
    else if (o->warnings < o->notes->n)
        message_warning(out, o->notes->text[o->warnings++]);
    else if (o->n_answers)
        take_answer(o, out);
    else if ((p = series_take(&o->progress)))
        message_progress(out, p->seq, p->at, p->body);
    else if (take(&o->say_usage))
        message_usage(out, o->usage_at, &o->usage);
    else if (take(&o->say_exit))
        str_add(out, o->exit);
    else
        return false;
    return true;
}
