/* A server's place in its loop: MHD, timers, and the handles of both. */
#ifndef HTTP_LOOP_H
#define HTTP_LOOP_H

#include <uv.h>

#include "base/err.h"

struct http_server;

/* Starts MHD and the timers. After a failure the server must leave the loop. */
int loop_join(struct http_server *s, struct err *err);
/* Closes all of it, with whatever connections there are. The last handle to close
 * takes the server with it. */
void loop_leave(struct http_server *s);
/* For handles whose data is the server: counts those that are still open. */
void loop_handle_closed(uv_handle_t *handle);

/* MHD's next time-out may have changed. */
void loop_arm(struct http_server *s);
/* A connection was resumed: MHD must run soon. */
void loop_resumed(struct http_server *s);
/* Ticks while a request is awaited or a listener is paused. */
void loop_update_tick(struct http_server *s);

#endif
