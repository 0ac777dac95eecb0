/* Owns a small terminal: rows of characters and a cursor.
 *
 * Only the rows that can still be asked for or reached by the cursor are kept, in a
 * ring. A character is a code point, or a byte that is not part of one. */
#include "progress/screen.h"

#include <stdint.h>
#include <string.h>

#include "base/letter.h"
#include "base/mem.h"

/* Rows above the last that the cursor may go back to, as nested bars do. */
#define REACH 64
#define LINES_LIMIT 1000000
/* A column that no real output reaches. */
#define COLUMN_LIMIT 65536

struct row {
    uint32_t *at;
    size_t n, cap;
};

struct screen {
    struct row *rows; /* a ring */
    size_t size;
    size_t count; /* rows so far; row i is rows[i % size] while i + size >= count */
    size_t y, x;  /* the cursor */
};

static struct row *row_at(struct screen *s, size_t y)
{
    return &s->rows[y % s->size];
}

static void go_down(struct screen *s)
{
    s->y++;
    if (s->y == s->count) {
        s->count++;
        row_at(s, s->y)->n = 0;
    }
}

static void go_up(struct screen *s, size_t n)
{
    size_t oldest = s->count > s->size ? s->count - s->size : 0;
    size_t most = s->y - oldest;
    n = n < REACH ? n : REACH;
    s->y -= n < most ? n : most;
}

static void write_character(struct screen *s, uint32_t c)
{
    struct row *r = row_at(s, s->y);
    if (s->x >= r->cap) {
        size_t cap = 2 * s->x + 64;
        r->at = xreallocarray(r->at, cap, sizeof *r->at);
        r->cap = cap;
    }
    while (r->n < s->x)
        r->at[r->n++] = ' ';
    r->at[s->x++] = c;
    r->n = r->n > s->x ? r->n : s->x;
}

static void erase_line(struct screen *s, unsigned how)
{
    struct row *r = row_at(s, s->y);
    if (how == 2)
        r->n = 0;
    else if (how == 1)
        for (size_t i = 0; i < r->n && i <= s->x; i++)
            r->at[i] = ' ';
    else
        r->n = r->n < s->x ? r->n : s->x;
}

static void erase_below(struct screen *s)
{
    erase_line(s, 0);
    for (size_t y = s->y + 1; y < s->count; y++)
        row_at(s, y)->n = 0;
    s->count = s->y + 1;
}

/* A control sequence: its final letter, and its first argument. */
static void control(struct screen *s, char final, unsigned argument)
{
    size_t n = argument ? argument : 1;
    switch (final) {
    case 'A':
    case 'F':
        go_up(s, n);
        s->x = final == 'F' ? 0 : s->x;
        break;
    case 'B':
    case 'E':
        for (size_t i = 0; i < n && s->y + 1 < s->count; i++)
            s->y++;
        s->x = final == 'E' ? 0 : s->x;
        break;
    case 'C':
        s->x += n < COLUMN_LIMIT ? n : 0;
        s->x = s->x < COLUMN_LIMIT ? s->x : COLUMN_LIMIT;
        break;
    case 'D':
        s->x -= n < s->x ? n : s->x;
        break;
    case 'G':
        s->x = n <= COLUMN_LIMIT ? n - 1 : s->x;
        break;
    case 'J':
        if (argument == 0)
            erase_below(s);
        break;
    case 'K':
        erase_line(s, argument);
        break;
    default:
        break;
    }
}

/* Behind the escape sequence that begins at i. */
static size_t escape(struct screen *s, const char *text, size_t n, size_t i)
{
    if (++i == n)
        return n;
    if (text[i] == ']') { /* a title */
        while (i < n && text[i] != '\a' && text[i] != '\n' && text[i] != '\x1b')
            i++;
        return i < n && text[i] == '\a' ? i + 1 : i;
    }
    if (text[i] != '[')
        return i + 1 + (text[i] == '(' && i + 1 < n);
    unsigned argument = 0;
    bool first = true;
    for (i++; i < n && (unsigned char)text[i] >= 0x20 && !(text[i] >= '@' && text[i] <= '~'); i++) {
        first = first && letter_is_digit(text[i]);
        if (first && argument < COLUMN_LIMIT)
            argument = argument * 10 + (unsigned)(text[i] - '0');
    }
    if (i < n && text[i] >= '@' && text[i] <= '~')
        control(s, text[i++], argument);
    return i;
}

/* The character at i: a code point with its length, or a single byte. */
static size_t read_character(const char *text, size_t n, size_t i, uint32_t *out)
{
    unsigned char c = (unsigned char)text[i];
    size_t length = c >= 0xf0 && c < 0xf8 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    uint32_t packed = c;
    if (c >= 0xf8 || length > n - i)
        length = 1;
    for (size_t k = 1; k < length; k++) {
        if (((unsigned char)text[i + k] & 0xc0) != 0x80) {
            *out = c;
            return 1;
        }
        packed |= (uint32_t)(unsigned char)text[i + k] << (8 * k);
    }
    *out = packed;
    return length;
}

static void render(struct screen *s, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t c;
        switch (text[i]) {
        case '\n':
            go_down(s);
            s->x = 0;
            i++;
            break;
        case '\r':
            s->x = 0;
            i++;
            break;
        case '\b':
            s->x -= s->x > 0;
            i++;
            break;
        case '\x1b':
            i = escape(s, text, n, i);
            break;
        default:
            if ((unsigned char)text[i] < 0x20 && text[i] != '\t') {
                i++;
                break;
            }
            i += read_character(text, n, i, &c);
            write_character(s, c);
        }
    }
}

/* The bytes of a character lie in its number from the lowest on. */
static void add_row(const struct row *r, struct str *out)
{
    size_t n = r->n;
    while (n && r->at[n - 1] == ' ')
        n--;
    for (size_t i = 0; i < n; i++) {
        char bytes[4];
        size_t length = 0;
        for (uint32_t c = r->at[i]; c; c >>= 8)
            bytes[length++] = (char)c;
        str_add_n(out, bytes, length);
    }
    str_add(out, "\n");
}

void progress_screen_tail(const char *text, size_t n, unsigned lines, struct str *out)
{
    lines = lines < LINES_LIMIT ? lines : LINES_LIMIT;
    struct screen s = {.size = (size_t)lines + REACH, .count = 1};
    s.rows = xcalloc(s.size, sizeof *s.rows);
    render(&s, text, n);
    /* Behind the last newline there is no line yet. */
    size_t count = s.count - !row_at(&s, s.count - 1)->n;
    for (size_t y = count > lines ? count - lines : 0; y < count; y++)
        add_row(row_at(&s, y), out);
    for (size_t i = 0; i < s.size; i++)
        free(s.rows[i].at);
    free(s.rows);
}
