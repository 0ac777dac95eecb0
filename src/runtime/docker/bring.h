/* Bringing a job's checkpoints from the engine that has them into the container of its next
 * attempt. */
#ifndef RUNTIME_DOCKER_BRING_H
#define RUNTIME_DOCKER_BRING_H

#include "runtime/docker/docker.h"

struct bring;

struct bring_request {
    const char *from;        /* node */
    const char *volume;      /* of that node's engine */
    const char *image;       /* of the job */
    const char *checkpoints; /* directory in both containers */
    /* Called once, later, in a turn of the loop. */
    void (*done)(struct docker_attempt *a, const struct err *err);
};

/* The container of the attempt has been created. Texts are borrowed until the end. */
struct bring *bring_begin(struct docker_attempt *a, const struct bring_request *request);
/* The copy is in use: the volume on the source is removed. */
void bring_remove_source(struct docker_attempt *a, const char *node, const char *volume);
/* Ends it without a call of done(). NULL is allowed. */
void bring_cancel(struct bring *b);

/* When bring_turn() is due. */
usec_t bring_due(const struct bring *b);
void bring_turn(struct bring *b, usec_t now);
/* The node is going away. */
void bring_lose(struct bring *b, const struct docker_node *n);

#endif
