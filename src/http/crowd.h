/* How many connections one peer may have, and all peers that have not sent the token yet. */
#ifndef HTTP_CROWD_H
#define HTTP_CROWD_H

#include <stdbool.h>

struct conn;

/* Whether the peer of a new connection may have another one. Tells it if not; the caller closes
 * the connection. If there are too many without a token, the oldest of them is closed. */
bool crowd_admit(const struct conn *new);

#endif
