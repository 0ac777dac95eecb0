/* The conductor's own warnings: lines in the file conductor.log of the attempt, of which
 * the first few also go to the server and into exit.json. The file is created with the
 * first one. */
#ifndef CONDUCTOR_NOTES_H
#define CONDUCTOR_NOTES_H

#include <stddef.h>
#include <stdint.h>

enum { NOTES_MAX = 6, NOTES_TEXT = 256 };

struct notes {
    int dir, fd; /* dir is borrowed; fd -1 = not open yet */
    int64_t job, attempt;
    int64_t written; /* bytes */
    size_t n;
    char text[NOTES_MAX][NOTES_TEXT]; /* the first ones */
};

void notes_init(struct notes *n, int dir);
void notes_done(struct notes *n);

/* A text that does not fit is cut; a file that has grown too large takes no more. */
void notes_add(struct notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Replaces what would break a line or a terminal, and what is not UTF-8. */
void notes_clean(char *text);

#endif
