/* The token of clients over TCP: in the header Authorization, or as the cookie of a browser that
 * has logged in with it. */
#ifndef HTTP_TOKEN_H
#define HTTP_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

struct reply;
struct request;

#define TOKEN_COOKIE "trainyard"

/* The token in the header Authorization; NULL if there is none. */
const char *token_bearer(const struct request *r);
/* Takes equally long for a wrong token and for the right one. */
bool token_same(const char *given, const char *token);

/* Sets the cookie in the browser for this many seconds; 0 removes it. */
void token_set_cookie(struct reply *r, const char *token, int64_t seconds);
/* Whether the cookie, as the browser sent it, was set for this token. */
bool token_in_cookie(const char *cookie, const char *token);
/* Whether a cookie counts for this request: it changes nothing, or it comes from a page of this
 * server. All ports of a host share cookies, so SameSite alone is not enough. */
bool token_cookie_counts(const struct request *r);

#endif
