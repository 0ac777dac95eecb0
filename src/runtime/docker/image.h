/* The image of an attempt: found on its node, or pulled. */
#ifndef RUNTIME_DOCKER_IMAGE_H
#define RUNTIME_DOCKER_IMAGE_H

#include "runtime/docker/docker.h"
#include "runtime/docker/pull.h"

struct helper;

/* The search for it, in the arena of the attempt's start. */
struct image_search {
    struct docker_attempt *attempt;
    const char *image;
    struct arena *arena;
    bool pulling;
    struct pull pull;
    struct helper *helper; /* that is asked for credentials; NULL = none */
    char complaint[120];   /* of the helper; "" = none */
    /* Called once: the image is there; or it is not, and *err says why. With `never` that is so
     * whatever is tried. The operation's deadline counts from here if it was pulled. */
    void (*found)(struct docker_attempt *a, const struct answer_image *image);
    void (*missing)(struct docker_attempt *a, const struct err *err, bool never);
};

void image_find(struct image_search *s);
void image_done(struct image_search *s);
/* Whether there is something new to say about the download; says it. */
bool image_has_news(const struct image_search *s);
void image_say_news(struct image_search *s);

#endif
