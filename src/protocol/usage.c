/* Owns the members of usage as JSON. */
#include "protocol/usage.h"

static const struct field members[] = {
#define X(name)                                                                                    \
    {#name, FIELD_I64 | FIELD_OPTIONAL, offsetof(struct usage, name), 0, INT64_MAX, NULL},
    USAGE_MEMBERS(X)
#undef X
        {0},
};

static const struct usage unknown = USAGE_UNKNOWN;

const struct record usage_record = {members, sizeof(struct usage), &unknown};
