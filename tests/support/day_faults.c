/* Owns the faults of a simulated day. */
#include "support/day_faults.h"

#include "runtime/fake_world.h"
#include "support/disk.h"
#include "support/test.h"

enum fault {
    FAULT_OPS,     /* operations fail, are slow, or are not answered */
    FAULT_CUT,     /* a node cannot be reached */
    FAULT_BLIP,    /* all links are lost for a moment */
    FAULT_REBOOT,  /* a node restarts */
    FAULT_KILL,    /* a conductor is killed */
    FAULT_NODE,    /* a node comes, goes, is lost, grows or shrinks */
    FAULT_CLOCK,   /* the clock is set */
    FAULT_SERVER,  /* the server ends */
    FAULT_DISK,    /* its disk is full, or broken */
    FAULT_MACHINE, /* its machine restarts, and all nodes */
    FAULTS,
};

static const char *const names[FAULTS] = {[FAULT_OPS] = "trouble with operations",
                                          [FAULT_CUT] = "cut",
                                          [FAULT_BLIP] = "blip",
                                          [FAULT_REBOOT] = "reboot",
                                          [FAULT_KILL] = "death of a conductor",
                                          [FAULT_NODE] = "change",
                                          [FAULT_CLOCK] = "clock",
                                          [FAULT_SERVER] = "end of the server",
                                          [FAULT_DISK] = "trouble with the disk",
                                          [FAULT_MACHINE] = "restart"};

static void draw_ops(struct day *d, struct fake *f)
{
    bool fails = d->mood & 1U << FAULT_OPS;
    /* Longer than an operation may take, now and then. */
    usec_t slowest = day_chance(d, 0.2) ? 100 * SECOND : 20 * SECOND;
    fake_set_faults(f,
                    &(struct fake_faults){
                        .op_fails = !fails || day_chance(d, 0.5) ? 0 : 0.2 * rng_uniform(&d->rng),
                        .reply_lost = !fails || day_chance(d, 0.5) ? 0 : 0.2 * rng_uniform(&d->rng),
                        .delay = !fails || day_chance(d, 0.5) ? 0 : day_between(d, 1000, slowest),
                        .reconnect = day_between(d, 1, 30 * SECOND),
                    });
}

void day_draw_faults(struct day *d)
{
    d->mood = (unsigned)rng_below(&d->rng, 1U << FAULTS);
    if (day_chance(d, 0.3))
        d->mood |= (1U << FAULT_SERVER) | (1U << FAULT_OPS);
    day_trouble_again(d);
}

void day_trouble_again(struct day *d)
{
    for (uint32_t i = 0; i < d->w.n_fakes; i++)
        draw_ops(d, d->w.fakes[i]);
}

static void mute_after(struct day *d, uint32_t n)
{
    for (uint32_t i = 0; i < d->w.n_fakes; i++)
        fake_mute_after(d->w.fakes[i], n);
}

/* A start can fail while the disk does; another one is tried later. */
static void start_server(struct day *d)
{
    struct err err;
    bool dies = day_chance(d, 0.2); /* while it takes over what runs */
    if (dies)
        mute_after(d, (uint32_t)rng_below(&d->rng, 6));
    d->tally->servers += stage_try_start(&d->w, &err) == 0;
    day_note(d, "%s", !d->w.y ? err.text : dies ? "a server starts and dies" : "a server starts");
    if (dies && d->w.y)
        stage_kill(&d->w);
    mute_after(d, UINT32_MAX);
}

/* What was handed in and not committed was not accepted. */
static void kill_with_request(struct day *d)
{
    struct err err;
    int64_t first;
    (void)stage_hand_in(&d->w, "{\"command\": [\"fake\"]}", &first, &err);
    stage_kill(&d->w);
}

static void end_server(struct day *d)
{
    day_note(d, "the server ends");
    switch (rng_below(&d->rng, 5)) {
    case 0:
        stage_stop(&d->w);
        break;
    case 1:
        stage_kill(&d->w);
        break;
    case 2:
        kill_with_request(d);
        break;
    default:
        stage_kill_after(&d->w, (uint32_t)rng_below(&d->rng, 8));
        break;
    }
}

static void break_disk(struct day *d)
{
    d->tally->full++;
    d->disk_until = d->w.now + day_between(d, SECOND, 2 * MINUTE);
    disk_set_fault(day_chance(d, 0.5) ? DISK_FULL : DISK_BROKEN, rng_below(&d->rng, 30));
}

static void mend_disk(struct day *d)
{
    d->disk_until = 0;
    disk_set_fault(DISK_SOUND, 0);
}

static void set_node(struct day *d, uint32_t i, uint32_t node, units_t cpus, int64_t memory_mb)
{
    const struct fake_node *n = &d->w.fakes[i]->nodes.at[node];
    d->shrunk[i][node] |= cpus < n->cpus || memory_mb < n->memory_mb;
    fake_set_node(d->w.fakes[i], node, cpus, memory_mb);
}

/* What runs on a node that is taken away may end. */
static void change_node(struct day *d, uint32_t i, uint32_t node)
{
    struct fake *f = d->w.fakes[i];
    const struct fake_node *n = &f->nodes.at[node];
    units_t cpus = (units_t)(1 + rng_below(&d->rng, 8)) * UNIT;
    int64_t memory_mb = (int64_t)(2048 + rng_below(&d->rng, 8192));
    d->tally->nodes++;
    switch (rng_below(&d->rng, 5)) {
    case 0:
        if (f->nodes.n < DAY_NODES_MOST)
            fake_add_node(f, cpus, memory_mb);
        break;
    case 1:
        set_node(d, i, node, cpus, memory_mb);
        break;
    case 2:
        if (node > 0 && node < DAY_NODES_MOST) {
            d->shrunk[i][node] = true;
            fake_remove_node(f, node);
        }
        break;
    default:
        fake_lose_node(f, node, !n->lost);
        break;
    }
}

void day_blip(struct day *d)
{
    for (uint32_t i = 0; i < d->w.n_fakes; i++) {
        struct fake *f = d->w.fakes[i];
        for (uint32_t node = 0; node < fake_nodes(f); node++)
            if (!fake_is_cut(f, node))
                fake_cut_node(f, node, fake_now(f) + day_between(d, 1, SECOND));
    }
}

static void befall(struct day *d, enum fault fault)
{
    uint32_t i = (uint32_t)rng_below(&d->rng, d->w.n_fakes);
    struct fake *f = d->w.fakes[i];
    uint32_t node = (uint32_t)rng_below(&d->rng, fake_nodes(f));
    day_note(d, "%s of %s%u", names[fault], f->options.prefix, node + 1);
    switch (fault) {
    case FAULT_OPS:
        draw_ops(d, f);
        break;
    case FAULT_CUT:
        d->tally->cuts++;
        fake_cut_node(
            f, node, fake_now(f) + day_between(d, SECOND, day_chance(d, 0.3) ? HOUR : 10 * MINUTE));
        break;
    case FAULT_BLIP:
        day_blip(d);
        break;
    case FAULT_REBOOT:
        d->tally->deaths++;
        fake_reboot_node(f, node);
        break;
    case FAULT_KILL:
        d->tally->deaths++;
        fake_kill_conductor(f, node);
        break;
    case FAULT_NODE:
        change_node(d, i, node);
        break;
    case FAULT_CLOCK:
        d->clock_set = true;
        d->w.set_by += day_between(d, -HOUR, HOUR);
        break;
    case FAULT_SERVER:
        if (d->w.y)
            end_server(d);
        break;
    case FAULT_DISK:
        break_disk(d);
        break;
    case FAULT_MACHINE:
        d->tally->deaths++;
        stage_reboot(&d->w);
        break;
    case FAULTS:
        break;
    }
}

void day_befall(struct day *d)
{
    static const double often[FAULTS] = {
        [FAULT_OPS] = 1,  [FAULT_CUT] = 1,       [FAULT_BLIP] = 1,    [FAULT_REBOOT] = 0.2,
        [FAULT_KILL] = 1, [FAULT_NODE] = 0.5,    [FAULT_CLOCK] = 0.1, [FAULT_SERVER] = 1,
        [FAULT_DISK] = 1, [FAULT_MACHINE] = 0.05};
    enum fault fault = (enum fault)rng_below(&d->rng, FAULTS);
    if (d->disk_until && d->disk_until <= d->w.now)
        mend_disk(d);
    if (!d->w.y)
        start_server(d);
    else if (d->mood & 1U << fault && day_chance(d, often[fault]))
        befall(d, fault);
}

/* It has what the first nodes had, which is what jobs were accepted for. */
static void mend_node(struct day *d, uint32_t i, uint32_t node)
{
    struct fake *f = d->w.fakes[i];
    const struct fake_node *n = &f->nodes.at[node];
    fake_cut_node(f, node, 0);
    if (n->cpus != f->options.cpus || n->memory_mb != f->options.memory_mb)
        set_node(d, i, node, f->options.cpus, f->options.memory_mb);
    if (n->lost)
        fake_lose_node(f, node, false);
}

void day_calm_down(struct day *d)
{
    mend_disk(d);
    for (uint32_t i = 0; i < d->w.n_fakes; i++) {
        fake_set_faults(d->w.fakes[i], &(struct fake_faults){.reconnect = SECOND});
        for (uint32_t node = 0; node < fake_nodes(d->w.fakes[i]); node++)
            mend_node(d, i, node);
    }
    if (!d->w.y)
        stage_start(&d->w);
}
