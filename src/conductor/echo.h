/* A copy of the log on standard output, for engines that collect what a container prints. */
#ifndef CONDUCTOR_ECHO_H
#define CONDUCTOR_ECHO_H

#include <stdint.h>

#include "conductor/loop.h"

struct echo {
    struct loop *loop;
    struct loop_watch out; /* fd is -1 if there is no copy */
    int dir;               /* of the log; borrowed */
    int64_t max, offset;   /* size of one log file, bytes copied so far */
};

void echo_open(struct echo *e, struct loop *loop, int dir, int64_t max);
/* Initialises without a copy. */
void echo_none(struct echo *e);
/* The log has grown: copies what standard output accepts now, and the rest when it accepts more. */
void echo_follow(struct echo *e);
void echo_done(struct echo *e);

#endif
