/* The fields of a job request that grow: words, environment, dependencies. All
 * live in the request's arena. */
#ifndef WIRE_SPEC_LISTS_H
#define WIRE_SPEC_LISTS_H

#include "wire/spec.h"

/* Adds a word, up to the length that the kernel accepts as one argument. */
int spec_list_add(struct spec *s, struct spec_list *list, const char *text, struct err *err);

/* Adds KEY=VALUE to one of its lists of variables, or replaces the one with this key. */
int spec_env_add(struct spec *s, struct spec_list *env, const char *text, struct err *err);
/* The value of a variable; NULL when it is not set. */
const char *spec_env_get(const struct spec_list *env, const char *key, size_t length);

/* Adds "afterok:12,13", "afterok:12:13,afterany:14" or "singleton". */
int spec_deps_add(struct spec *s, const char *text, struct err *err);
/* "afterok", ... */
const char *spec_dep_name(enum spec_dep_kind kind);

#endif
