/* The nodes that operators have added. */
#ifndef STORE_ENGINES_H
#define STORE_ENGINES_H

#include <stdint.h>

#include "base/err.h"

struct store;

struct engine_row {
    const char *name;    /* of the node */
    const char *runtime; /* that serves it */
    const char *address;
    const char *tls;      /* "" = none */
    int64_t cpus, gpus;   /* thousandths; 0 = what the engine says */
    const char *gpu_type; /* "" = none */
    int64_t memory_mb;    /* 0 = what the engine says */
};

/* Adds or replaces the node. */
int store_engine_save(struct store *s, const struct engine_row *row, struct err *err);
int store_engine_delete(struct store *s, const char *name, struct err *err);
/* Texts are borrowed during the callback. */
typedef int (*store_engine_fn)(void *ctx, const struct engine_row *row, struct err *err);
/* Lists them by name. */
int store_engine_list(struct store *s, store_engine_fn fn, void *ctx, struct err *err);

#endif
