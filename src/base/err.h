/* Errors: a code and a text on the caller's stack. A function that can fail returns 0 or -1,
 * takes `struct err *` last and leaves its outputs untouched on failure. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/* code, name in the API, HTTP status, exit code of the command line */
#define ERR_CODES(X)                                                                               \
    X(OK, "ok", 200, 0)                                                                            \
    X(INVALID, "invalid", 400, 2)                                                                  \
    X(DENIED, "denied", 403, 1)                                                                    \
    X(NOT_FOUND, "not_found", 404, 1)                                                              \
    X(CONFLICT, "conflict", 409, 1)                                                                \
    X(LIMIT, "limit", 413, 1)                                                                      \
    X(IO, "io", 500, 1)                                                                            \
    X(INTERNAL, "internal", 500, 1)                                                                \
    X(UNREACHABLE, "unreachable", 503, 3)

enum err_code {
#define X(code, name, http, exit) ERR_##code,
    ERR_CODES(X)
#undef X
};

struct err {
    enum err_code code;
    char text[256];
};

/* Fills *err (which may be NULL) and returns -1, so that a failing function can `return
 * err_set(...)`. Truncates a text that does not fit. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Prepends "<text>: " to the text of *err; returns -1. */
int err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Tells the compiler and static checks, which do not see the function body, that the result is
 * -1. */
static inline int err_failed(int result)
{
    (void)result;
    return -1;
}
#define err_set(...) err_failed(err_set(__VA_ARGS__))
#define err_prefix(...) err_failed(err_prefix(__VA_ARGS__))

const char *err_name(enum err_code code);
int err_http(enum err_code code);
int err_exit(enum err_code code);

#endif
