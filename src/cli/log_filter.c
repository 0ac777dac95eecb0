/* Owns what part of a log reaches a terminal. The beginning of a sequence is held back until it
 * is complete. "ESC [ digits ; digits letter" passes with the letter m or K; a character beyond
 * ASCII passes when it is valid UTF-8 and not a control character. */
#include "cli/log_filter.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { ESC = 0x1b };

static bool passes(unsigned char c)
{
    return (c && strchr("\n\r\t\b", c)) || (c >= 0x20 && c < 0x7f);
}

/* Adds one byte of ASCII; a control character is shown as ^[. */
static void add_ascii(struct str *out, unsigned char c)
{
    if (passes(c))
        str_add_n(out, (const char *)&c, 1);
    else
        str_addf(out, "^%c", c == 0x7f ? '?' : c + '@');
}

static size_t length_of(unsigned char first)
{
    return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
}

/* Releases what is held: it is not a sequence that passes, or half a character. */
static void release(struct log_filter *f, struct str *out)
{
    if (f->n && f->held[0] != ESC)
        str_add(out, "\xef\xbf\xbd");
    else
        for (size_t i = 0; i < f->n; i++)
            add_ascii(out, (unsigned char)f->held[i]);
    f->n = 0;
}

static void hold(struct log_filter *f, unsigned char c)
{
    f->held[f->n++] = (char)c;
    f->held[f->n] = '\0';
}

/* Takes the next byte of an escape sequence; false when the sequence does not pass. */
static bool take_escape(struct log_filter *f, unsigned char c, struct str *out)
{
    bool number = isdigit(c) || c == ';' || c == ':';
    if (f->n == 1 ? c == '[' : number && f->n + 2 < sizeof f->held) {
        hold(f, c);
        return true;
    }
    if (f->n == 1 || (c != 'm' && c != 'K'))
        return false;
    hold(f, c);
    str_add_n(out, f->held, f->n);
    f->n = 0;
    return true;
}

/* Takes the next byte of a character; false when it does not belong to it. */
static bool take_character(struct log_filter *f, unsigned char c, struct str *out)
{
    if ((c & 0xc0) != 0x80)
        return false;
    hold(f, c);
    if (f->n < length_of((unsigned char)f->held[0]))
        return true;
    bool control = (unsigned char)f->held[0] == 0xc2 && c < 0xa0;
    if (str_valid_utf8(f->held) == f->n && !control) {
        str_add_n(out, f->held, f->n);
        f->n = 0;
    } else {
        release(f, out);
    }
    return true;
}

static void add_byte(struct log_filter *f, unsigned char c, struct str *out)
{
    if (f->n) {
        bool taken = f->held[0] == ESC ? take_escape(f, c, out) : take_character(f, c, out);
        if (taken)
            return;
        release(f, out);
    }
    if (c == ESC || (c >= 0xc2 && c <= 0xf4))
        hold(f, c);
    else if (c >= 0x80)
        str_add(out, "\xef\xbf\xbd");
    else
        add_ascii(out, c);
}

void log_filter_add(struct log_filter *f, const char *bytes, size_t n, struct str *out)
{
    for (size_t i = 0; i < n; i++)
        add_byte(f, (unsigned char)bytes[i], out);
}

void log_filter_end(struct log_filter *f, struct str *out)
{
    release(f, out);
}
