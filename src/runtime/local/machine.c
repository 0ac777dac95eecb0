/* Owns the inventory of this machine, and notices when it changes: the CPUs that this process may
 * use, its quota, memory, GPUs.
 *
 * What attempts hold is kept by the kernel's numbers of CPUs and the UUIDs of GPUs: when the list
 * of either changes, their shares are entered in the new one. GPUs are looked for in another
 * thread, because their driver may take seconds to answer. */
#include "runtime/local/machine.h"

#include <string.h>
#include <uv.h>

#include "runtime/local/local.h"

#define CPUS_EVERY (5 * USEC_PER_SEC)
#define GPUS_EVERY (60 * USEC_PER_SEC)

/* A look at the GPUs. The runtime may be closed before it is over. */
struct gpu_look {
    uv_work_t work;
    struct runtime *runtime; /* NULL = nobody waits for it */
    struct gpus found;
    struct err err; /* ERR_OK = it succeeded */
};

/* ---- the node ---------------------------------------------------------------------- */

static void add_sentence(struct str *out, const struct str *text)
{
    if (text->n)
        str_addf(out, "%s%s", out->n ? "\n" : "", text->at);
}

void machine_describe(struct runtime *r)
{
    r->described.n = 0;
    add_sentence(&r->described, &r->notice);
    add_sentence(&r->described, &r->gpus.left_out);
    add_sentence(&r->described, &r->gpu_trouble);
    r->node = (struct runtime_node){
        .name = r->inventory.name,
        .cpus = r->inventory.cpus,
        .gpus = (units_t)r->gpus.gpu.n * UNIT,
        .gpu_type = r->gpus.gpu.n ? r->gpus.gpu.at[0].model : NULL,
        .memory_mb = r->inventory.memory_mb,
        .memory_free = !cgroup_with(&r->cgroups, CGROUP_MEMORY),
        .notice = r->described.n ? r->described.at : NULL,
    };
}

static void tell_host(struct runtime *r)
{
    machine_describe(r);
    r->host->node(r->host, r, &r->node);
}

/* ---- CPUs -------------------------------------------------------------------------- */

/* Enters what attempts hold in the new list of CPUs: first where they are, then what they lack. */
static void move_to(struct runtime *r, struct topology *now)
{
    for (size_t i = 0; i < r->held.n; i++) {
        struct held *h = r->held.at[i];
        h->is_hard = h->cpus.share.n > 0 || h->is_hard;
        VEC_DONE(&h->cpus.share);
    }
    cpus_done(&r->cpus);
    topology_done(&r->topology);
    r->topology = *now;
    cpus_init(&r->cpus, &r->topology);
    for (size_t i = 0; i < r->held.n; i++) {
        struct held *h = r->held.at[i];
        if (h->is_hard)
            cpus_claim(&r->cpus, &h->cpus, &h->bits, h->limits.quota);
    }
    for (size_t i = 0; i < r->held.n; i++)
        held_move(r, r->held.at[i]);
}

static bool same_machine(const struct inventory *a, const struct inventory *b)
{
    return !memcmp(&a->usable, &b->usable, sizeof a->usable) && a->cpus == b->cpus &&
           a->memory_mb == b->memory_mb;
}

/* What cannot be read now is read at the next look. */
static void look_at_cpus(struct runtime *r)
{
    struct cgroup_mounts mounts;
    struct inventory now;
    struct topology topology;
    struct err err;
    if (cgroup_find("/proc", &mounts, &err) < 0)
        return;
    int rc = inventory_read(&mounts, &now, &err);
    cgroup_mounts_done(&mounts);
    if (rc < 0 || same_machine(&now, &r->inventory))
        return;
    if (memcmp(&now.usable, &r->inventory.usable, sizeof now.usable) != 0) {
        if (topology_load(&topology, &now.usable, NULL, &err) < 0)
            return;
        move_to(r, &topology);
    }
    memcpy(now.name, r->inventory.name, sizeof now.name); /* a node keeps its name */
    r->inventory = now;
    tell_host(r);
}

/* ---- GPUs -------------------------------------------------------------------------- */

static void set_trouble(struct runtime *r, const struct err *err)
{
    r->gpu_trouble.n = 0;
    if (err->code != ERR_OK)
        str_addf(&r->gpu_trouble, "GPUs cannot be used: %s", err->text);
}

static bool same_gpus(const struct gpus *a, const struct gpus *b)
{
    if (a->gpu.n != b->gpu.n)
        return false;
    for (size_t i = 0; i < a->gpu.n; i++)
        if (strcmp(a->gpu.at[i].uuid, b->gpu.at[i].uuid) != 0)
            return false;
    return true;
}

/* Enters what attempts hold in the new list; a GPU that is gone is held by nobody. */
static void replace_gpus(struct runtime *r, struct gpus *now)
{
    for (size_t i = 0; i < r->held.n; i++)
        gpus_move(&r->held.at[i]->gpus, &r->gpus, now);
    gpus_done(&r->gpus);
    r->gpus = *now;
    *now = (struct gpus){0};
}

static void take_gpus(struct runtime *r, struct gpus *found, const struct err *err)
{
    bool had_trouble = r->gpu_trouble.n > 0;
    set_trouble(r, err);
    bool same = same_gpus(found, &r->gpus) && had_trouble == (r->gpu_trouble.n > 0);
    if (same)
        return;
    replace_gpus(r, found);
    tell_host(r);
}

static void find_gpus(uv_work_t *work)
{
    struct gpu_look *look = work->data;
    if (gpus_find(&look->found, NULL, &look->err) == 0)
        look->err.code = ERR_OK;
}

static void found_gpus(uv_work_t *work, int status)
{
    struct gpu_look *look = work->data;
    if (look->runtime) {
        look->runtime->looking = NULL;
        if (status == 0)
            take_gpus(look->runtime, &look->found, &look->err);
    }
    gpus_done(&look->found);
    free(look);
}

static void look_at_gpus(struct runtime *r)
{
    if (r->looking || !r->host->loop)
        return;
    struct gpu_look *look = xcalloc(1, sizeof *look);
    look->work.data = look;
    look->runtime = r;
    if (uv_queue_work(r->host->loop, &look->work, find_gpus, found_gpus) == 0)
        r->looking = look;
    else
        free(look);
}

/* ---- all --------------------------------------------------------------------------- */

int machine_open(struct runtime *r, const struct cgroup_mounts *m, struct err *err)
{
    struct err trouble = {.code = ERR_OK};
    if (inventory_read(m, &r->inventory, err) < 0 ||
        topology_load(&r->topology, &r->inventory.usable, NULL, err) < 0)
        return -1;
    cpus_init(&r->cpus, &r->topology);
    if (gpus_find(&r->gpus, NULL, &trouble) == 0)
        trouble.code = ERR_OK;
    set_trouble(r, &trouble);
    usec_t now = r->host->now(r->host);
    r->cpus_at = now + CPUS_EVERY;
    r->gpus_at = now + GPUS_EVERY;
    return 0;
}

void machine_close(struct runtime *r)
{
    if (r->looking)
        r->looking->runtime = NULL;
    cpus_done(&r->cpus);
    gpus_done(&r->gpus);
    topology_done(&r->topology);
    str_done(&r->gpu_trouble);
    str_done(&r->described);
}

usec_t machine_due(const struct runtime *r)
{
    return r->cpus_at < r->gpus_at ? r->cpus_at : r->gpus_at;
}

void machine_turn(struct runtime *r, usec_t now)
{
    if (r->cpus_at <= now) {
        r->cpus_at = now + CPUS_EVERY;
        look_at_cpus(r);
    }
    if (r->gpus_at <= now) {
        r->gpus_at = now + GPUS_EVERY;
        look_at_gpus(r);
    }
}
