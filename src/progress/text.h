/* Raw output to lines of plain text. A carriage return, a cursor movement and an
 * erased line end a line as a newline does, since a bar is redrawn that way;
 * colours and other escape sequences, NUL and the rest of the control characters
 * are dropped. Bytes of UTF-8 pass as they are. */
#ifndef PROGRESS_TEXT_H
#define PROGRESS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer line is handed over in parts of at most this many bytes. */
#define PROGRESS_WINDOW 4096

struct progress_text {
    uint16_t n;       /* bytes of the line so far */
    uint16_t back;    /* backspaces that nothing has followed yet */
    uint16_t cursor;  /* where the next byte goes, when `over` */
    bool over;        /* the cursor is not at the end: what is there is overwritten */
    uint8_t escape;   /* where in an escape sequence: text.c */
    uint8_t argument; /* first digit of its argument */
    uint16_t length;  /* bytes of the sequence */
    bool continued;   /* what is held is not the beginning of its line */
    bool skipping;    /* in a word that was cut by the window */
    char line[PROGRESS_WINDOW];
};

/* Takes a line, or a part of one (`continued`) that begins and ends between
 * words. The bytes are valid during the call; n > 0. */
typedef void (*progress_line_fn)(void *ctx, const char *line, size_t n, bool continued);

void progress_text_feed(struct progress_text *t, const char *bytes, size_t n, progress_line_fn fn,
                        void *ctx);

/* Hands over the line that has no end yet, and keeps it. */
void progress_text_peek(const struct progress_text *t, progress_line_fn fn, void *ctx);

#endif
