/* Archives in the form that engines take and give: POSIX tar. */
#ifndef RUNTIME_DOCKER_TAR_H
#define RUNTIME_DOCKER_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* ---- writing ---------------------------------------------------------------- */

/* Adds an entry. The name has fewer than 100 bytes and is relative. */
void tar_add_dir(struct str *out, const char *name, unsigned mode);
void tar_add_file(struct str *out, const char *name, unsigned mode, const char *bytes, size_t n);
/* Adds the end. */
void tar_end(struct str *out);

/* ---- reading ---------------------------------------------------------------- */

enum { TAR_BLOCK = 512, TAR_NAME = 101 };

struct tar_reader {
    char block[TAR_BLOCK]; /* of a header that is incomplete */
    size_t block_n;
    char name[TAR_NAME]; /* of the present entry, cut to what the header holds */
    bool file;           /* it is a regular file */
    int64_t left;        /* bytes of its content that are to come */
    int64_t padding;     /* and after them, up to the next header */
    bool ended;
};

/* Content of a regular file, in parts; n = 0 begins a file. */
typedef void (*tar_fn)(void *ctx, const char *name, const char *bytes, size_t n);

/* Takes the next bytes. Entries of other kinds are passed over. Fails on bytes that are not an
 * archive. */
int tar_feed(struct tar_reader *r, const char *bytes, size_t n, tar_fn fn, void *ctx,
             struct err *err);

#endif
