/* What clients over TCP identify themselves with: tokens, and the sessions of browsers. Only hashes
 * of the secrets are kept. */
#ifndef STORE_TOKENS_H
#define STORE_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

struct token_row {
    int64_t id; /* 0 = new */
    bool session;
    const char *name; /* "" for sessions */
    const char *user; /* on whose behalf it acts */
    const char *role;
    const char *hash;
    usec_t created, expires, used; /* expires 0 = never; used 0 = never */
    int64_t parent; /* of a session: the token or session that it began with; 0 = none */
};

/* Adds a token; *id (may be NULL) gets its number. ERR_CONFLICT if the name is taken. */
int store_token_add(struct store *s, const struct token_row *row, int64_t *id, struct err *err);

/* Texts are borrowed during the callback. */
typedef int (*store_token_fn)(void *ctx, const struct token_row *row, struct err *err);
/* Calls fn for the token or session with this hash, if there is one. */
int store_token_find(struct store *s, const char *hash, store_token_fn fn, void *ctx,
                     struct err *err);
/* Calls fn for all tokens, by name. */
int store_token_list(struct store *s, store_token_fn fn, void *ctx, struct err *err);

int store_token_touch(struct store *s, int64_t id, usec_t used, struct err *err);
/* Deletes a token, and the sessions that began with it. */
int store_token_delete(struct store *s, int64_t id, struct err *err);
/* Deletes sessions that ended before `now`. */
int store_token_sweep(struct store *s, usec_t now, struct err *err);

#endif
