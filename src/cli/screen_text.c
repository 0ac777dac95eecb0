/* Owns which characters of foreign text reach a terminal, and how wide they are. The ranges of
 * wide and combining characters are whole blocks, because terminals differ in the details. */
#include "cli/screen_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

struct range {
    uint32_t first, last;
};

static bool in_ranges(uint32_t c, const struct range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

static const struct range hidden[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x200b, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
};
static const struct range combining[] = {
    {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
    {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};
static const struct range wide[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
    {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
    {0x20000, 0x3fffd},
};

/* The character at `text`, which is valid UTF-8; *n is its length in bytes. */
static uint32_t decode(const char *text, size_t *n)
{
    const unsigned char *p = (const unsigned char *)text;
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    *n = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    uint32_t c = p[0] & masks[*n];
    for (size_t i = 1; i < *n; i++)
        c = c << 6 | (p[i] & 0x3f);
    return c;
}

static void add_escape(struct str *out, uint32_t c)
{
    static const char letters[] = "\nn\tt\rr";
    const char *found = c && c < 0x80 ? strchr(letters, (int)c) : NULL;
    if (found)
        str_addf(out, "\\%c", found[1]);
    else
        str_addf(out, c < 0x80 ? "\\x%02x" : "\\u{%x}", c);
}

void screen_add(struct str *out, const char *text)
{
    struct str valid = {0};
    size_t n;
    str_add_utf8(&valid, text);
    str_add_n(out, "", 0);
    for (const char *p = valid.at ? valid.at : ""; *p; p += n) {
        uint32_t c = decode(p, &n);
        if (in_ranges(c, hidden, COUNT_OF(hidden)))
            add_escape(out, c);
        else
            str_add_n(out, p, n);
    }
    str_done(&valid);
}

static size_t columns_of(uint32_t c)
{
    if (c < 0x300)
        return 1;
    if (in_ranges(c, combining, COUNT_OF(combining)))
        return 0;
    return in_ranges(c, wide, COUNT_OF(wide)) ? 2 : 1;
}

size_t screen_width(const char *text)
{
    size_t width = 0, n;
    for (; *text; text += n)
        width += columns_of(decode(text, &n));
    return width;
}

size_t screen_add_cut(struct str *out, const char *text, size_t width)
{
    if (screen_width(text) <= width) {
        str_add(out, text);
        return screen_width(text);
    }
    if (width == 0)
        return 0;
    size_t used = 0, n;
    for (; *text; text += n) {
        size_t more = columns_of(decode(text, &n));
        if (used + more > width - 1)
            break;
        str_add_n(out, text, n);
        used += more;
    }
    str_add(out, "…");
    return used + 1;
}

void screen_add_filled(struct str *out, const char *text, const char *first, size_t width)
{
    struct str safe = {0};
    size_t indent = screen_width(first), column = indent;
    screen_add(&safe, text);
    str_add(out, first);
    for (char *rest, *word = strtok_r(safe.at, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest)) {
        size_t n = screen_width(word);
        if (column > indent && width && column + 1 + n > width) {
            str_addf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        if (column > indent)
            str_add(out, " ");
        column += n + (column > indent);
        str_add(out, word);
    }
    str_add(out, "\n");
    str_done(&safe);
}
