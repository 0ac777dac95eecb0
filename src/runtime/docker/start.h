/* The start of an attempt. */
#ifndef RUNTIME_DOCKER_START_H
#define RUNTIME_DOCKER_START_H

#include "runtime/docker/docker.h"

struct image_search;

/* Begins it, for the operation of the attempt. */
void start_container(struct docker_attempt *a);
/* Frees it; NULL is allowed. */
void start_done(struct docker_start *s);
/* What is to be put into the container; the script may be NULL. */
const struct launch_spec *start_spec(const struct docker_start *s);
const char *start_script(const struct docker_start *s);
/* Its checkpoints' directory in the container, if that is on a volume of ours; else NULL. */
const char *start_home(const struct docker_start *s);
/* Its node is lost: the start has failed. */
void start_abort(struct docker_attempt *a);
/* The search for its image, while it starts. */
struct image_search *start_image(struct docker_attempt *a);
/* Whether there is something new to say about what the start waits for; says it. */
bool start_has_news(const struct docker_attempt *a);
void start_say_waits(struct docker_attempt *a);

/* The copy of its checkpoints, if one is under way. */
struct bring *start_bring(const struct docker_attempt *a);

#endif
