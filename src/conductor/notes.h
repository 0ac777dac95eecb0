/* The conductor's own warnings: lines in the file conductor.log of the attempt. The first few
 * also go to the server and into exit.json. The first warning creates the file. */
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

/* Cuts a text that does not fit, and drops it if the file has grown too large. */
void notes_add(struct notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Replaces control characters and invalid UTF-8. */
void notes_clean(char *text);

#endif
