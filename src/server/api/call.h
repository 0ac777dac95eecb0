/* Reads a request for its handler: checks it against the endpoint's entry, parses its
 * parameters, and looks up its job or node. */
#ifndef SERVER_API_CALL_H
#define SERVER_API_CALL_H

#include "server/api/endpoint.h"

/* Fills *c, whose yard, request and reply are set. If the request is invalid, sends an error
 * and returns false. The caller releases c->body. */
bool api_call_read(const struct endpoint *e, struct api_call *c);

/* The role that an endpoint needs; ROLE_NONE if it is open. */
enum role endpoint_role(const struct endpoint *e);
/* Whether the caller may do this to what belongs to `user`; otherwise sends an error. `what` is
 * "job 12". */
bool api_may_change(const struct api_call *c, const char *user, const char *what);

/* The same for the job in the path. */
bool api_owns_job(const struct api_call *c);

/* Replies with ERR_INVALID and "field: text". */
void api_refuse(const struct api_call *c, const char *field, const char *text);

/* Replies with the job as it is now, once that is on disk. */
void api_reply_job(const struct api_call *c, int status);
/* The same after a change that returned `rc`, or the error if it failed. */
void api_reply_changed(const struct api_call *c, int rc, const struct err *err);

#endif
