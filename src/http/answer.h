/* The answer to a request, between the handler and MHD. */
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include <microhttpd.h>

struct reply;

/* Completes the reply with the headers that all replies have. Takes the response. */
void answer_finish(struct reply *r, int status, const char *type, struct MHD_Response *response);
/* Frees what the reply holds, for the next request. */
void answer_reset(struct reply *r);

#endif
