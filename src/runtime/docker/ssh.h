/* Connections to an engine on another machine through ssh, each by a process that runs
 * `docker system dial-stdio` there, as the docker client does. */
#ifndef RUNTIME_DOCKER_SSH_H
#define RUNTIME_DOCKER_SSH_H

#include "base/err.h"
#include "runtime/docker/endpoint.h"

struct ssh;
struct uv_loop_s;

/* Listens at `path`, a socket of our own. Each connection to it is one to the engine. */
int ssh_open(struct uv_loop_s *loop, const struct endpoint *e, const char *path, struct ssh **out,
             struct err *err);
/* Ends all processes. */
void ssh_free(struct ssh *s);

/* The last line that one of them wrote to standard error; "" = none. */
const char *ssh_complaint(const struct ssh *s);

#endif
