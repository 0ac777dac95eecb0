/* Members of the server's JSON objects. A member that is missing, null or of another type reads
 * as the default: a newer or older server may send more or less than this client knows. Pure. */
#ifndef CLI_MEMBER_H
#define CLI_MEMBER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Default "". */
const char *member_text(const json_t *object, const char *name);
/* Default NAN. */
double member_number(const json_t *object, const char *name);
/* Default 0. */
int64_t member_integer(const json_t *object, const char *name);
bool member_flag(const json_t *object, const char *name);
bool member_has(const json_t *object, const char *name);

#endif
