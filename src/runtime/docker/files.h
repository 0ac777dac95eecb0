/* The files of a container, through the archives of its engine. */
#ifndef RUNTIME_DOCKER_FILES_H
#define RUNTIME_DOCKER_FILES_H

#include "runtime/docker/docker.h"

/* Reads a small file of the attempt; `then` gets its text, or ERR_NOT_FOUND. */
typedef void (*file_fn)(struct docker_attempt *a, const struct str *text, const struct err *err);
void file_read(struct docker_attempt *a, const char *name, file_fn then);
/* Forgets what is being read. */
void file_done(struct docker_attempt *a);
/* The archive to put into a new container. */
void files_pack(const struct runtime *r, const struct docker_start *s, struct str *out);
/* Reads our own programs. */
int files_load_tools(struct runtime *r, struct err *err);

#endif
