/* Owns the engine of the fake runtime: operations with their delays, failures and lost
 * replies, nodes that are cut off or restart, and what is true of each job.
 *
 * What an engine does once is decided here as a real one does: by the name of the attempt.
 * An attempt is created once; a second start finds it there, and one that was given up
 * cannot be created any more. */
#include "runtime/fake.h"

#include <stdio.h>
#include <string.h>

#include "runtime/fake_conductor.h"
#include "runtime/fake_world.h"

usec_t fake_soon(struct fake *f, usec_t most)
{
    return f->now + (most > 0 ? (usec_t)rng_below(&f->rng, (uint64_t)most) : 0);
}

bool fake_chance(struct fake *f, double probability)
{
    return probability > 0 && rng_uniform(&f->rng) < probability;
}

bool fake_is_cut(const struct fake *f, uint32_t node)
{
    return f->nodes.at[node].cut_until > f->now;
}

/* ---- the world ---------------------------------------------------------------- */

struct fake *fake_create(const struct fake_options *o)
{
    struct fake *f = xcalloc(1, sizeof *f);
    f->options = *o;
    f->heard = UINT32_MAX;
    rng_init(&f->rng, o->seed);
    for (uint32_t i = 0; i < o->nodes; i++) {
        struct fake_node node = {.cut_until = 0};
        snprintf(node.name, sizeof node.name, "node%u", i + 1);
        VEC_PUSH(&f->nodes, node);
    }
    return f;
}

void fake_free(struct fake *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->attempts.n; i++)
        free(f->attempts.at[i].link);
    VEC_DONE(&f->nodes);
    VEC_DONE(&f->attempts);
    for (size_t i = 0; i < f->letters.n; i++)
        str_done(&f->letters.at[i].line);
    VEC_DONE(&f->letters);
    VEC_DONE(&f->ops);
    VEC_DONE(&f->saved);
    free(f);
}

void fake_set_faults(struct fake *f, const struct fake_faults *faults)
{
    f->faults = *faults;
}

static struct fake_attempt *find_attempt(struct fake *f, struct attempt_id id)
{
    for (size_t i = f->attempts.n; i-- > 0;)
        if (f->attempts.at[i].id.job == id.job && f->attempts.at[i].id.n == id.n)
            return &f->attempts.at[i];
    return NULL;
}

static uint32_t find_node(const struct fake *f, const char *name)
{
    uint32_t i = 0;
    while (i + 1 < f->nodes.n && strcmp(f->nodes.at[i].name, name) != 0)
        i++;
    return i;
}

/* ---- what operations do ------------------------------------------------------- */

static void do_start(struct fake *f, const struct fake_op *o)
{
    struct fake_attempt *found = find_attempt(f, o->copy.id);
    if (found && !found->cleaned)
        return; /* it was started, or given up, before */
    struct fake_attempt a = o->launch;
    a.begun = found ? found->begun : 0; /* its name is free again, but it has run */
    a.state = FAKE_CREATED;
    a.claim_at = fake_soon(f, f->faults.delay);
    a.connect_at = a.report_at = a.end_at = USEC_NEVER;
    a.as_of = f->now;
    a.adopted = o->op != NULL;
    VEC_PUSH(&f->attempts, a);
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

/* Giving up creates the attempt as void, so that nobody else can. */
static void do_settle(struct fake *f, struct fake_op *o)
{
    struct fake_attempt *a = find_attempt(f, o->copy.id);
    struct fake_attempt none = {.id = o->copy.id,
                                .node = find_node(f, o->copy.node),
                                .state = FAKE_VOID,
                                .claim_at = USEC_NEVER,
                                .report_at = USEC_NEVER,
                                .connect_at = USEC_NEVER,
                                .end_at = USEC_NEVER};
    if (!a && o->copy.give_up) {
        VEC_PUSH(&f->attempts, none);
        a = &f->attempts.at[f->attempts.n - 1];
    }
    if (a && a->state == FAKE_CREATED && o->copy.give_up) {
        a->state = FAKE_VOID;
        a->claim_at = USEC_NEVER;
    }
    o->copy.fate = a ? fate_of(a) : FATE_PENDING;
    if (a && a->state == FAKE_ENDED)
        o->copy.record = a->record;
}

static void do_clean(struct fake *f, struct fake_attempt *a)
{
    fake_conductor_kill(f, a);
    a->cleaned = true;
}

static void have_effect(struct fake *f, struct fake_op *o)
{
    struct fake_attempt *a = find_attempt(f, o->copy.id);
    switch (o->copy.kind) {
    case OP_START:
        do_start(f, o);
        break;
    case OP_SETTLE:
        do_settle(f, o);
        break;
    case OP_RESIZE:
    case OP_FREEZE:
        if (!a) {
            err_set(&o->copy.err, ERR_NOT_FOUND, "no such attempt");
            break;
        }
        fake_conductor_advance(f, a);
        if (o->copy.kind == OP_FREEZE)
            a->frozen = o->copy.frozen;
        else
            a->size = o->copy.size;
        break;
    case OP_CLEAN:
        if (a)
            do_clean(f, a);
        break;
    }
}

/* Whether the server still lives. */
static bool is_heard(struct fake *f)
{
    if (f->heard == UINT32_MAX)
        return true;
    return f->heard && f->heard--;
}

void fake_mute_after(struct fake *f, uint32_t n)
{
    f->heard = n;
}

/* ---- operations under way ----------------------------------------------------- */

static void fake_begin(struct runtime *r, struct runtime_op *op)
{
    struct fake *f = r->world;
    struct fake_op o = {.op = op, .copy = *op, .at = fake_soon(f, f->faults.delay)};
    if (!is_heard(f))
        return;
    o.launch.id = op->id;
    o.launch.node = find_node(f, op->node);
    o.launch.size = op->size;
    if (op->kind == OP_START)
        fake_conductor_read(&o.launch, op->start->spec);
    o.timeout = f->now + op->deadline - r->host->now(r->host);
    o.fails = fake_chance(f, f->faults.op_fails);
    o.lost = fake_chance(f, f->faults.reply_lost);
    VEC_PUSH(&f->ops, o);
}

static void reply(struct fake *f, const struct fake_op *o)
{
    struct runtime_op *op = o->op, *next = op ? op->next : NULL;
    if (!op)
        return;
    *op = o->copy;
    op->next = next;
    runtime_complete(f->server->host, op);
}

/* One whose reply is lost, and one to a node that is cut off, is told as a timeout at its
 * deadline. */
static void finish(struct fake *f, struct fake_op *o)
{
    if (o->fails) {
        err_set(&o->copy.err, ERR_IO, "the engine refused");
    } else {
        have_effect(f, o);
        if (o->lost && o->timeout > f->now) {
            o->at = o->timeout;
            o->fails = true; /* its effect was had */
            o->lost = false;
            err_set(&o->copy.err, ERR_UNREACHABLE, "no answer in time");
            return;
        }
    }
    reply(f, o);
    o->at = USEC_NEVER;
}

static void run_ops(struct fake *f)
{
    for (size_t i = 0; i < f->ops.n; i++) {
        struct fake_op *o = &f->ops.at[i];
        if (o->at > f->now)
            continue;
        bool cut = fake_is_cut(f, find_node(f, o->copy.node));
        if (cut && !o->fails) { /* it never arrives */
            o->fails = true;
            o->at = o->timeout > f->now ? o->timeout : f->now;
            err_set(&o->copy.err, ERR_UNREACHABLE, "the node cannot be reached");
            if (o->at > f->now)
                continue;
        }
        finish(f, o);
    }
    size_t kept = 0;
    for (size_t i = 0; i < f->ops.n; i++)
        if (f->ops.at[i].at != USEC_NEVER)
            f->ops.at[kept++] = f->ops.at[i];
    f->ops.n = kept;
}

/* ---- messages ------------------------------------------------------------------ */

static void deliver(struct fake *f, struct fake_letter *letter)
{
    struct fake_attempt *a = &f->attempts.at[letter->attempt];
    struct arena arena = {0};
    struct to_conductor m;
    struct err err;
    if (a->link && !fake_is_cut(f, a->node) &&
        to_conductor_decode(letter->line.at, letter->line.n - 1, &arena, &m, &err) == 0)
        fake_conductor_hear(f, a, &m);
    arena_done(&arena);
    str_done(&letter->line);
}

/* In order: a later one does not overtake. */
static void run_letters(struct fake *f)
{
    size_t n = 0;
    while (n < f->letters.n && f->letters.at[n].at <= f->now) {
        struct fake_letter letter = f->letters.at[n++];
        deliver(f, &letter);
    }
    f->letters.n -= n;
    memmove(f->letters.at, f->letters.at + n, f->letters.n * sizeof *f->letters.at);
}

/* ---- time --------------------------------------------------------------------- */

usec_t fake_due(const struct fake *f)
{
    usec_t due = USEC_NEVER;
    for (size_t i = 0; i < f->ops.n; i++)
        due = f->ops.at[i].at < due ? f->ops.at[i].at : due;
    for (size_t i = 0; i < f->attempts.n; i++) {
        usec_t t = fake_conductor_due(f, &f->attempts.at[i]);
        due = t < due ? t : due;
    }
    return f->letters.n && f->letters.at[0].at < due ? f->letters.at[0].at : due;
}

usec_t fake_now(const struct fake *f)
{
    return f->now;
}

static void cut_links(struct fake *f)
{
    for (size_t i = 0; i < f->attempts.n; i++)
        if (f->attempts.at[i].link && fake_is_cut(f, f->attempts.at[i].node))
            fake_conductor_cut(f, &f->attempts.at[i]);
}

void fake_advance(struct fake *f, usec_t now)
{
    f->now = now;
    cut_links(f);
    run_ops(f);
    run_letters(f);
    for (size_t i = 0; i < f->attempts.n; i++)
        if (fake_conductor_due(f, &f->attempts.at[i]) <= now)
            fake_conductor_turn(f, &f->attempts.at[i]);
}

void fake_cut_node(struct fake *f, uint32_t node, usec_t until)
{
    f->nodes.at[node].cut_until = until;
    cut_links(f);
}

void fake_reboot_node(struct fake *f, uint32_t node)
{
    for (size_t i = 0; i < f->attempts.n; i++)
        if (f->attempts.at[i].node == node)
            fake_conductor_kill(f, &f->attempts.at[i]);
}

void fake_kill_conductor(struct fake *f, uint32_t node)
{
    VEC(struct fake_attempt *) live = {0};
    for (size_t i = 0; i < f->attempts.n; i++)
        if (f->attempts.at[i].node == node && f->attempts.at[i].state == FAKE_RUNNING)
            VEC_PUSH(&live, &f->attempts.at[i]);
    if (live.n)
        fake_conductor_kill(f, live.at[rng_below(&f->rng, live.n)]);
    VEC_DONE(&live);
}

/* ---- truth -------------------------------------------------------------------- */

static void count(struct fake_truth *t, const struct fake_attempt *a)
{
    t->running += a->state == FAKE_RUNNING;
    t->begun += a->begun;
    t->succeeded += a->state == FAKE_ENDED && a->record.code == 0 && !*a->record.stop;
    t->left += !a->cleaned && a->state != FAKE_VOID;
}

struct fake_truth fake_truth_of(const struct fake *f, int64_t job)
{
    struct fake_truth t = {0};
    for (size_t i = 0; i < f->attempts.n; i++)
        if (f->attempts.at[i].id.job == job)
            count(&t, &f->attempts.at[i]);
    return t;
}

struct fake_truth fake_truth_of_all(const struct fake *f)
{
    struct fake_truth t = {0};
    for (size_t i = 0; i < f->attempts.n; i++)
        count(&t, &f->attempts.at[i]);
    return t;
}

uint32_t fake_overlaps(const struct fake *f)
{
    return f->overlaps;
}

units_t fake_cpus_in_use(const struct fake *f, uint32_t node)
{
    units_t sum = 0;
    for (size_t i = 0; i < f->attempts.n; i++) {
        const struct fake_attempt *a = &f->attempts.at[i];
        if (a->node == node && a->state == FAKE_RUNNING && !a->frozen)
            sum += a->size.cpus;
    }
    return sum;
}

/* ---- the runtime -------------------------------------------------------------- */

static int fake_open(struct runtime_host *h, const void *options, struct runtime **out,
                     struct err *err)
{
    struct fake *f = (struct fake *)options;
    struct runtime *r = xcalloc(1, sizeof *r);
    (void)err;
    *r = (struct runtime){f, h};
    f->server = r;
    for (size_t i = 0; i < f->nodes.n; i++)
        h->node(h, r,
                &(struct runtime_node){.name = f->nodes.at[i].name,
                                       .cpus = f->options.cpus,
                                       .memory_mb = f->options.memory_mb});
    for (size_t i = 0; i < f->attempts.n; i++) {
        struct fake_attempt *a = &f->attempts.at[i];
        if (a->state == FAKE_RUNNING || (a->state == FAKE_ENDED && !a->acked))
            a->connect_at = fake_soon(f, f->faults.reconnect);
    }
    *out = r;
    return 0;
}

/* What was under way may still happen, as in a real engine. */
static void fake_close(struct runtime *r)
{
    struct fake *f = r->world;
    f->server = NULL;
    for (size_t i = 0; i < f->ops.n; i++)
        f->ops.at[i].op = NULL;
    for (size_t i = 0; i < f->attempts.n; i++) {
        free(f->attempts.at[i].link);
        f->attempts.at[i].link = NULL;
        f->attempts.at[i].connect_at = USEC_NEVER;
        f->attempts.at[i].adopted = false;
    }
    for (size_t i = 0; i < f->letters.n; i++)
        str_done(&f->letters.at[i].line);
    f->letters.n = 0;
    free(r);
}

static void fake_adopt(struct runtime *r, struct attempt_id id, const char *node,
                       const struct runtime_size *size)
{
    struct fake_attempt *a = find_attempt(r->world, id);
    (void)node, (void)size; /* the engine remembers them */
    if (a)
        a->adopted = true;
}

/* What nobody has adopted ran for nobody. */
static void fake_sweep(struct runtime *r)
{
    struct fake *f = r->world;
    for (size_t i = 0; i < f->attempts.n; i++) {
        struct fake_attempt *a = &f->attempts.at[i];
        if (!a->adopted && !a->cleaned && a->state != FAKE_VOID)
            do_clean(f, a);
    }
}

static void fake_send(struct runtime *r, struct runtime_link *link, const struct to_conductor *m)
{
    struct fake *f = r->world;
    if (!is_heard(f))
        return;
    struct fake_letter letter = {.attempt = ((struct fake_link *)link)->attempt,
                                 .at = fake_soon(f, f->faults.delay)};
    to_conductor_encode(m, &letter.line);
    VEC_PUSH(&f->letters, letter);
}

static void fake_unlink(struct runtime *r, struct runtime_link *link)
{
    struct fake_attempt *a = &r->world->attempts.at[((struct fake_link *)link)->attempt];
    if (a->link == (struct fake_link *)link)
        a->link = NULL;
    free(link);
}

static const char *fake_tool(const struct runtime *r, enum runtime_tool tool)
{
    (void)r, (void)tool;
    return NULL;
}

static char *fake_files(const struct runtime *r, struct attempt_id id)
{
    (void)r, (void)id;
    return xstrdup("/fake");
}

static const char *fake_cpuset(const struct runtime *r, struct attempt_id id)
{
    (void)r, (void)id;
    return NULL;
}

const struct runtime_ops runtime_fake = {
    .name = "fake",
    .in_place = true,
    .open = fake_open,
    .close = fake_close,
    .begin = fake_begin,
    .adopt = fake_adopt,
    .sweep = fake_sweep,
    .send = fake_send,
    .unlink = fake_unlink,
    .tool = fake_tool,
    .files = fake_files,
    .cpuset = fake_cpuset,
};
