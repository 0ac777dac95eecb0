/* A request on its way to the handler: checked against the endpoint's entry, with the values
 * of its parameters read and its job or node looked up. */
#ifndef SERVER_API_CALL_H
#define SERVER_API_CALL_H

#include "server/api/endpoint.h"

/* Fills *c, whose yard, request and reply are set. Answers a request that does not fit the
 * endpoint and returns false. The caller releases c->body. */
bool api_call_read(const struct endpoint *e, struct api_call *c);

/* Answers with ERR_INVALID and "field: text". */
void api_refuse(const struct api_call *c, const char *field, const char *text);

/* Answers with the job as it is now, once that is on disk. */
void api_reply_job(const struct api_call *c, int status);
/* The same after a change that returned `rc`, or with its error. */
void api_reply_changed(const struct api_call *c, int rc, const struct err *err);

#endif
