/* The submitters' environments. They may hold secrets, so they are in no row of the store, but in
 * one file for each request, which only the server's user can read. It is there as long as a
 * job of the request may start: until all of them are over. */
#ifndef SERVER_JOBS_ENVIRONMENT_H
#define SERVER_JOBS_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "wire/spec.h"

/* Writes the variables to the file of the request. It is on disk when this returns. */
int environment_keep(const char *state_dir, int64_t request, const struct spec_list *variables,
                     struct err *err);
/* Reads them into s->environment; ERR_NOT_FOUND if there is no file, ERR_IO if it cannot be read
 * or is not one. */
int environment_read(const char *state_dir, int64_t request, struct spec *s, struct err *err);
/* Removes the file. */
void environment_forget(const char *state_dir, int64_t request);
/* Removes the files of all requests for which `is_live` is false. */
void environment_sweep(const char *state_dir, bool (*is_live)(void *ctx, int64_t request),
                       void *ctx);

#endif
