/* The link to a conductor, through its engine. */
#ifndef RUNTIME_DOCKER_LINK_H
#define RUNTIME_DOCKER_LINK_H

#include "runtime/docker/docker.h"

/* For a new attempt. */
void link_init(struct docker_attempt *a);

#endif
