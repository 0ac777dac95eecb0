/* Connections to an engine on another machine through ssh, each by a process that runs
 * `docker system dial-stdio` there, as the docker client does. */
#ifndef RUNTIME_DOCKER_SSH_H
#define RUNTIME_DOCKER_SSH_H

#include "base/err.h"
#include "runtime/docker/endpoint.h"

struct ssh;
struct uv_loop_s;

struct ssh *ssh_create(struct uv_loop_s *loop, const struct endpoint *e);
/* Ends all processes. */
void ssh_free(struct ssh *s);

/* Starts a process; returns a socket whose other end is its standard streams, or -1. */
int ssh_connect(struct ssh *s);
/* The last line that one of them wrote to standard error; "" = none. */
const char *ssh_complaint(const struct ssh *s);

#endif
