/* Owns the operations of the fake engine, with their delays, failures and lost replies.
 *
 * As in a real engine, the name of an attempt ensures that it is created once: a second start
 * finds it. Giving up creates it as void, so that a late start finds it, too.
 *
 * An operation arrives, has its effect, and completes. If it cannot arrive by its deadline, it
 * never does. */
#include "runtime/fake_ops.h"

#include "runtime/fake_conductor.h"

/* ---- effects ------------------------------------------------------------------ */

static struct fake_attempt *create(struct fake *f, const struct fake_attempt *a)
{
    VEC_PUSH(&f->attempts, *a);
    return &f->attempts.at[f->attempts.n - 1];
}

static void start(struct fake *f, const struct fake_op *o)
{
    struct fake_attempt a = o->launch, *found = fake_find_attempt(f, o->copy.id);
    a.state = FAKE_CREATED;
    a.claim_at = fake_soon(f, f->faults.delay);
    a.connect_at = a.report_at = a.end_at = a.log_at = USEC_NEVER;
    a.as_of = f->now;
    a.lease_ends = a.lease_at = USEC_NEVER;
    a.start_by = a.start_by == USEC_NEVER ? USEC_NEVER : o->prepared + a.start_by;
    a.adopted = o->op != NULL;
    if (!found) {
        create(f, &a);
    } else if (found->cleaned && found->state != FAKE_VOID) {
        a.begun = found->begun; /* its name is free again, but it has run */
        *found = a;
    }
}

static enum runtime_fate fate_of(const struct fake_attempt *a)
{
    switch (a->state) {
    case FAKE_CREATED:
        return FATE_PENDING;
    case FAKE_VOID:
        return FATE_NEVER_RAN;
    case FAKE_RUNNING:
        return FATE_RUNNING;
    case FAKE_ENDED:
        return FATE_ENDED;
    case FAKE_DEAD:
        break;
    }
    return FATE_LOST;
}

static void settle(struct fake *f, struct fake_op *o)
{
    struct fake_attempt *a = fake_find_attempt(f, o->copy.id);
    if (!a && o->copy.give_up) {
        struct fake_attempt none = o->launch;
        none.state = FAKE_VOID;
        none.claim_at = none.connect_at = none.report_at = USEC_NEVER;
        none.end_at = none.log_at = USEC_NEVER;
        none.lease_ends = none.lease_at = none.start_by = USEC_NEVER;
        a = create(f, &none);
    }
    if (a && a->state == FAKE_CREATED && o->copy.give_up) {
        a->state = FAKE_VOID;
        a->claim_at = USEC_NEVER;
    }
    o->copy.fate = a ? fate_of(a) : FATE_PENDING;
    if (a && a->state == FAKE_ENDED)
        o->copy.record = a->record;
}

/* Resizes, freezes or thaws. */
static void change(struct fake *f, struct fake_op *o)
{
    struct fake_attempt *a = fake_find_attempt(f, o->copy.id);
    if (!a || a->cleaned) {
        err_set(&o->copy.err, ERR_NOT_FOUND, "job %lld, attempt %u: no such attempt",
                (long long)o->copy.id.job, o->copy.id.n);
        return;
    }
    if (o->copy.kind == OP_FREEZE) {
        fake_conductor_freeze(f, a, o->copy.frozen);
        return;
    }
    fake_conductor_advance(f, a);
    a->size = o->copy.size;
}

void fake_ops_clean(struct fake *f, struct fake_attempt *a)
{
    a->cleaned = true;
    fake_conductor_kill(f, a);
}

static void clean(struct fake *f, const struct fake_op *o)
{
    struct fake_attempt *a = fake_find_attempt(f, o->copy.id);
    if (a)
        fake_ops_clean(f, a);
}

/* Kills what runs; what it has written stays. */
static void kill_attempt(struct fake *f, const struct fake_op *o)
{
    struct fake_attempt *a = fake_find_attempt(f, o->copy.id);
    if (a && a->state == FAKE_CREATED)
        a->state = FAKE_VOID;
    if (a)
        fake_conductor_kill(f, a);
}

static void have_effect(struct fake *f, struct fake_op *o)
{
    switch (o->copy.kind) {
    case OP_START:
        start(f, o);
        break;
    case OP_SETTLE:
        settle(f, o);
        break;
    case OP_RESIZE:
    case OP_FREEZE:
        change(f, o);
        break;
    case OP_KILL:
        kill_attempt(f, o);
        break;
    case OP_CLEAN:
        clean(f, o);
        break;
    }
}

/* ---- delivery ----------------------------------------------------------------- */

static void never_arrives(struct fake_op *o, enum err_code code, const char *why)
{
    err_set(&o->copy.err, code, "%s", why);
    o->arrives = USEC_NEVER;
}

void fake_ops_begin(struct fake *f, struct runtime_op *op)
{
    const struct runtime_host *h = f->server->host;
    uint32_t node = fake_find_node(f, op->node);
    struct fake_op o = {.op = op,
                        .copy = *op,
                        .launch = {.id = op->id, .node = node, .size = op->size},
                        .arrives = fake_soon(f, f->faults.delay),
                        .answered = USEC_NEVER,
                        .deadline = f->now + op->deadline - h->now(h),
                        .fails = fake_chance(f, f->faults.op_fails),
                        .lost = fake_chance(f, f->faults.reply_lost)};
    o.prepared = f->now + (usec_t)(rng_uniform(&f->rng) * (double)(o.arrives - f->now));
    o.copy.err = (struct err){.code = ERR_OK};
    o.copy.pid = 0;
    if (op->kind == OP_START)
        fake_conductor_read(&o.launch, op->start->spec);
    if (node == f->nodes.n) {
        never_arrives(&o, ERR_NOT_FOUND, "no such node");
        o.answered = f->now;
    } else if (o.arrives > o.deadline) {
        never_arrives(&o, ERR_UNREACHABLE, "no answer in time");
        o.answered = o.deadline;
    }
    VEC_PUSH(&f->ops, o);
}

/* Uses a copy: an effect can end a link, after which the server may begin another operation. */
static void arrive(struct fake *f, size_t i)
{
    struct fake_op o = f->ops.at[i];
    o.answered = f->now;
    if (fake_is_cut(f, o.launch.node)) {
        never_arrives(&o, ERR_UNREACHABLE, "the node cannot be reached");
        o.answered = o.deadline;
    } else if (o.fails) {
        never_arrives(&o, ERR_IO, "the engine refused");
    } else {
        o.arrives = USEC_NEVER;
        have_effect(f, &o);
        if (o.lost) {
            err_set(&o.copy.err, ERR_UNREACHABLE, "no answer in time");
            o.answered = o.deadline;
        }
    }
    f->ops.at[i].copy = o.copy;
    f->ops.at[i].arrives = o.arrives;
    f->ops.at[i].answered = o.answered;
}

static void answer(struct fake *f, const struct fake_op *o)
{
    if (!o->op)
        return;
    *o->op = o->copy;
    runtime_complete(f->server->host, o->op);
}

usec_t fake_ops_due(const struct fake *f)
{
    usec_t due = USEC_NEVER;
    for (size_t i = 0; i < f->ops.n; i++) {
        const struct fake_op *o = &f->ops.at[i];
        due = o->arrives < due ? o->arrives : due;
        due = o->answered < due ? o->answered : due;
    }
    return due;
}

void fake_ops_run(struct fake *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->ops.n; i++)
        if (f->ops.at[i].arrives <= f->now)
            arrive(f, i);
    for (size_t i = 0; i < f->ops.n; i++)
        if (f->ops.at[i].answered <= f->now)
            answer(f, &f->ops.at[i]);
        else
            f->ops.at[kept++] = f->ops.at[i];
    f->ops.n = kept;
}

void fake_ops_orphan(struct fake *f)
{
    for (size_t i = 0; i < f->ops.n; i++) {
        struct fake_op *o = &f->ops.at[i];
        o->op = NULL;
        if (o->copy.kind == OP_START && o->arrives != USEC_NEVER && o->prepared > f->now) {
            /* It was not ready to start. */
            o->arrives = USEC_NEVER;
            o->answered = f->now;
        }
    }
}
