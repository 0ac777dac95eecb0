/* Owns the forms of the token, and when a cookie counts. The cookie is the token in hexadecimal,
 * because a token may have characters that a cookie cannot. */
#include "http/token.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "http/reply.h"
#include "http/request.h"

const char *token_bearer(const struct request *r)
{
    const char *given = request_header(r, "Authorization");
    return given && !strncasecmp(given, "Bearer ", 7) ? given + 7 : NULL;
}

bool token_same(const char *given, const char *token)
{
    size_t n = strlen(token), given_n = strlen(given);
    unsigned char different = n != given_n;
    for (size_t i = 0; i < given_n; i++)
        different |= (unsigned char)(given[i] ^ token[i < n ? i : n]);
    return !different;
}

static void add_hex(struct str *out, const char *text)
{
    for (; *text; text++)
        str_addf(out, "%02x", (unsigned char)*text);
}

void token_set_cookie(struct reply *r, const char *token, int64_t seconds)
{
    struct str text = {0};
    str_add(&text, TOKEN_COOKIE "=");
    add_hex(&text, token);
    str_addf(&text, "; Path=/; Max-Age=%" PRId64 "; HttpOnly; SameSite=Strict", seconds);
    reply_header(r, "Set-Cookie", text.at);
    str_done(&text);
}

bool token_in_cookie(const char *cookie, const char *token)
{
    struct str right = {0};
    str_add(&right, "");
    add_hex(&right, token);
    bool same = right.at && token_same(cookie, right.at);
    str_done(&right);
    return same;
}

bool token_cookie_counts(const struct request *r)
{
    const char *origin = request_header(r, "Origin"), *host = request_header(r, "Host");
    const char *from = origin ? strstr(origin, "://") : NULL;
    if (!strcmp(r->method, "GET") || !strcmp(r->method, "HEAD"))
        return true;
    return from && host && !strcasecmp(from + strlen("://"), host);
}
