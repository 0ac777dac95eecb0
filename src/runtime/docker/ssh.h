/* Connections to an engine on another machine through ssh.
 *
 * One process of ssh forwards a socket of ours to the engine's, and carries all connections. Where
 * the other side does not allow that, each connection is a process of its own that runs `docker
 * system dial-stdio` there, as the docker client does. */
#ifndef RUNTIME_DOCKER_SSH_H
#define RUNTIME_DOCKER_SSH_H

#include "base/err.h"
#include "runtime/docker/endpoint.h"

struct ssh;
struct uv_loop_s;

/* `path` is where to put sockets of our own. Nothing is connected yet. */
int ssh_open(struct uv_loop_s *loop, const struct endpoint *e, const char *path, struct ssh **out,
             struct err *err);
/* Ends all processes. */
void ssh_free(struct ssh *s);

/* Makes connections possible, and calls `done` later, unless the object is freed before; *err has
 * the code ERR_OK if they are. One call at a time. */
void ssh_prepare(struct ssh *s, void (*done)(void *ctx, const struct err *err), void *ctx);

/* The socket to connect to, once they are. */
const char *ssh_socket(const struct ssh *s);
/* Why each connection needs a process; "" = it does not. */
const char *ssh_notice(const struct ssh *s);
/* The last line that a process of ssh wrote to standard error; "" = none. */
const char *ssh_complaint(const struct ssh *s);

#endif
