/* A client of one engine: requests, each with a time limit, on the server's loop. */
#ifndef RUNTIME_DOCKER_ENGINE_H
#define RUNTIME_DOCKER_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "base/time.h"
#include "runtime/docker/answers.h"
#include "runtime/docker/endpoint.h"
#include "runtime/remote/call.h"

struct engine;
struct uv_loop_s;

/* The versions of the API that we speak. */
#define ENGINE_API_OLDEST 1040
#define ENGINE_API_NEWEST 1047

/* `socket` is a path of our own, for connections through ssh. */
int engine_create(struct curl_loop *curl, struct uv_loop_s *loop, const struct endpoint *at,
                  const char *socket, struct engine **out, struct err *err);
/* Ends all calls. Streams must have been ended. */
void engine_free(struct engine *e);
/* Makes calls possible where that takes time: returns true, and `done` is called later, once, as in
 * ssh.h. false: they are possible. */
bool engine_prepare(struct engine *e, void (*done)(void *ctx, const struct err *err), void *ctx);
/* What its operator should know of how it is reached; "" = nothing. */
const char *engine_notice(const struct engine *e);
/* Chooses the newest version of the API that both sides know. */
int engine_agree(struct engine *e, const struct answer_version *theirs, struct err *err);
/* Known once the version is agreed. */
bool engine_is_podman(const struct engine *e);

struct engine_request {
    const char *method;
    const char *path; /* of the API, escaped, without its version */
    const char *type; /* of the body; NULL = JSON */
    const char *body;
    size_t n;           /* bytes of the body; 0 with a body = it is a text */
    int file;           /* its descriptor, if the body is a file; 0 = it is not. Taken over. */
    int64_t file_bytes; /* of it */
    const char *header; /* one more; NULL = none */
    usec_t limit;       /* of time; USEC_NEVER = none, for a stream that has no end */
    bool no_version;    /* the path is outside the versions */

    /* Called once, later. */
    void (*done)(void *ctx, const struct call_reply *r);
    /* Bytes of the file that have been sent, now and then. NULL = nobody wants to know. */
    void (*sent)(void *ctx, int64_t bytes);
    /* Takes the body of a reply of status 200 in parts, which is then not kept. */
    void (*bytes)(void *ctx, const char *bytes, size_t n);
    bool (*full)(void *ctx); /* as in struct call_request */
    size_t (*source)(void *ctx, char *bytes, size_t n);
    void *ctx;
};

/* Everything in the request is copied. */
struct call *engine_ask(struct engine *e, const struct engine_request *request);

/* Fills *err if the reply is not a success (2xx or 304), and returns -1. */
int engine_check(const struct call_reply *r, struct err *err);

/* ---- between engine.c and stream.c ---------------------------------------------- */

/* A handle that is ready to talk to the engine; the URL is in *url. */
CURL *engine_handle(struct engine *e, const char *path, bool no_version, struct str *url);
struct curl_loop *engine_curl(const struct engine *e);
/* Why a transfer failed, for users. */
int engine_explain(const struct engine *e, CURL *easy, CURLcode code, const char *detail,
                   struct err *err);

#endif
