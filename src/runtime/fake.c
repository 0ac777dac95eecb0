/* Owns the fake world: its time, messages in transit, faults of nodes, the real state of jobs,
 * and the runtime for servers. Operations are in fake_ops.c, conductors and their jobs in
 * fake_conductor.c. */
#include "runtime/fake.h"

#include <stdio.h>
#include <string.h>

#include "runtime/fake_conductor.h"
#include "runtime/fake_log.h"
#include "runtime/fake_ops.h"

/* ---- the world ---------------------------------------------------------------- */

struct fake *fake_create(const struct fake_options *o)
{
    struct fake *f = xcalloc(1, sizeof *f);
    f->options = *o;
    f->heard = UINT32_MAX;
    rng_init(&f->rng, o->seed);
    for (uint32_t i = 0; i < o->nodes; i++)
        fake_add_node(f, o->cpus, o->memory_mb);
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

/* Whether the server's next operation or message has an effect; see fake_mute_after(). */
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

/* ---- messages ------------------------------------------------------------------ */

static void deliver(struct fake *f, struct fake_letter *letter)
{
    struct fake_attempt *a = &f->attempts.at[letter->attempt];
    struct arena arena = {0};
    struct to_conductor m;
    struct err err;
    if (a->link && a->link->number == letter->link &&
        to_conductor_decode(letter->line.at, letter->line.n - 1, &arena, &m, &err) == 0)
        fake_conductor_hear(f, a, &m);
    arena_done(&arena);
    str_done(&letter->line);
}

/* In order: no message overtakes another. */
static void run_letters(struct fake *f)
{
    size_t n = 0;
    while (n < f->letters.n && f->letters.at[n].at <= f->now) {
        struct fake_letter letter = f->letters.at[n++];
        deliver(f, &letter);
    }
    f->letters.n -= n;
    if (n)
        memmove(f->letters.at, f->letters.at + n, f->letters.n * sizeof *f->letters.at);
}

/* ---- nodes that are cut off ------------------------------------------------------ */

static void tell_of_node(struct fake *f, size_t node);

/* When it is reported as lost, or as back; USEC_NEVER = not by itself. */
static usec_t silence_due(const struct fake *f, const struct fake_node *n)
{
    if (!f->options.lost_after || !f->server)
        return USEC_NEVER;
    if (n->silent)
        return n->cut_until;
    usec_t lost = n->cut_since + f->options.lost_after;
    return lost < n->cut_until ? lost : USEC_NEVER;
}

static void follow_silence(struct fake *f)
{
    for (size_t i = 0; i < f->nodes.n; i++) {
        struct fake_node *n = &f->nodes.at[i];
        if (silence_due(f, n) > f->now)
            continue;
        n->silent = !n->silent;
        if (!n->silent)
            n->cut_since = n->cut_until = 0;
        for (size_t k = 0; k < f->attempts.n; k++)
            f->attempts.at[k].unseen |= f->attempts.at[k].node == i && !f->attempts.at[k].cleaned;
        tell_of_node(f, i);
    }
}

/* ---- time --------------------------------------------------------------------- */

usec_t fake_due(const struct fake *f)
{
    usec_t due = fake_ops_due(f);
    for (size_t i = 0; i < f->attempts.n; i++) {
        usec_t t = fake_conductor_due(&f->attempts.at[i]);
        due = t < due ? t : due;
        due = f->attempts.at[i].log_at < due ? f->attempts.at[i].log_at : due;
    }
    for (size_t i = 0; i < f->nodes.n; i++) {
        usec_t t = silence_due(f, &f->nodes.at[i]);
        due = t < due ? t : due;
    }
    return f->letters.n && f->letters.at[0].at < due ? f->letters.at[0].at : due;
}

usec_t fake_now(const struct fake *f)
{
    return f->now;
}

static void run_due(struct fake *f)
{
    follow_silence(f);
    fake_ops_run(f);
    run_letters(f);
    for (size_t i = 0; i < f->attempts.n; i++)
        if (fake_conductor_due(&f->attempts.at[i]) <= f->now)
            fake_conductor_turn(f, &f->attempts.at[i]);
    for (size_t i = 0; i < f->attempts.n; i++)
        if (f->attempts.at[i].log_at <= f->now)
            fake_log_turn(f, &f->attempts.at[i]);
}

void fake_advance(struct fake *f, usec_t now)
{
    for (usec_t due; (due = fake_due(f)) <= now; run_due(f))
        f->now = due > f->now ? due : f->now;
    f->now = now;
}

uint32_t fake_nodes(const struct fake *f)
{
    return (uint32_t)f->nodes.n;
}

void fake_cut_node(struct fake *f, uint32_t node, usec_t until)
{
    if (!fake_is_cut(f, node))
        f->nodes.at[node].cut_since = f->now;
    f->nodes.at[node].cut_until = until;
    for (size_t i = 0; i < f->attempts.n; i++) {
        struct fake_attempt *a = &f->attempts.at[i];
        if (a->node != node)
            continue;
        if (a->link && fake_is_cut(f, node))
            fake_conductor_cut(f, a);
        else
            fake_conductor_call(f, a);
    }
}

/* ---- nodes ---------------------------------------------------------------------- */

static void tell_of_node(struct fake *f, size_t node)
{
    const struct fake_node *n = &f->nodes.at[node];
    struct runtime_node told = {.name = n->name,
                                .lost = n->lost || n->silent,
                                .gone = n->gone,
                                .cpus = n->cpus,
                                .memory_mb = n->memory_mb};
    if (f->server)
        f->server->host->node(f->server->host, f->server, &told);
}

void fake_add_node(struct fake *f, units_t cpus, int64_t memory_mb)
{
    struct fake_node node = {.cpus = cpus, .memory_mb = memory_mb};
    const char *prefix = f->options.prefix ? f->options.prefix : "node";
    snprintf(node.name, sizeof node.name, "%s%zu", prefix, f->nodes.n + 1);
    VEC_PUSH(&f->nodes, node);
    tell_of_node(f, f->nodes.n - 1);
}

void fake_set_node(struct fake *f, uint32_t node, units_t cpus, int64_t memory_mb)
{
    f->nodes.at[node].cpus = cpus;
    f->nodes.at[node].memory_mb = memory_mb;
    tell_of_node(f, node);
}

void fake_lose_node(struct fake *f, uint32_t node, bool lost)
{
    f->nodes.at[node].lost = lost;
    tell_of_node(f, node);
}

void fake_remove_node(struct fake *f, uint32_t node)
{
    f->nodes.at[node].gone = true;
    tell_of_node(f, node);
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

static void count(const struct fake *f, struct fake_truth *t, const struct fake_attempt *a)
{
    t->running += fake_may_train(f, a);
    t->begun += a->begun;
    t->succeeded += a->state == FAKE_ENDED && a->record.code == 0 && !*a->record.stop;
    t->left += !a->cleaned && a->state != FAKE_VOID;
}

bool fake_forget(struct fake *f)
{
    for (size_t i = 0; i < f->attempts.n; i++)
        if (!f->attempts.at[i].cleaned || f->attempts.at[i].link)
            return false;
    if (f->ops.n || f->letters.n)
        return false;
    VEC_DONE(&f->attempts);
    VEC_DONE(&f->saved);
    return true;
}

struct fake_truth fake_truth_of(const struct fake *f, int64_t job)
{
    struct fake_truth t = {0};
    for (size_t i = 0; i < f->attempts.n; i++)
        if (f->attempts.at[i].id.job == job)
            count(f, &t, &f->attempts.at[i]);
    return t;
}

struct fake_truth fake_truth_of_all(const struct fake *f)
{
    struct fake_truth t = {0};
    for (size_t i = 0; i < f->attempts.n; i++)
        count(f, &t, &f->attempts.at[i]);
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

/* Whether attempts run on the node or are not cleaned up. */
static bool has_attempts(const struct fake *f, uint32_t node)
{
    for (size_t i = 0; i < f->attempts.n; i++)
        if (f->attempts.at[i].node == node && !f->attempts.at[i].cleaned)
            return true;
    return false;
}

static int fake_open(struct runtime_host *h, const void *options, struct runtime **out,
                     struct err *err)
{
    struct fake *f = (struct fake *)options;
    struct runtime *r = xcalloc(1, sizeof *r);
    (void)err;
    *r = (struct runtime){f, h};
    f->server = r;
    for (size_t i = 0; i < f->nodes.n; i++)
        if (!f->nodes.at[i].gone || has_attempts(f, (uint32_t)i))
            tell_of_node(f, i);
    for (size_t i = 0; i < f->attempts.n; i++)
        fake_conductor_call(f, &f->attempts.at[i]);
    *out = r;
    return 0;
}

static void fake_close(struct runtime *r)
{
    struct fake *f = r->world;
    f->server = NULL;
    fake_ops_orphan(f);
    for (size_t i = 0; i < f->attempts.n; i++) {
        free(f->attempts.at[i].link);
        f->attempts.at[i].link = NULL;
        f->attempts.at[i].connect_at = USEC_NEVER;
        f->attempts.at[i].adopted = false;
        f->attempts.at[i].log_at = USEC_NEVER;
    }
    for (size_t i = 0; i < f->letters.n; i++)
        str_done(&f->letters.at[i].line);
    f->letters.n = 0;
    free(r);
}

static void fake_begin(struct runtime *r, struct runtime_op *op)
{
    if (is_heard(r->world))
        fake_ops_begin(r->world, op);
}

static void fake_adopt(struct runtime *r, struct attempt_id id, const char *node,
                       const struct runtime_size *size)
{
    struct fake_attempt *a = fake_find_attempt(r->world, id);
    (void)node, (void)size; /* the engine remembers them */
    if (a)
        a->adopted = true;
}

/* Cleans up attempts that the server has not adopted. */
static void fake_sweep(struct runtime *r)
{
    struct fake *f = r->world;
    for (size_t i = 0; i < f->attempts.n; i++) {
        struct fake_attempt *a = &f->attempts.at[i];
        if (!a->adopted && !a->cleaned && a->state != FAKE_VOID)
            fake_ops_clean(f, a);
    }
}

static void fake_send(struct runtime *r, struct runtime_link *link, const struct to_conductor *m)
{
    struct fake *f = r->world;
    if (!is_heard(f))
        return;
    const struct fake_link *to = (const struct fake_link *)link;
    struct fake_letter letter = {
        .attempt = to->attempt, .link = to->number, .at = fake_soon(f, f->faults.delay)};
    to_conductor_encode(m, &letter.line);
    VEC_PUSH(&f->letters, letter);
}

static void fake_unlink(struct runtime *r, struct runtime_link *link)
{
    struct fake_attempt *a = &r->world->attempts.at[((struct fake_link *)link)->attempt];
    a->link = NULL;
    free(link);
    fake_conductor_call(r->world, a);
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

static void fake_fetch_log(struct runtime *r, struct attempt_id id, const char *node,
                           int64_t offset)
{
    struct fake_attempt *a = fake_find_attempt(r->world, id);
    uint32_t at = fake_find_node(r->world, node);
    if (!is_heard(r->world))
        return;
    if (a)
        fake_log_ask(r->world, a, offset);
    else if (at < r->world->nodes.n && !fake_is_cut(r->world, at))
        r->host->log(r->host, id, offset, NULL, 0); /* it was never there */
}

#define FAKE_OPS                                                                                   \
    .open = fake_open, .close = fake_close, .begin = fake_begin, .adopt = fake_adopt,              \
    .sweep = fake_sweep, .send = fake_send, .unlink = fake_unlink, .tool = fake_tool,              \
    .files = fake_files, .cpuset = fake_cpuset

const struct runtime_ops runtime_fake = {.name = "fake", .in_place = true, FAKE_OPS};
const struct runtime_ops runtime_fake_remote = {
    .name = "fake", .leases = true, .fetch_log = fake_fetch_log, FAKE_OPS};
const struct runtime_ops runtime_fake_images = {
    .name = "fake", .leases = true, .fetch_log = fake_fetch_log, .images = true, FAKE_OPS};
