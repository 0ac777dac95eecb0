/* Transfers of libcurl on the server's loop. */
#ifndef RUNTIME_REMOTE_CURL_LOOP_H
#define RUNTIME_REMOTE_CURL_LOOP_H

#include <curl/curl.h>

#include "base/err.h"

struct uv_loop_s;
struct curl_loop;

/* Called when a transfer is over, in a turn of the loop. It may add and remove transfers. */
typedef void (*curl_loop_fn)(void *ctx, CURLcode result);

int curl_loop_open(struct uv_loop_s *loop, struct curl_loop **out, struct err *err);
/* All transfers must have been removed. */
void curl_loop_close(struct curl_loop *l);

/* The loop that it is on. */
struct uv_loop_s *curl_loop_uv(const struct curl_loop *l);

/* Begins a transfer; fn is called once, later, unless it is removed before. */
void curl_loop_add(struct curl_loop *l, CURL *easy, curl_loop_fn fn, void *ctx);
/* Ends a transfer, or forgets one that is over. */
void curl_loop_remove(struct curl_loop *l, CURL *easy);

#endif
