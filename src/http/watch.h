/* Notices clients that hang up while their connection is suspended. */
#ifndef HTTP_WATCH_H
#define HTTP_WATCH_H

#include "base/err.h"

struct conn;
struct http_server;

int watch_open(struct http_server *s, struct err *err);
void watch_close(struct http_server *s);
void watch_add(struct conn *c);
void watch_remove(struct conn *c);

#endif
