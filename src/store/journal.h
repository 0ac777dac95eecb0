/* The journal: what the engine was told and what it decided, in order. A boot is a stretch of it
 * that can be replayed separately. The server begins one when it starts, and may begin another
 * when it has recorded its whole state, so that earlier ones can be trimmed. Boots are counted
 * from 1. */
#ifndef STORE_JOURNAL_H
#define STORE_JOURNAL_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

int store_boot_begin(struct store *s, usec_t at, int64_t *boot, struct err *err);
/* Adds a row to the newest boot. */
int store_journal_add(struct store *s, const char *kind, const char *data, struct err *err);
typedef int (*store_journal_fn)(void *ctx, int64_t seq, int64_t boot, const char *kind,
                                const char *data, struct err *err);
/* Lists the rows of one boot or (0) of all, in order. */
int store_journal_list(struct store *s, int64_t boot, store_journal_fn fn, void *ctx,
                       struct err *err);
/* Lists the rows of one kind, newest first, among the last STORE_JOURNAL_LATEST rows. */
#define STORE_JOURNAL_LATEST 100000
int store_journal_latest(struct store *s, const char *kind, uint32_t limit, store_journal_fn fn,
                         void *ctx, struct err *err);

#endif
