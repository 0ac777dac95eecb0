/* A folder as an archive: the same content gives the same bytes. */
#ifndef CLI_PACK_H
#define CLI_PACK_H

#include <stdint.h>

#include "base/err.h"
#include "wire/digest.h"

/* The most that is packed. */
#define PACK_MAX (INT64_C(1) << 30)

struct pack {
    int fd; /* of the archive, which has no name; -1 = none */
    int64_t bytes;
    uint32_t files;
    char digest[DIGEST_SIZE];
};

/* Packs the folder without what its .dockerignore, or otherwise its .gitignore files, leave out;
 * .git and __pycache__ are always left out. Needs the program tar. */
int pack_make(const char *dir, struct pack *out, struct err *err);
void pack_done(struct pack *p);

#endif
