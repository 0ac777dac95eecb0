/* A program that runs on the server's machine for us (ssh, a credential helper), and what it says.
 */
#ifndef RUNTIME_DOCKER_HELPER_H
#define RUNTIME_DOCKER_HELPER_H

#include <stddef.h>

#include "base/str.h"
#include "base/time.h"

struct helper;
struct uv_loop_s;

struct helper_user {
    /* It has ended with this exit code (128 + N for a signal), or could not be started (127). It is
     * freed after the call. `output` is what it printed, `complaint` its last line on standard
     * error; "" = none. */
    void (*ended)(void *ctx, struct helper *p, int code, const char *output, const char *complaint);
    void *ctx;
};

/* Runs the command, NULL-terminated, for at most this long (0 = no limit). Its standard input and
 * output are these descriptors, which are copied. Input -1 = none, output -1 = it is kept.
 * `user->ended` is called later, never inside this call. */
struct helper *helper_start(struct uv_loop_s *loop, char *const words[], int in, int out,
                            usec_t limit, const struct helper_user *user);
/* Ends it without a call of `ended`. NULL is allowed. */
void helper_stop(struct helper *p);

#endif
