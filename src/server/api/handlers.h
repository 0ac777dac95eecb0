/* The handlers of the API, and what they share. Only the files api*.c include this. */
#ifndef SERVER_API_HANDLERS_H
#define SERVER_API_HANDLERS_H

#include <jansson.h>

#include "http/reply.h"
#include "http/request.h"
#include "http/router.h"
#include "server/yard.h"

/* ---- the questions that most handlers ask first ---------------------------
 * Each answers a request that is wrong and then returns false. */

/* The query has only parameters that the operation knows, each once. */
bool api_check_query(const struct request *q, struct reply *r);
/* The job that {id} means. */
bool api_find_job(struct yard *y, const struct request *q, struct reply *r, int64_t *id);
/* The body as an object that has only members of the operation's schema; an empty
 * object when there is none and none is needed. The caller owns it. */
bool api_get_body(const struct request *q, struct reply *r, json_t **body);
/* A whole number, or a yes or no, of the query; *value stays when it is not there. */
bool api_get_int(const struct request *q, struct reply *r, const char *name, int64_t lo, int64_t hi,
                 int64_t *value);
bool api_get_flag(const struct request *q, struct reply *r, const char *name, bool *value);

/* Answers with the whole job as it is now, once that is on disk. */
void api_reply_job(struct yard *y, struct reply *r, int status, int64_t id);

/* ---- handlers -------------------------------------------------------------- */

#define API_HANDLERS(X)                                                                            \
    X(jobs_submit)                                                                                 \
    X(jobs_list)                                                                                   \
    X(job_show)                                                                                    \
    X(job_change)                                                                                  \
    X(job_cancel)                                                                                  \
    X(job_hold)                                                                                    \
    X(job_release)                                                                                 \
    X(job_requeue)                                                                                 \
    X(job_resize)                                                                                  \
    X(job_logs)                                                                                    \
    X(job_progress)                                                                                \
    X(job_explain)                                                                                 \
    X(job_hosts)                                                                                   \
    X(nodes_list)                                                                                  \
    X(node_show)                                                                                   \
    X(node_drain)                                                                                  \
    X(node_undrain)                                                                                \
    X(policy_show)                                                                                 \
    X(policy_set)                                                                                  \
    X(events)                                                                                      \
    X(decisions)

#define X(name) void api_##name(const struct request *q, struct reply *r, void *ctx);
API_HANDLERS(X)
#undef X

#endif
