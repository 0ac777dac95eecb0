/* Owns the names, HTTP statuses and exit codes of errors. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef err_set
#undef err_prefix

static const struct {
    const char *name;
    int http, exit;
} codes[] = {
#define X(code, name, http, exit) [ERR_##code] = {name, http, exit},
    ERR_CODES(X)
#undef X
};

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    if (!err)
        return -1;
    va_list args;
    err->code = code;
    va_start(args, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    return -1;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
    if (!err)
        return -1;
    char head[sizeof err->text], tail[sizeof err->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(head, sizeof head, fmt, args);
    va_end(args);
    memcpy(tail, err->text, sizeof tail);
    size_t n = strlen(head);
    memcpy(err->text, head, n + 1);
    strncat(err->text, ": ", sizeof err->text - 1 - n);
    n = strlen(err->text);
    strncat(err->text, tail, sizeof err->text - 1 - n);
    return -1;
}

const char *err_name(enum err_code code)
{
    return codes[code].name;
}

int err_http(enum err_code code)
{
    return codes[code].http;
}

int err_exit(enum err_code code)
{
    return codes[code].exit;
}
