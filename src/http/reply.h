/* How a handler answers. Each request is answered exactly once: by one of the reply_* functions
 * below, by content (http/content.h) or by a stream (http/stream.h). After that the reply must
 * not be used. JSON and problems are never cached; no reply allows other origins (no CORS). */
#ifndef HTTP_REPLY_H
#define HTTP_REPLY_H

#include <stddef.h>

#include "base/err.h"

struct json_t;
struct problem;
struct reply;
struct request;

/* The handler returns now and answers later, from the same loop. The reply stays valid until it
 * is answered.
 *
 * With `gone`: when the client hangs up meanwhile, or the server stops waiting, gone(ctx) is
 * called once, and the reply must not be used after that. Without it, which is cheaper and meant
 * for short waits such as a commit, the answer to a client that is gone is dropped. */
void reply_defer(struct reply *r, void (*gone)(void *ctx), void *ctx);

/* The request that this answers. */
const struct request *reply_request(const struct reply *r);

/* Adds a header to the answer that follows. The value is cut at the first line end. */
void reply_header(struct reply *r, const char *name, const char *value);

/* Takes the reference to `body`. */
void reply_json(struct reply *r, int status, struct json_t *body);
/* The status follows from the error's code; `field` (may be NULL) names the part of the input
 * that is wrong. */
void reply_problem(struct reply *r, const struct err *err, const char *field);
/* The same with all parts given; a status of 204 is an answer without a body. */
void reply_refuse(struct reply *r, const struct problem *p);
/* The same with a status and code that no error has, for example 501. */
void reply_problem_as(struct reply *r, int status, const char *code, const char *detail);
/* Copies `text`. A type "text/..." without a charset gets UTF-8. HTML gets headers that forbid
 * frames and resources from other servers, unless the handler has set its own
 * Content-Security-Policy. */
void reply_text(struct reply *r, int status, const char *type, const char *text);
/* Takes `bytes`, from malloc. */
void reply_bytes(struct reply *r, int status, const char *type, char *bytes, size_t n);
/* A reply without a body, for 204 and the like. */
void reply_empty(struct reply *r, int status);

#endif
