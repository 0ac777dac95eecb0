/* A connection that begins with an HTTP request and is then used for other bytes in both
 * directions (101 Switching Protocols). libcurl connects and encrypts. */
#ifndef RUNTIME_REMOTE_TUNNEL_H
#define RUNTIME_REMOTE_TUNNEL_H

#include "base/str.h"
#include "runtime/remote/curl_loop.h"
#include "runtime/remote/head.h"

struct tunnel;

struct tunnel_user {
    /* The head of the response has come; fails if the connection is not to be used. NULL = any
     * head will do, also that of a refusal. */
    int (*agreed)(void *ctx, const struct http_head *head, struct err *err);
    /* Bytes after the head; fails if they are not what is expected. */
    int (*bytes)(void *ctx, const char *bytes, size_t n, struct err *err);
    /* The connection has ended, or could not be made; ERR_OK = the other side has hung up. The
     * tunnel is gone. */
    void (*closed)(void *ctx, const struct err *why);
    /* Why a transfer failed, for users; returns -1. */
    int (*explain)(void *ctx, CURL *easy, CURLcode code, const char *detail, struct err *err);
};

/* Connects with a handle that is ready to talk to the server, and sends the request. It takes the
 * handle. */
struct tunnel *tunnel_open(struct curl_loop *curl, CURL *easy, const struct str *request,
                           const struct tunnel_user *user, void *ctx);
/* Sends bytes, in order, later. */
void tunnel_send(struct tunnel *t, const char *bytes, size_t n);
/* Ends it; `closed` is not called. It may be called by any of the user's functions. NULL is
 * allowed. */
void tunnel_close(struct tunnel *t);

#endif
