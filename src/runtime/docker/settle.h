/* What has become of an attempt. */
#ifndef RUNTIME_DOCKER_SETTLE_H
#define RUNTIME_DOCKER_SETTLE_H

#include "runtime/docker/docker.h"

/* Finds out, or decides, for the operation of the attempt. */
void settle_container(struct docker_attempt *a);

#endif
