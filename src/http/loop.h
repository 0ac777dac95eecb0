/* Runs a server in its loop: MHD, timers, and their handles. */
#ifndef HTTP_LOOP_H
#define HTTP_LOOP_H

#include <uv.h>

#include "base/err.h"

struct daemon;
struct http_server;
struct tls_certificate;

/* Starts MHD and the timers. After a failure the server must still leave the loop. */
int loop_join(struct http_server *s, struct err *err);
/* Closes all handles and connections. The server is freed with the last handle. */
void loop_leave(struct http_server *s);
/* Close callback of handles whose data is the server: counts the open ones. */
void loop_handle_closed(uv_handle_t *handle);

/* Starts another daemon of MHD, for TLS if there is a certificate. */
struct daemon *loop_add_daemon(struct http_server *s, const struct tls_certificate *certificate,
                               struct err *err);
/* Stops daemons that get no more connections and have none. Not inside MHD. */
void loop_retire(struct http_server *s);

/* MHD's next timeout may have changed. */
void loop_arm(struct http_server *s);
/* A connection was resumed: MHD must run soon. */
void loop_resumed(struct http_server *s);
/* Ticks while a request is awaited or a listener is paused. */
void loop_update_tick(struct http_server *s);

#endif
