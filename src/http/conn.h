/* Connections, and the progress of the request on each. */
#ifndef HTTP_CONN_H
#define HTTP_CONN_H

#include <microhttpd.h>
#include <stdint.h>

struct conn;
struct listener;

/* For MHD. */
extern const struct conn_callbacks {
    MHD_NotifyConnectionCallback connection;
    MHD_AccessHandlerCallback access;
    MHD_RequestCompletedCallback completed;
    void *(*uri)(void *cls, const char *uri, struct MHD_Connection *mhd);
} conn_callbacks;

struct conn *conn_create(struct listener *l, int fd);
void conn_free(struct conn *c);
void conn_suspend(struct conn *c);
void conn_resume(struct conn *c);
/* Ends a suspended exchange because the client is gone or the server gives up. */
void conn_abandon(struct conn *c);
/* Closes the connection if its request does not arrive in time. */
void conn_check_deadline(struct conn *c, uint64_t now);
/* Accepts no more requests on this connection. */
void conn_wind_down(struct conn *c);

#endif
