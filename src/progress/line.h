/* A line as a list of numbers, each with the words in front of it: "iter 10: loss
 * 4.25, time 30ms" is 10 "iter", 4.25 "loss", 30 "time" with a unit. Dates, clock
 * times, versions, addresses and numbers inside words and paths are left out. */
#ifndef PROGRESS_LINE_H
#define PROGRESS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers beyond these are not looked at. */
#define PROGRESS_NUMBERS 64

struct progress_number {
    double value;    /* may be NaN or infinite */
    int64_t whole;   /* the value when it is written as a whole number, else -1 */
    uint16_t at;     /* where it begins, its sign included */
    uint16_t end;    /* after its last digit */
    uint16_t label;  /* where the words in front of it begin */
    uint8_t words;   /* bytes of them; 0 = none */
    char sep;        /* what joins them: ':' '=' '|' or ' ' */
    char open;       /* '[' or '(' when it stands at the beginning of such a group */
    uint8_t percent; /* a % follows */
    bool unit;       /* letters follow: 30ms, 6.7G */
    bool over;       /* the next number is what it is divided by: 10 of 10/100 */
    bool under;      /* the 100 of 10/100 */
    bool scaled;     /* both are written short: 1.2k/10k */
};

struct progress_line {
    const char *text;
    size_t n;
    bool continued;   /* not the beginning of a line */
    const char *eval; /* a title above says that it is of an evaluation: "test"; or NULL */
    unsigned count;
    struct progress_number number[PROGRESS_NUMBERS];
};

/* Borrows the text, of at most 65535 bytes; eval is NULL then. */
void progress_line_read(struct progress_line *line, const char *text, size_t n, bool continued);

/* Whether the text goes on with this word at `at`. */
bool progress_line_at(const struct progress_line *line, size_t at, const char *word);

/* Where the word is first found at or after `at`; line->n when it is not. */
size_t progress_line_find(const struct progress_line *line, size_t at, const char *word);

/* The word in the text; NULL when it is not there. */
const char *progress_find(const char *text, size_t n, const char *word);

#endif
