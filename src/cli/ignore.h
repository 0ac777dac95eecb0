/* Which files of a folder are left out: the rules of .dockerignore or .gitignore files. */
#ifndef CLI_IGNORE_H
#define CLI_IGNORE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

enum ignore_kind {
    IGNORE_GIT,    /* a pattern without '/' matches at any depth, and what is in a directory that is
                    * left out stays out */
    IGNORE_DOCKER, /* patterns begin at the root; the last one that matches decides */
};

struct ignore_rule {
    const char *pattern;
    const char *base; /* directory of its file, relative to the root; "" = the root */
    bool keep;        /* it began with '!' */
    bool dir;         /* it ended with '/': for directories only */
};

struct ignore {
    enum ignore_kind kind;
    struct arena arena;
    VEC(struct ignore_rule) rules;
};

void ignore_done(struct ignore *g);
/* Adds the rules of a file's text; `base` is the file's directory, relative to the root. */
void ignore_add(struct ignore *g, const char *base, const char *text);
/* Whether the file or directory, relative to the root, is left out. With IGNORE_GIT, its
 * directories have not been. */
bool ignore_matches(const struct ignore *g, const char *path, bool dir);

/* Whether the path matches a pattern with *, ?, [...] within a name, and ** for any directories. */
bool ignore_glob(const char *pattern, const char *path);

#endif
