/* How clients over TCP say who they are: a token in the header Authorization, or the cookie of a
 * browser that has logged in. */
#ifndef HTTP_TOKEN_H
#define HTTP_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

struct reply;
struct request;

/* The token in the header Authorization; NULL if there is none. */
const char *token_bearer(const struct request *r);
/* The value of the cookie; NULL if there is none, or if it does not count for this request: a
 * request that changes something must come from a page of this server. All ports of a host share
 * cookies, so SameSite alone is not enough. */
const char *token_cookie(const struct request *r);

/* Whether the request has the cookie, but changes something and does not come from a page of this
 * server. */
bool token_is_foreign(const struct request *r);

/* Sets the cookie in the browser for this many seconds; 0 removes it. `value` has letters and
 * digits only. */
void token_set_cookie(const struct request *q, struct reply *r, const char *value, int64_t seconds);

#endif
