/* Owns the finding of drawn bars. A drawing is a run of at least five marks that bars
 * are made of, between brackets or strokes, or a run of block characters. */
#include "progress/drawing.h"

#include <string.h>

#include "base/letter.h"

#define LEAST_MARKS 5

/* The length of the mark at i that a bar is made of, 0 = none: "=", "█", "━" ... */
static size_t mark_length(const struct progress_line *line, size_t i, bool *block)
{
    unsigned char c = (unsigned char)line->text[i];
    *block = false;
    /* The count may stand in the middle: "[=====> 9/20 ......]". */
    if (strchr("=#>.-*+_ ~oO@0123456789/", (char)c))
        return c != 0;
    if (i + 2 >= line->n || c != 0xe2)
        return 0;
    unsigned char second = (unsigned char)line->text[i + 1],
                  third = (unsigned char)line->text[i + 2];
    /* U+2500 to U+259F: lines and blocks; U+25A0 to U+25BF: squares. */
    *block = second >= 0x94 && second <= 0x96 && third >= 0x80 && third <= 0xbf;
    return *block ? 3 : 0;
}

/* The run of marks at i: its end; *blocks of them are block characters, *filled are not
 * blank. Digits are no marks themselves. */
static size_t skip_marks(const struct progress_line *line, size_t i, unsigned *marks,
                         unsigned *filled, unsigned *blocks)
{
    bool block;
    *marks = *filled = *blocks = 0;
    for (size_t n; i < line->n && (n = mark_length(line, i, &block)); i += n) {
        char c = line->text[i];
        if (letter_is_digit(c) || c == '/')
            continue;
        ++*marks;
        *filled += c != ' ' && c != '.';
        *blocks += block;
    }
    return i;
}

static bool is_drawn(const struct progress_line *line, size_t at, size_t *end)
{
    static const char pairs[][2] = {{'[', ']'}, {'|', '|'}, {'(', ')'}, {'<', '>'}};
    unsigned marks, filled, blocks;
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        if (line->text[at] != pairs[p][0])
            continue;
        size_t stop = skip_marks(line, at + 1, &marks, &filled, &blocks);
        *end = stop + 1;
        return stop < line->n && line->text[stop] == pairs[p][1] && marks >= LEAST_MARKS &&
               (filled || line->text[at + 1] == '.');
    }
    size_t stop = skip_marks(line, at, &marks, &filled, &blocks);
    *end = stop;
    /* Between the strokes of Knet's bars there may be blanks only. */
    size_t stroke = progress_line_find(line, at, "┫");
    if (progress_line_at(line, at, "┣") && stroke < stop && marks > LEAST_MARKS) {
        *end = stroke + strlen("┫");
        return true;
    }
    return line->text[at] != ' ' && blocks >= LEAST_MARKS;
}

bool progress_drawing_find(const struct progress_line *line, size_t *begin, size_t *end)
{
    for (size_t i = 0; i + LEAST_MARKS < line->n; i++) {
        if (!strchr("[|(<\xe2", line->text[i]) || !is_drawn(line, i, end))
            continue;
        *begin = i;
        return true;
    }
    return false;
}
