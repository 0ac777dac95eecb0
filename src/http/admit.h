/* Which requests are refused before a handler runs. */
#ifndef HTTP_ADMIT_H
#define HTTP_ADMIT_H

#include <stdbool.h>
#include <stddef.h>

struct conn;

/* The request line has arrived. */
void admit_target(struct conn *c, const char *target);
/* The headers have arrived. */
void admit_request(struct conn *c, const char *version);
/* Bytes of the body have arrived. False when the connection should be closed. */
bool admit_body(struct conn *c, const char *bytes, size_t n);

#endif
