/* Owns the way from raw output to lines: the window, backspaces, escapes.
 *
 * Most output is plain lines that lie whole in the piece that was fed: these are
 * handed over where they are. Anything else is gathered in the window. */
#include "progress/text.h"

#include <string.h>

enum { ESCAPE_NONE, ESCAPE_START, ESCAPE_CSI, ESCAPE_STRING, ESCAPE_CHARSET };

/* Sequences that never end must not eat the output. */
#define CSI_LIMIT 64
#define STRING_LIMIT 2048

/* So many backspaces redraw what was there; a single one turns a spinner. */
#define REDRAW 2

/* A word this long at the end of a full window is cut. */
#define WORD_LIMIT 256

struct sink {
    progress_line_fn fn;
    void *ctx;
};

static void end_line(struct progress_text *t, const struct sink *to)
{
    if (t->n)
        to->fn(to->ctx, t->line, t->n, t->continued);
    t->n = 0;
    t->back = 0;
    t->over = false;
    t->continued = false;
    t->skipping = false;
}

/* The window is full: hands over what it has up to the last blank. */
static void cut_line(struct progress_text *t, const struct sink *to)
{
    size_t cut = t->n;
    while (cut > (size_t)t->n - WORD_LIMIT && t->line[cut - 1] != ' ')
        cut--;
    bool blank = t->line[cut - 1] == ' ';
    if (!blank)
        cut = t->n;
    to->fn(to->ctx, t->line, cut, t->continued);
    memmove(t->line, t->line + cut, t->n - cut);
    t->n = (uint16_t)(t->n - cut);
    t->continued = true;
    t->skipping = !blank;
}

static bool is_tail_byte(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Moves the cursor as the backspaces say. What they go back over stays until it is
 * overwritten; a redraw that begins at the beginning of the line starts a new one. */
static void go_back(struct progress_text *t, const struct sink *to)
{
    size_t at = t->over ? t->cursor : t->n;
    for (unsigned i = 0; i < t->back && at; i++) {
        at--;
        while (at && is_tail_byte(t->line[at]))
            at--;
    }
    if (t->back >= REDRAW && t->n)
        to->fn(to->ctx, t->line, t->n, t->continued);
    if (!at && t->back >= REDRAW)
        t->n = 0;
    t->cursor = (uint16_t)at;
    t->over = at < t->n;
    t->back = 0;
}

/* Writes a byte where the cursor is, in place of the character there. */
static void overwrite(struct progress_text *t, char c)
{
    size_t at = t->cursor, old = 0;
    if (!is_tail_byte(c)) {
        old = 1;
        while (at + old < t->n && is_tail_byte(t->line[at + old]))
            old++;
    }
    memmove(t->line + at + 1, t->line + at + old, t->n - at - old);
    t->n = (uint16_t)(t->n + 1 - old);
    t->line[at] = c;
    t->cursor++;
    t->over = t->cursor < t->n;
}

static void add_byte(struct progress_text *t, char c, const struct sink *to)
{
    if (t->back)
        go_back(t, to);
    if (t->skipping) {
        t->skipping = c != ' ' && c != '\t';
        return;
    }
    if (t->over)
        overwrite(t, c);
    else
        t->line[t->n++] = c;
    if (t->n == PROGRESS_WINDOW) {
        t->over = false;
        cut_line(t, to);
    }
}

/* What a finished control sequence means for a reader of lines. */
static void end_csi(struct progress_text *t, char final, const struct sink *to)
{
    switch (final) {
    case 'A': /* movements */
    case 'B':
    case 'E':
    case 'F':
    case 'G':
    case 'H':
    case 'f':
    case 'J': /* the screen is erased */
    case 'd':
    case 'u':
        end_line(t, to);
        break;
    case 'K': /* a line is erased: 0 only what is right of the cursor */
        if (t->argument == '1' || t->argument == '2')
            end_line(t, to);
        break;
    case 'C':
        add_byte(t, ' ', to);
        break;
    default:
        break;
    }
}

static void start_escape(struct progress_text *t, char c)
{
    switch (c) {
    case '[':
        t->escape = ESCAPE_CSI;
        t->argument = 0;
        break;
    case ']':
    case 'P':
    case '^':
    case '_':
    case 'X':
        t->escape = ESCAPE_STRING;
        break;
    case '(':
    case ')':
    case '*':
    case '+':
        t->escape = ESCAPE_CHARSET;
        break;
    default:
        t->escape = ESCAPE_NONE;
        break;
    }
    t->length = 0;
}

/* A byte inside an escape sequence. */
static void escape_byte(struct progress_text *t, char c, const struct sink *to)
{
    t->length++;
    switch (t->escape) {
    case ESCAPE_START:
        start_escape(t, c);
        break;
    case ESCAPE_CSI:
        if (c >= '0' && c <= '9' && !t->argument)
            t->argument = (uint8_t)c;
        if (c >= '@' && c <= '~') {
            t->escape = ESCAPE_NONE;
            end_csi(t, c, to);
        } else if (t->length > CSI_LIMIT) {
            t->escape = ESCAPE_NONE;
        }
        break;
    case ESCAPE_STRING:
        if (c == '\a' || t->length > STRING_LIMIT)
            t->escape = ESCAPE_NONE;
        break;
    default:
        t->escape = ESCAPE_NONE;
        break;
    }
}

static void control_byte(struct progress_text *t, char c, const struct sink *to)
{
    switch (c) {
    case '\n':
    case '\r':
    case '\v':
    case '\f':
        t->escape = ESCAPE_NONE;
        end_line(t, to);
        break;
    case '\x1b':
        t->escape = ESCAPE_START;
        t->length = 0;
        break;
    case '\b':
        if (t->back < UINT16_MAX)
            t->back++;
        break;
    case '\t':
        add_byte(t, c, to);
        break;
    case '\a':
        if (t->escape)
            escape_byte(t, c, to);
        break;
    default:
        break;
    }
}

/* The first byte below 0x20; end when there is none. Eight at a time: this is
 * the one loop that sees every byte. */
static const char *find_control(const char *p, const char *end)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    for (; end - p >= 8; p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        if ((word - ones * 0x20) & ~word & (ones * 0x80))
            break;
    }
    while (p < end && (unsigned char)*p >= 0x20)
        p++;
    return p;
}

/* The end of the plain line that begins at p: its newline or carriage return,
 * NULL when it holds anything but text and tabs, is long, or goes on. */
static const char *plain_end(const char *p, const char *end)
{
    const char *stop = end - p > PROGRESS_WINDOW ? p + PROGRESS_WINDOW : end;
    for (const char *q = p; (q = find_control(q, stop)) < stop; q++) {
        if (*q == '\n' || *q == '\r')
            return q;
        if (*q != '\t')
            return NULL;
    }
    return NULL;
}

static void add_run(struct progress_text *t, const char *p, size_t n, const struct sink *to)
{
    while (n) {
        if (t->back || t->over || t->skipping || t->n == PROGRESS_WINDOW - 1) {
            add_byte(t, *p++, to);
            n--;
            continue;
        }
        size_t room = (size_t)(PROGRESS_WINDOW - 1 - t->n);
        size_t part = n < room ? n : room;
        memcpy(t->line + t->n, p, part);
        t->n = (uint16_t)(t->n + part);
        p += part;
        n -= part;
    }
}

void progress_text_feed(struct progress_text *t, const char *bytes, size_t n, progress_line_fn fn,
                        void *ctx)
{
    struct sink to = {fn, ctx};
    const char *p = bytes, *end = bytes + n;
    while (p < end) {
        bool fresh = !t->n && !t->escape && !t->back && !t->skipping && !t->continued;
        const char *stop = fresh ? plain_end(p, end) : NULL;
        if (stop) {
            if (stop > p)
                fn(ctx, p, (size_t)(stop - p), false);
            p = stop + 1;
            continue;
        }
        /* Up to the end of this line, byte by byte where it matters. */
        do {
            unsigned char c = (unsigned char)*p;
            if (c < 0x20) {
                control_byte(t, *p++, &to);
            } else if (t->escape) {
                escape_byte(t, *p++, &to);
            } else {
                const char *run = find_control(p, end);
                add_run(t, p, (size_t)(run - p), &to);
                p = run;
            }
        } while (p < end && (t->n || t->escape || t->back || t->skipping || t->continued));
    }
}

void progress_text_peek(const struct progress_text *t, progress_line_fn fn, void *ctx)
{
    if (t->n && !t->escape)
        fn(ctx, t->line, t->n, t->continued);
}
