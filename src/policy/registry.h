/* All policies, and presets made of them. */
#ifndef POLICY_REGISTRY_H
#define POLICY_REGISTRY_H

#include <stddef.h>

#include "policy/policy.h"

/* A well-known system, as a combination of three policies. */
struct preset {
    const char *name, *summary, *spec;
};

extern const struct policy *const policies[]; /* NULL-terminated, by axis */
extern const struct preset presets[];         /* ends with a NULL name */

/* The policy or preset with this name, which need not end after `length`; NULL = none. */
const struct policy *registry_find_policy(const char *name, size_t length);
const struct preset *registry_find_preset(const char *name, size_t length);

#endif
