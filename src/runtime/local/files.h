/* The files of an attempt: STATE/jobs/JOB/ATTEMPT/. */
#ifndef RUNTIME_LOCAL_FILES_H
#define RUNTIME_LOCAL_FILES_H

#include "runtime/runtime.h"

/* Its directory; the caller frees it. */
char *files_dir(const struct runtime *r, struct attempt_id id);

/* Makes the directory, and those above it that are missing. */
int files_make_dir(const char *dir, bool *is_new, struct err *err);

/* Writes what the conductor finds in the directory: the script, the directory for
 * checkpoints, spec.json last. Nothing of it needs to survive a crash of the machine: an
 * attempt without a claim is given up, and its job is started again. */
int files_write(const char *dir, const struct runtime_start *start, struct err *err);

/* Removes what may hold secrets: spec.json has the job's environment. */
void files_forget(const struct runtime *r, struct attempt_id id);

#endif
