/* Owns the reading of a number: digits, fraction and exponent, nan and inf. */
#include "progress/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/letter.h"

static bool is_word(char c)
{
    return letter_is_alpha(c) || letter_is_digit(c) || c == '_';
}

static size_t read_word_number(const char *text, size_t n, double *out)
{
    static const struct {
        const char *word;
        double value;
    } table[] = {{"infinity", INFINITY}, {"inf", INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t k = 0, length = strlen(table[i].word);
        while (k < n && k < length && (text[k] | 32) == table[i].word[k])
            k++;
        if (k == length && (k == n || !is_word(text[k]))) {
            *out = table[i].value;
            return k;
        }
    }
    return 0;
}

/* What the digits stand for. Up to 19 of them and small exponents need no
 * strtod and are exact where a double is. */
static double scale_digits(uint64_t digits, int exponent)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (exponent < -330 || !digits)
        return 0;
    if (exponent > 330)
        return INFINITY;
    if (exponent < -22 || exponent > 22)
        return (double)((long double)digits * powl(10.0L, exponent));
    return exponent < 0 ? (double)digits / power[-exponent] : (double)digits * power[exponent];
}

/* "e-05" after a number: its length, or 0. */
static size_t read_exponent(const char *text, size_t n, int *out)
{
    if (n < 2 || (*text | 32) != 'e')
        return 0;
    size_t first = text[1] == '-' || text[1] == '+' ? 2 : 1, i = first;
    int power = 0;
    for (; i < n && letter_is_digit(text[i]); i++)
        power = power < 10000 ? power * 10 + (text[i] - '0') : power;
    *out = text[1] == '-' ? -power : power;
    return i > first ? i : 0;
}

size_t progress_number_read_groups(const char *text, size_t n, double *out)
{
    size_t i = 0;
    uint64_t digits = 0;
    while (i < n && i < 4 && letter_is_digit(text[i]))
        digits = digits * 10 + (uint64_t)(text[i++] - '0');
    if (!i || i > 3 || *text == '0' || i == n || !strchr(",'_", text[i]))
        return 0;
    size_t first = i;
    char mark = text[i];
    while (n - i >= 4 && i < 20 && text[i] == mark && letter_is_digit(text[i + 1]) &&
           letter_is_digit(text[i + 2]) && letter_is_digit(text[i + 3])) {
        for (size_t k = i + 1; k < i + 4; k++)
            digits = digits * 10 + (uint64_t)(text[k] - '0');
        i += 4;
    }
    /* "1,000, lr" ends there, "1,000,00" and "1,000.5" are no such numbers. */
    bool mark_follows = i + 1 < n && strchr(",.'_", text[i]) && letter_is_digit(text[i + 1]);
    if (i == first || (i < n && letter_is_digit(text[i])) || mark_follows)
        return 0;
    *out = (double)digits;
    return i;
}

size_t progress_number_read_comma(const char *text, size_t n, double *out)
{
    size_t i = 0, places = 0;
    uint64_t digits = 0;
    while (i < n && i < 9 && letter_is_digit(text[i]))
        digits = digits * 10 + (uint64_t)(text[i++] - '0');
    if (!i || i == n || text[i] != ',')
        return 0;
    for (i++; i < n && places < 9 && letter_is_digit(text[i]); i++, places++)
        digits = digits * 10 + (uint64_t)(text[i] - '0');
    bool more = i < n && (letter_is_digit(text[i]) || text[i] == '_' || letter_is_alpha(text[i]));
    bool list = i + 1 < n && strchr(",.", text[i]) && letter_is_digit(text[i + 1]);
    if (!places || (places == 3 && *text != '0') || more || list)
        return 0;
    *out = scale_digits(digits, -(int)places);
    return i;
}

/* A number in digits without a sign: its length, or 0. */
static size_t read_digits(const char *text, size_t n, double *out)
{
    size_t i = 0;
    uint64_t digits = 0;
    int exponent = 0, seen = 0, power;
    for (bool point = false; i < n; i++) {
        if (text[i] == '.' && !point && seen && i + 1 < n && letter_is_digit(text[i + 1])) {
            point = true;
            continue;
        }
        if (!letter_is_digit(text[i]))
            break;
        seen++;
        if (digits < UINT64_MAX / 10 - 1)
            digits = digits * 10 + (uint64_t)(text[i] - '0');
        else
            exponent++;
        exponent -= point;
    }
    if (!seen)
        return 0;
    size_t more = read_exponent(text + i, n - i, &power);
    *out = scale_digits(digits, more ? exponent + power : exponent);
    return i + more;
}

size_t progress_number_read(const char *text, size_t n, double *out)
{
    size_t sign = n && (*text == '-' || *text == '+');
    double value = 0;
    size_t length = sign < n && letter_is_alpha(text[sign])
                        ? read_word_number(text + sign, n - sign, &value)
                        : read_digits(text + sign, n - sign, &value);
    if (!length)
        return 0;
    *out = *text == '-' ? -value : value;
    return sign + length;
}
