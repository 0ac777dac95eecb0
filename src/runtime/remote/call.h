/* Requests over HTTP, each with a time limit, on the server's loop. How a server is reached is up
 * to whoever makes the handle: a runtime sets address, certificates and the like, and gives it
 * here. */
#ifndef RUNTIME_REMOTE_CALL_H
#define RUNTIME_REMOTE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "runtime/remote/curl_loop.h"

struct call;

struct call_reply {
    long status; /* of HTTP */
    const char *body;
    size_t n;
    usec_t retry_after; /* as the server asks for; 0 = it does not */
    struct err err;     /* ERR_OK = there is a reply, of any status */
};

struct call_request {
    const char *method;
    const char *type; /* of the body; NULL = JSON */
    const char *body;
    size_t n;                   /* bytes of the body; 0 with a body = it is a text */
    int file;                   /* its descriptor, if it is a file; 0 = it is not. Taken over. */
    int64_t file_bytes;         /* of it */
    const char *const *headers; /* more of them; ends with NULL; NULL = none */
    usec_t limit;               /* of time; USEC_NEVER = none, for a stream that has no end */

    /* Called once, later. */
    void (*done)(void *ctx, const struct call_reply *r);
    /* Bytes of the file that have been sent, now and then. NULL = nobody wants to know. */
    void (*sent)(void *ctx, int64_t bytes);
    /* Takes the body of a reply of status 200 in parts, which is then not kept. */
    void (*bytes)(void *ctx, const char *bytes, size_t n);
    /* Whether `bytes` is not to be called now, but after call_resume(). NULL = it always may be. */
    bool (*full)(void *ctx);
    /* Gives up to n bytes of a body of unknown length, instead of `body`: how many, 0 at its end,
     * or CALL_LATER if there are none before call_resume(). */
    size_t (*source)(void *ctx, char *bytes, size_t n);
    void *ctx;
};
#define CALL_LATER SIZE_MAX

/* All calls to one server. */
struct calls {
    struct curl_loop *curl;
    struct call *first;
    /* Why a transfer failed, for users; returns -1. */
    int (*explain)(void *ctx, CURL *easy, CURLcode code, const char *detail, struct err *err);
    void *ctx;
};

/* Begins a call with a handle that is ready to talk to the server; it takes the handle. Everything
 * in the request is copied. */
struct call *call_begin(struct calls *all, CURL *easy, const struct call_request *request);
/* Goes on with a call that waits because of `full` or `source`. Not inside a callback of a call. */
void call_resume(struct call *c);
/* Ends a call whose result is not wanted any more. NULL is allowed. */
void call_cancel(struct call *c);
/* Ends them all. */
void calls_done(struct calls *all);

#endif
