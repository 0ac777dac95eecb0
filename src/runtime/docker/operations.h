/* Operations of the server, each a chain of requests to the engine. */
#ifndef RUNTIME_DOCKER_OPERATIONS_H
#define RUNTIME_DOCKER_OPERATIONS_H

#include "runtime/docker/docker.h"

/* Asks the engine on behalf of the attempt's operation, within its deadline. */
void docker_ask(struct docker_attempt *a, struct engine_request *request);
/* Completes the operation. */
void docker_complete(struct docker_attempt *a, const struct err *err);
/* Whether the reply is a success; if not, the operation is complete with its error. */
bool docker_succeeded(struct docker_attempt *a, const struct call_reply *r);

void docker_begin(struct docker_attempt *a);

#endif
