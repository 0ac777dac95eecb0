/* What is stored about nodes. */
#ifndef STORE_NODES_H
#define STORE_NODES_H

#include <stdbool.h>

#include "base/err.h"

struct store;

struct node_row {
    const char *name;
    bool drained;
    const char *reason; /* why it is drained; may be "" */
};

/* Adds or replaces the node. */
int store_node_save(struct store *s, const struct node_row *row, struct err *err);
/* Texts are borrowed during the callback. */
typedef int (*store_node_fn)(void *ctx, const struct node_row *row, struct err *err);
/* Lists nodes by name. */
int store_node_list(struct store *s, store_node_fn fn, void *ctx, struct err *err);

#endif
