/* Members of the JSON objects that the server answers with. One that is not there,
 * is null or of another type reads as nothing: a newer or older server may say more
 * or less than this client knows. Pure. */
#ifndef CLI_MEMBER_H
#define CLI_MEMBER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* "" when there is none. */
const char *member_text(const json_t *object, const char *name);
/* NAN when there is none. */
double member_number(const json_t *object, const char *name);
/* 0 when there is none. */
int64_t member_integer(const json_t *object, const char *name);
bool member_flag(const json_t *object, const char *name);
bool member_has(const json_t *object, const char *name);

#endif
