/* The files of a profile directory: a folder for each application, with tables for each GPU
 * type or for all. */
#ifndef SIM_TRACE_PROFILE_FILES_H
#define SIM_TRACE_PROFILE_FILES_H

#include "base/err.h"
#include "base/mem.h"

enum { PROFILE_PATH = 4096 };

struct name_list {
    char **at;
    size_t n, cap;
};

/* Names in a directory, sorted, without the hidden ones. */
int profile_list(const char *path, struct name_list *out, struct err *err);
void name_list_done(struct name_list *l);

/* The application's own directory. The name must be one of those that are there, so that a
 * trace cannot point elsewhere. */
int profile_application(const char *directory, const char *application, char path[PROFILE_PATH],
                        struct err *err);

/* "STEM-TYPE.csv" if the type has its own, "STEM.csv" if none has. */
int profile_typed(const char *path, const char *stem, const char *type, char file[PROFILE_PATH],
                  struct err *err);

#endif
