/* A collection of the API server, followed: listed in parts, then watched from the version of the
 * list on. When the server has forgotten that version (410), it is listed again. */
#ifndef RUNTIME_KUBERNETES_WATCH_H
#define RUNTIME_KUBERNETES_WATCH_H

#include <jansson.h>
#include <stdbool.h>

#include "runtime/kubernetes/api.h"

struct kube_watch_user {
    /* The collection is listed again: what is not told until listed() is gone. */
    void (*lists)(void *ctx);
    /* An object is there, or has changed, or was deleted. */
    void (*object)(void *ctx, const json_t *object, bool deleted);
    /* The list is complete. */
    void (*listed)(void *ctx);
    /* It cannot be listed; it is tried again. */
    void (*failed)(void *ctx, const struct err *why);
};

struct kube_watch;

/* `path` is that of the collection, `query` a part of a query or "". Both are copied. */
struct kube_watch *kube_watch_create(struct kube_api *api, struct runtime_host *host,
                                     const char *path, const char *query,
                                     const struct kube_watch_user *user, void *ctx);
void kube_watch_free(struct kube_watch *w);

/* Engine time at which to call kube_watch_turn(), in which the user is told. */
usec_t kube_watch_due(const struct kube_watch *w);
void kube_watch_turn(struct kube_watch *w, usec_t now);
/* The connection may be dead: ends it and goes on from the version that was told last. */
void kube_watch_renew(struct kube_watch *w);

#endif
