/* Errors as application/problem+json (RFC 9457), with a stable `code` and, if one field of the
 * input is wrong, its name. Pure.
 *
 *   {"type":"about:blank","title":"Not Found","status":404,"code":"not_found",
 *    "detail":"job 17","field":"id"} */
#ifndef HTTP_PROBLEM_H
#define HTTP_PROBLEM_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

#define PROBLEM_TYPE "application/problem+json"

struct problem {
    int status;
    const char *code;
    const char *detail;
    const char *field; /* NULL = none */
};

/* Appends the object. `title` is the reason phrase of the status. */
void problem_add_json(const struct problem *p, const char *title, struct str *out);

/* Turns the reply to a failed request into an error: code and text of the problem object, or
 * from the status when the body is not one. Returns -1. */
int problem_to_err(int status, const char *body, size_t n, struct err *err);

#endif
