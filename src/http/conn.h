/* Connections, and the course of a request on each. */
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
/* The client is gone, or we give it up: ends a suspended exchange. */
void conn_abandon(struct conn *c);
/* Closes the connection if it does not get its request done in time. */
void conn_check_deadline(struct conn *c, uint64_t now);
/* No more requests on this connection. */
void conn_wind_down(struct conn *c);

#endif
