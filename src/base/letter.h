/* Letters and digits of ASCII, whatever the locale. */
#ifndef BASE_LETTER_H
#define BASE_LETTER_H

#include <stdbool.h>

static inline bool letter_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char letter_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static inline bool letter_is_alpha(char c)
{
    char low = letter_lower(c);
    return low >= 'a' && low <= 'z';
}

#endif
