/* Owns carrying out operations: each is passed to the file that does it. Resizing and
 * freezing are done here. */
#include "runtime/local/operations.h"

#include <signal.h>

#include "runtime/local/clean.h"
#include "runtime/local/fate.h"
#include "runtime/local/local.h"
#include "runtime/local/process.h"
#include "runtime/local/start.h"

static int find_held(const struct runtime *r, struct attempt_id id, struct held **out,
                     struct err *err)
{
    *out = held_find(r, id);
    return *out ? 0
                : err_set(err, ERR_NOT_FOUND, "job %lld, attempt %u: it holds nothing here",
                          (long long)id.job, id.n);
}

static int resize(struct runtime *r, const struct runtime_op *op, struct err *err)
{
    struct held *h;
    if (start_check_size(r, op->id, &op->size, err) < 0 || find_held(r, op->id, &h, err) < 0)
        return -1;
    held_size(r, h, &op->size);
    held_weigh(r);
    return held_apply(r, h, err);
}

static int freeze(struct runtime *r, const struct runtime_op *op, struct err *err)
{
    struct held *h;
    if (find_held(r, op->id, &h, err) < 0)
        return -1;
    if (h->grouped && r->cgroups.can_freeze)
        return r->cgroups.version->freeze(&r->cgroups, h->name, op->frozen, err);
    pid_list pids = {0};
    held_processes(r, h, &pids);
    process_signal(&pids, op->frozen ? SIGSTOP : SIGCONT);
    VEC_DONE(&pids);
    return 0;
}

/* 1 when it is complete later. */
static int carry_out(struct runtime *r, struct runtime_op *op, struct err *err)
{
    switch (op->kind) {
    case OP_START:
        return start_attempt(r, op, err);
    case OP_SETTLE:
        return fate_settle(r, op, err);
    case OP_RESIZE:
        return resize(r, op, err);
    case OP_FREEZE:
        return freeze(r, op, err);
    case OP_KILL: /* its only node is where the server is, and is never lost */
        return 0;
    case OP_CLEAN:
        break;
    }
    return clean_begin(r, op, err);
}

void operation_begin(struct runtime *r, struct runtime_op *op)
{
    struct err err = {.code = ERR_OK};
    int rc = carry_out(r, op, &err);
    if (rc == 0)
        err.code = ERR_OK; /* what went wrong on the way did not matter */
    op->err = err;
    if (rc <= 0)
        runtime_complete(r->host, op);
}
