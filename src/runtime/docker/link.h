/* The link to a conductor, through its engine. */
#ifndef RUNTIME_DOCKER_LINK_H
#define RUNTIME_DOCKER_LINK_H

#include "runtime/docker/docker.h"

/* Wants a link to the conductor from now on. */
void link_want(struct docker_attempt *a);
/* Ends the link and tells the server: the container has ended, or does not answer. */
void link_drop(struct docker_attempt *a);
/* Ends it without a word, because the server does not want it any more. */
void link_end(struct docker_attempt *a);
/* Engine time at which to call link_turn(). */
usec_t link_due(const struct docker_attempt *a);
void link_turn(struct docker_attempt *a);
void link_send(struct runtime *r, struct runtime_link *link, const struct to_conductor *m);
void link_unlink(struct runtime *r, struct runtime_link *link);
/* Asks the conductor for its log, from the offset that the server wants; false = no link. */
bool link_ask_log(struct docker_attempt *a);

#endif
