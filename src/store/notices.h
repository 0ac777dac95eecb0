/* Notifications: whom users want to be told, and messages that are not delivered yet. */
#ifndef STORE_NOTICES_H
#define STORE_NOTICES_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

/* Where a user wants to be told of which events (wire/notice.h). */
struct target_row {
    int64_t id;       /* 0 = new */
    const char *user; /* "*" = of all users' jobs */
    const char *target;
    const char *secret; /* with which messages are signed; "" = none */
    int64_t events;     /* bits of enum notice_event */
};

int store_target_add(struct store *s, const struct target_row *row, int64_t *id, struct err *err);
int store_target_delete(struct store *s, int64_t id, struct err *err);
/* Texts are borrowed during the callback. */
typedef int (*store_target_fn)(void *ctx, const struct target_row *row, struct err *err);
/* Lists the targets of a user and of "*"; all if `user` is NULL. */
int store_target_list(struct store *s, const char *user, store_target_fn fn, void *ctx,
                      struct err *err);

/* A message that is to be delivered. */
struct notice_row {
    int64_t id;
    const char *target, *secret;
    const char *message; /* JSON */
    usec_t created, due; /* wall clock; due: of the next attempt */
    int64_t tries;
};

int store_notice_add(struct store *s, const struct notice_row *row, struct err *err);
int store_notice_delete(struct store *s, int64_t id, struct err *err);
/* After a failed delivery. */
int store_notice_retry(struct store *s, int64_t id, int64_t tries, usec_t due, struct err *err);
typedef int (*store_notice_fn)(void *ctx, const struct notice_row *row, struct err *err);
/* Lists messages, the next due first. */
int store_notice_list(struct store *s, store_notice_fn fn, void *ctx, struct err *err);

#endif
