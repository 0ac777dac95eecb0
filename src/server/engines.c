/* Owns the nodes that operators have added: they are in the store, and attached to the runtime
 * that serves them. */
#include "server/engines.h"

#include <string.h>

#include "server/log.h"
#include "server/nodes.h"

static const struct yard_runtime *find_runtime(const struct yard *y, const char *name)
{
    for (size_t i = 0; i < y->runtimes.n; i++)
        if (y->runtimes.at[i].ops->attach && !strcmp(y->runtimes.at[i].ops->name, name))
            return &y->runtimes.at[i];
    return NULL;
}

static int attach(struct yard *y, const struct engine_row *row, struct err *err)
{
    const struct yard_runtime *r = find_runtime(y, row->runtime);
    struct runtime_engine e = {.name = row->name,
                               .address = row->address,
                               .tls = *row->tls ? row->tls : NULL,
                               .cpus = row->cpus,
                               .gpus = row->gpus,
                               .gpu_type = *row->gpu_type ? row->gpu_type : NULL,
                               .memory_mb = row->memory_mb};
    if (!r)
        return err_set(err, ERR_INVALID, "this server has no runtime '%s'", row->runtime);
    return r->ops->attach(r->runtime, &e, err);
}

/* A node that cannot be attached any more does not keep the server from starting. */
static int load(void *ctx, const struct engine_row *row, struct err *err)
{
    struct err why;
    (void)err;
    if (attach(ctx, row, &why) < 0)
        log_warning("node=%s cannot be used: %s", row->name, why.text);
    return 0;
}

int engines_load(struct yard *y, struct err *err)
{
    return store_engine_list(y->store, load, y, err);
}

int engines_add(struct yard *y, const struct engine_row *row, uint32_t *node, struct err *err)
{
    struct err unknown;
    uint32_t known;
    if (nodes_find(y, row->name, &known, &unknown) == 0 && !y->nodes.at[known].gone &&
        !y->nodes.at[known].orphan)
        return err_set(err, ERR_CONFLICT, "a node '%s' already exists", row->name);
    if (attach(y, row, err) < 0 || store_engine_save(y->store, row, err) < 0)
        return -1;
    turn_hurry(y);
    return nodes_find(y, row->name, node, err);
}

int engines_remove(struct yard *y, uint32_t node, struct err *err)
{
    const struct yard_node *n = &y->nodes.at[node];
    const struct yard_runtime *r = nodes_runtime(y, node);
    size_t jobs = 0;
    for (size_t i = 0; i < y->attempts.n; i++)
        jobs += y->attempts.at[i]->node == node;
    if (n->orphan || !r->ops->detach)
        return err_set(err, ERR_CONFLICT, "%s was not added by `trainyard nodes add`", n->name);
    if (jobs)
        return err_set(err, ERR_CONFLICT, "%zu job%s of %s still there; drain it and wait", jobs,
                       jobs == 1 ? " is" : "s are", n->name);
    if (store_engine_delete(y->store, n->name, err) < 0)
        return -1;
    r->ops->detach(r->runtime, n->name);
    turn_hurry(y);
    return 0;
}
