/* Owns the header and the cookie that have a client's token, and when the cookie counts. */
#include "http/token.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "http/reply.h"
#include "http/request.h"

#define COOKIE "trainyard"

const char *token_bearer(const struct request *r)
{
    const char *given = request_header(r, "Authorization");
    return given && !strncasecmp(given, "Bearer ", 7) ? given + 7 : NULL;
}

static bool comes_from_here(const struct request *r)
{
    const char *origin = request_header(r, "Origin"), *host = request_header(r, "Host");
    const char *from = origin ? strstr(origin, "://") : NULL;
    if (!strcmp(r->method, "GET") || !strcmp(r->method, "HEAD"))
        return true;
    return from && host && !strcasecmp(from + strlen("://"), host);
}

const char *token_cookie(const struct request *r)
{
    return comes_from_here(r) ? request_cookie(r, COOKIE) : NULL;
}

bool token_is_foreign(const struct request *r)
{
    return !comes_from_here(r) && request_cookie(r, COOKIE);
}

void token_set_cookie(const struct request *q, struct reply *r, const char *value, int64_t seconds)
{
    struct str text = {0};
    str_addf(&text, COOKIE "=%s; Path=/; Max-Age=%" PRId64 "; HttpOnly; SameSite=Strict%s", value,
             seconds, q->peer->tls ? "; Secure" : "");
    reply_header(r, "Set-Cookie", text.at);
    str_done(&text);
}
