/* A client of the API of one cluster, on the server's loop. */
#ifndef RUNTIME_KUBERNETES_API_H
#define RUNTIME_KUBERNETES_API_H

#include "base/str.h"
#include "runtime/kubernetes/config.h"
#include "runtime/remote/call.h"

struct kube_api;
struct kube_call;
struct runtime_host;

/* The configuration must outlive it. */
struct kube_api *kube_api_create(struct curl_loop *curl, struct runtime_host *host,
                                 const struct kube_config *config);
/* Ends all calls. */
void kube_api_free(struct kube_api *api);

struct kube_request {
    const char *method; /* a literal */
    const char *path;   /* escaped, with the query */
    const char *type;   /* of the body, a literal; NULL = JSON */
    const char *body;
    usec_t limit; /* of time, with all repetitions */
    bool stream;  /* the reply goes on until the limit; not repeated, not counted as in flight */

    /* Called once, later. */
    void (*done)(void *ctx, const struct call_reply *r);
    /* Takes the body of a reply of status 200 in parts, which is then not kept. */
    void (*bytes)(void *ctx, const char *bytes, size_t n);
    void *ctx;
};

/* Everything in the request is copied. It waits for credentials, and while too many others are in
 * flight. A reply that asks for patience (429, 5xx) is not passed on before the limit: the request
 * is retried with back-off, or when the reply says. */
struct kube_call *kube_ask(struct kube_api *api, const struct kube_request *request);
/* Ends a call whose result is not wanted any more. NULL is allowed. */
void kube_cancel(struct kube_call *c);

/* Fills *err if the reply is not a success (2xx), and returns -1. */
int kube_check(const struct call_reply *r, struct err *err);

/* Engine time at which to call kube_api_turn(). */
usec_t kube_api_due(const struct kube_api *api);
void kube_api_turn(struct kube_api *api, usec_t now);

/* ---- between api.c and exec.c ---------------------------------------------------- */

/* A handle that is ready to talk to the API server, and the header that identifies us, "" = none,
 * as one line without its end. */
CURL *kube_handle(struct kube_api *api, const char *path, struct str *url, struct str *header);
int kube_explain(void *ctx, CURL *easy, CURLcode code, const char *detail, struct err *err);
struct curl_loop *kube_curl(const struct kube_api *api);
/* Whether there are credentials, for connections that do not go through kube_ask(). */
bool kube_api_ready(struct kube_api *api);

#endif
