/* A file that appears whole or not at all: it is written beside its place and
 * renamed into it. Something at that place that is no regular file (a pipe, a
 * terminal, /dev/stdout) is written to directly. */
#ifndef SIM_REPORT_OUTFILE_H
#define SIM_REPORT_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct outfile {
    FILE *stream;
    char *name;  /* as the caller spelt it, for messages */
    char *place; /* where it goes, links followed */
    char *temp;  /* its name until then; NULL when it is written directly, or has none yet */
    bool nameless;
};

/* Opens the stream to write to. An existing file is left alone until the
 * commit; a link is followed. */
int outfile_open(struct outfile *f, const char *path, struct err *err);

/* Closes the file and puts it in place, with the permissions of the one that
 * it replaces. A write that failed since the opening is reported here. On
 * failure nothing is left behind and an existing file is as it was. */
int outfile_commit(struct outfile *f, struct err *err);

#endif
