/* Owns the sequences of keys, as xterm, the console and similar terminals send them. An unknown
 * sequence is skipped as a whole, so that its rest is not read as keys. */
#include "cli/key.h"

#include <string.h>

#include "base/mem.h"

static const struct {
    const char *sequence; /* after the escape character */
    int key;
} keys[] = {
    {"[A", KEY_UP},       {"OA", KEY_UP},         {"[B", KEY_DOWN}, {"OB", KEY_DOWN},
    {"[5~", KEY_PAGE_UP}, {"[6~", KEY_PAGE_DOWN}, {"[H", KEY_HOME}, {"OH", KEY_HOME},
    {"[1~", KEY_HOME},    {"[7~", KEY_HOME},      {"[F", KEY_END},  {"OF", KEY_END},
    {"[4~", KEY_END},     {"[8~", KEY_END},
};

/* Length of the sequence after an escape character: "[" or "O", parameters, a letter or a
 * tilde. */
static size_t sequence_length(const char *p, size_t n)
{
    if (n == 0 || (p[0] != '[' && p[0] != 'O'))
        return 0;
    size_t i = 1;
    while (i < n && p[i] >= 0x20 && p[i] < 0x40)
        i++;
    return i < n ? i + 1 : n;
}

size_t key_decode(const char *bytes, size_t n, int *key)
{
    if (bytes[0] != KEY_ESCAPE) {
        unsigned char c = (unsigned char)bytes[0];
        *key = c == '\r' || c == '\n' ? KEY_ENTER : c >= 0x20 && c < 0x7f ? c : KEY_NONE;
        return 1;
    }
    size_t length = sequence_length(bytes + 1, n - 1);
    if (length == 0) {
        *key = KEY_ESCAPE;
        return 1;
    }
    *key = KEY_NONE;
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (strlen(keys[i].sequence) == length && !strncmp(keys[i].sequence, bytes + 1, length))
            *key = keys[i].key;
    return 1 + length;
}
