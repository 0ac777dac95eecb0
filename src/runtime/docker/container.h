/* What an engine is asked for, as JSON. Pure. */
#ifndef RUNTIME_DOCKER_CONTAINER_H
#define RUNTIME_DOCKER_CONTAINER_H

#include "base/str.h"
#include "runtime/runtime.h"

/* Where our files are in a container. */
#define CONTAINER_ROOT "/.trainyard"
#define CONTAINER_BIN CONTAINER_ROOT "/bin"
#define CONTAINER_CONDUCTOR CONTAINER_BIN "/trainyard-conductor"
#define CONTAINER_LIBRARY CONTAINER_BIN "/libtrainyard-malleable.so"
#define CONTAINER_LINES CONTAINER_BIN "/libtrainyard-lines.so"
#define CONTAINER_PYTHON CONTAINER_ROOT "/python"
#define CONTAINER_TORCHRUN CONTAINER_PYTHON "/trainyard_torchrun.py"
#define CONTAINER_HOSTS CONTAINER_PYTHON "/trainyard_hosts.py"
#define CONTAINER_ATTEMPT CONTAINER_ROOT "/attempt"
#define CONTAINER_SOCKET CONTAINER_ATTEMPT "/socket"
#define CONTAINER_WORK CONTAINER_ROOT "/work" /* what was uploaded */
#define CONTAINER_CHECKPOINTS CONTAINER_ROOT "/checkpoints"

/* A node has at most so many GPUs. */
enum { CONTAINER_GPUS_MAX = 63 };

struct container_request {
    struct attempt_id id;
    const char *yard; /* identity of the server's state */
    const struct runtime_container *container;
    const struct runtime_size *size;
    units_t node_cpus; /* no container may have more */
    const char *workdir;
    const char *volume;      /* for checkpoints; NULL = none */
    const char *checkpoints; /* where it is mounted */
    int64_t log_part;        /* size of a part of the log */
    uint64_t gpus;           /* of the node, as bits by their index */
};

/* The body that creates the container. */
void container_add_create(const struct container_request *q, struct str *out);
/* The body that creates a container which never runs, to reach the files of a volume. It is
 * labelled as attempt 0, which nobody wants: one that is left over is removed at the next
 * connection. */
void container_add_reader(const char *yard, int64_t job, const char *image, const char *volume,
                          const char *checkpoints, struct str *out);
/* Whether a path in the container is on one of its mounts. */
bool container_mounts_path(const struct runtime_container *c, const char *path);
/* The body that changes its limits. */
void container_add_update(const struct runtime_size *size, units_t node_cpus, struct str *out);
/* The same for Podman, whose own API it is: Docker's is not there. */
void container_add_podman_update(const struct runtime_size *size, units_t node_cpus,
                                 struct str *out);

#endif
