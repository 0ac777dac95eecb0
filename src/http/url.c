/* Owns the syntax of request targets (RFC 3986, and the form encoding of query strings). The
 * functions work in place on the caller's NUL-terminated buffer: decoding never makes text
 * longer. */
#include "http/url.h"

#include <string.h>

/* More parameters than any real query has. */
#define QUERY_LIMIT 256

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int url_decode(char *text, bool plus, struct err *err)
{
    char *to = text;
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '%') {
            int high = hex_digit(p[1]), low = high < 0 ? -1 : hex_digit(p[2]);
            if (low < 0)
                return err_set(err, ERR_INVALID,
                               "'%%' must be followed by two hexadecimal digits; "
                               "write a percent sign as %%25");
            c = (unsigned char)(high * 16 + low);
            p += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        if (c < 0x20 || c == 0x7f)
            return err_set(err, ERR_INVALID, "control character 0x%02x in the address", c);
        *to++ = (char)c;
    }
    *to = '\0';
    if (text[str_valid_utf8(text)])
        return err_set(err, ERR_INVALID, "the address is not valid UTF-8");
    return 0;
}

/* The path of an absolute target: what follows the host, or "/". */
static char *after_authority(char *target, size_t scheme)
{
    char *host = target + scheme, *path = host + strcspn(host, "/?");
    if (*path == '/')
        return path;
    /* "http://host?x" and "http://host" mean "/", which overwrites the end of the host. */
    path[-1] = '/';
    return path - 1;
}

int url_split(char *target, char **path, char **query, struct err *err)
{
    if (!strncmp(target, "http://", 7))
        target = after_authority(target, 7);
    else if (!strncmp(target, "https://", 8))
        target = after_authority(target, 8);
    if (*target != '/' && strcmp(target, "*") != 0)
        return err_set(err, ERR_INVALID, "the address must start with '/'");
    if (strchr(target, ' '))
        return err_set(err, ERR_INVALID, "the address must not contain a blank; write it as %%20");
    if (strchr(target, '#'))
        return err_set(err, ERR_INVALID, "the address must not contain '#'; write it as %%23");
    char *mark = strchr(target, '?');
    if (mark)
        *mark++ = '\0';
    *path = target;
    *query = mark;
    return 0;
}

int url_segments(char *path, char **segments, size_t cap, struct err *err)
{
    int n = 0;
    if (*path == '/')
        path++;
    for (char *next; path; path = next) {
        next = strchr(path, '/');
        if (next)
            *next++ = '\0';
        if (url_decode(path, false, err) < 0)
            return -1;
        if ((size_t)n < cap)
            segments[n] = path;
        n++;
    }
    return n;
}

int url_parse_query(char *text, struct url_query *out, struct err *err)
{
    for (char *next; text; text = next) {
        next = strchr(text, '&');
        if (next)
            *next++ = '\0';
        if (!*text)
            continue;
        char *equals = strchr(text, '='), *value = text + strlen(text);
        if (equals) {
            *equals = '\0';
            value = equals + 1;
        }
        if (url_decode(text, true, err) < 0 || url_decode(value, true, err) < 0)
            return -1;
        if (out->n >= QUERY_LIMIT)
            return err_set(err, ERR_INVALID, "more than %d query parameters", QUERY_LIMIT);
        VEC_PUSH(out, (struct url_pair){text, value});
    }
    return 0;
}

void url_add_escaped(struct str *s, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-._~";
    while (*text) {
        size_t n = strspn(text, plain);
        str_add_n(s, text, n);
        text += n;
        if (*text)
            str_addf(s, "%%%02X", (unsigned char)*text++);
    }
}
