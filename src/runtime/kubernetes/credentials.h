/* The token by which we identify ourselves, and how it is renewed. */
#ifndef RUNTIME_KUBERNETES_CREDENTIALS_H
#define RUNTIME_KUBERNETES_CREDENTIALS_H

#include "base/time.h"
#include "runtime/kubernetes/config.h"

struct credentials;
struct runtime_host;

/* The configuration must outlive it. `changed` is called, later, when they can be used, or when
 * they could not be had. */
struct credentials *credentials_create(struct runtime_host *host, const struct kube_config *config,
                                       void (*changed)(void *ctx), void *ctx);
void credentials_free(struct credentials *c);

/* Asks for new ones if the old ones are used up; true = they can be used now. */
bool credentials_ready(struct credentials *c);
/* They were refused: the next call of credentials_ready() asks for new ones. */
void credentials_refused(struct credentials *c);
/* NULL = there is none. Valid until the next turn of the loop. */
const char *credentials_token(const struct credentials *c);
/* A certificate and its key, PEM; NULL = none. */
const char *credentials_cert(const struct credentials *c);
const char *credentials_key(const struct credentials *c);
/* Why there are none, for users; "" = there are. */
const char *credentials_trouble(const struct credentials *c);

/* Reads what a plugin prints: texts to be freed, NULL = none; *expires is in wall time,
 * USEC_NEVER = never. */
int credentials_parse(const char *text, size_t n, char **token, char **cert, char **key,
                      usec_t *expires, struct err *err);

#endif
