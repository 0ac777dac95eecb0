/* Owns the queue of completed operations. */
#include "runtime/runtime.h"

void runtime_host_init(struct runtime_host *h)
{
    h->completed = NULL;
    h->completed_end = &h->completed;
}

void runtime_complete(struct runtime_host *h, struct runtime_op *op)
{
    op->next = NULL;
    *h->completed_end = op;
    h->completed_end = &op->next;
}

struct runtime_op *runtime_collect(struct runtime_host *h)
{
    struct runtime_op *op = h->completed;
    if (!op)
        return NULL;
    h->completed = op->next;
    if (!h->completed)
        h->completed_end = &h->completed;
    return op;
}
