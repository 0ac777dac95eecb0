/* The answer of a request, on its way from the handler to MHD. */
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include <microhttpd.h>

struct reply;

/* Gives the reply its answer, with the headers that all of them have. Takes the
 * response. */
void answer_finish(struct reply *r, int status, const char *type, struct MHD_Response *response);
/* Frees what the reply holds, for the next request. */
void answer_reset(struct reply *r);

#endif
