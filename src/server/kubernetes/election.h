/* One active server: it holds a Lease (coordination.k8s.io) of the namespace. Others with the same
 * state wait, and one of them takes over when the Lease is released or has not been renewed. */
#ifndef SERVER_KUBERNETES_ELECTION_H
#define SERVER_KUBERNETES_ELECTION_H

#include <stdbool.h>

#include "base/err.h"

struct election;
struct kube_options;
struct uv_loop_s;

/* Waits, on the loop, until the Lease is ours. *out is NULL if a signal ended the wait. */
int election_win(struct uv_loop_s *loop, const struct kube_options *options, struct election **out,
                 struct err *err);
/* Renews the Lease from now on. `lost` is called once if that fails for too long, or if somebody
 * else has taken it: the server must have stopped a few seconds later. */
void election_keep(struct election *e, void (*lost)(void *ctx, const char *why), void *ctx);
/* Gives the Lease back if it is still ours, on the loop, and frees everything. NULL is allowed. */
void election_end(struct election *e);

#endif
