/* Owns how members are read: absent, null and wrong types are the same. */
#include "cli/member.h"

#include <math.h>

const char *member_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

double member_number(const json_t *object, const char *name)
{
    const json_t *v = json_object_get(object, name);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

int64_t member_integer(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

bool member_flag(const json_t *object, const char *name)
{
    return json_is_true(json_object_get(object, name));
}

bool member_has(const json_t *object, const char *name)
{
    const json_t *v = json_object_get(object, name);
    return v && !json_is_null(v);
}
