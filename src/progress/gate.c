/* Owns the gate: most lines of most jobs are not progress, and a job may write a
 * great many of them. One pass finds the few that can be.
 *
 * Every form needs one of some words, or a bar's bracket, or begins in a way of its
 * own. Words are looked for by pairs of letters that are rare enough. */
#include "progress/gate.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/letter.h"

/* Letters of either case share a slot, and so do some other characters. */
#define SLOT(c) ((unsigned char)(c)&31)
#define BIT(c) (UINT32_C(1) << SLOT(c))

static bool same(const char *text, const char *word, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((text[i] | 32) != word[i])
            return false;
    }
    return true;
}

/* The words, and how many of their letters stand in front of the pair that they
 * are found by: lo-ss, ep-och. */
static bool is_word_at(const char *text, size_t n, size_t i)
{
    static const struct {
        char word[10];
        uint8_t length, before;
    } words[] = {
        {"loss", 4, 2},      {"epo", 3, 0},         {"step", 4, 2},    {"iter", 4, 1},
        {"batch", 5, 0},     {"acc", 3, 0},         {"valid", 5, 0},   {"eval", 4, 1},
        {"val", 3, 0},       {"avg", 3, 0},         {"cost", 4, 1},    {"tree", 4, 2},
        {"kimg", 4, 2},      {"fits", 4, 0},        {"episode", 7, 0}, {"error", 5, 1},
        {"objective", 9, 1}, {"generation", 10, 0}, {"fold", 4, 0},    {"trial", 5, 2},
        {"seed", 4, 1},      {"phase", 5, 0},       {"stage", 5, 2},   {"run", 3, 0},
        {"schritt", 7, 5},
    };
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        size_t length = words[w].length, begin = i - words[w].before;
        if (i < words[w].before || n - begin < length || !same(text + begin, words[w].word, length))
            continue;
        /* The short ones only where the word ends there; but "accuracy". */
        char next = begin + length < n ? text[begin + length] : ' ';
        if (length > 3 || !letter_is_alpha(next) || words[w].word[0] == 'e' ||
            (words[w].word[2] == 'c' && (next | 32) == 'u'))
            return true;
    }
    return false;
}

/* "[00:02<", "[====>...": a bar. */
static bool is_bar_at(const char *text, size_t n, size_t i)
{
    size_t k = i + 1;
    while (k < n && letter_is_digit(text[k]))
        k++;
    if (k > i + 1)
        return k + 2 < n && text[k] == ':' && letter_is_digit(text[k + 1]) &&
               letter_is_digit(text[k + 2]);
    return text[k] == '=' || text[k] == '>' || text[k] == '.' ||
           (n - k > 2 && text[k] == 'C' && text[k + 1] == 'V');
}

/* Forms that are recognised by the beginning of the line: "[10]\t", "10:\tlearn", "| fps |". */
static bool is_beginning(const char *text, size_t n)
{
    if (n > 3 && text[0] == '[' && letter_is_digit(text[1]))
        return memchr(text, ']', n < 16 ? n : 16);
    if (text[0] == '|')
        return true;
    size_t i = 0;
    while (i < n && letter_is_digit(text[i]))
        i++;
    return i && n - i > 7 && !memcmp(text + i, ":\tlearn", 7);
}

/* "45%", "45 %" */
static bool has_share(const char *text, size_t n)
{
    const char *end = text + n;
    for (const char *p = text; (p = memchr(p, '%', (size_t)(end - p))); p++) {
        const char *digit = p > text && p[-1] == ' ' ? p - 1 : p;
        if (digit > text && letter_is_digit(digit[-1]))
            return true;
    }
    return false;
}

static bool is_border(char c)
{
    return strchr(" [](){}|,:\t", c) && c;
}

/* Digits between `from` and the border before or after them. */
static bool is_whole_before(const char *text, const char *p)
{
    const char *end = p;
    while (p > text && (letter_is_digit(p[-1]) || strchr("'_,kKM", p[-1])))
        p--;
    return p < end && (p == text || is_border(p[-1]));
}

static bool is_whole_behind(const char *p, const char *end)
{
    const char *begin = p;
    while (p < end && (letter_is_digit(*p) || strchr("'_kKM", *p)))
        p++;
    return p > begin && (p == end || is_border(*p));
}

/* "10/100", "10 / 100": two whole numbers, and no path or date. */
static bool has_fraction(const char *text, size_t n)
{
    const char *end = text + n;
    for (const char *p = text; (p = memchr(p, '/', (size_t)(end - p))); p++) {
        const char *before = p, *behind = p + 1;
        while (before > text && before[-1] == ' ')
            before--;
        while (behind < end && *behind == ' ')
            behind++;
        if (is_whole_before(text, before) && is_whole_behind(behind, end))
            return true;
    }
    return false;
}

/* "3 of 400" at the o: two whole numbers. */
static bool is_of_at(const char *text, size_t n, size_t i)
{
    return i > 1 && n - i > 3 && text[i - 1] == ' ' && letter_is_digit(text[i - 2]) &&
           text[i + 1] == 'f' && text[i + 2] == ' ' && letter_is_digit(text[i + 3]);
}

unsigned progress_gate_look(const char *text, size_t n)
{
    /* Which characters may follow which in what is looked for. */
    static const uint32_t follow[32] = {
        [SLOT('s')] = BIT('s'),
        [SLOT('e')] = BIT('p') | BIT('e'),
        [SLOT('t')] = BIT('e') | BIT('t'),
        [SLOT('a')] = BIT('c') | BIT('v') | BIT('g'),
        [SLOT('p')] = BIT('h'),
        [SLOT('v')] = BIT('a'),
        [SLOT('b')] = BIT('a') | BIT('j'),
        [SLOT('o')] = BIT('s') | BIT('f'),
        [SLOT('m')] = BIT('g'),
        [SLOT('i')] = BIT('a'),
        [SLOT('f')] = BIT('i') | BIT('o'),
        [SLOT('g')] = BIT('e'),
        [SLOT('r')] = BIT('r') | BIT('u'),
        [SLOT('n')] = BIT('a') | BIT('f'),
        [SLOT('[')] = BIT('C') | BIT('=') | BIT('>') | BIT('.') | BIT('0') | BIT('1') | BIT('2') |
                      BIT('3') | BIT('4') | BIT('5') | BIT('6') | BIT('7') | BIT('8') | BIT('9'),
    };
    bool number = letter_is_digit(text[n - 1]),
         pass = is_beginning(text, n) || has_share(text, n) || has_fraction(text, n);
    for (size_t i = 0; i + 1 < n && !(number && pass); i++) {
        number |= letter_is_digit(text[i]);
        if (!(follow[SLOT(text[i])] & BIT(text[i + 1])))
            continue;
        if (text[i] == '[')
            pass |= is_bar_at(text, n, i);
        else if ((text[i] | 32) == 'n')
            number |=
                (n - i >= 3 && same(text + i, "nan", 3)) || (i && same(text + i - 1, "inf", 3));
        else
            pass |= is_word_at(text, n, i) || is_of_at(text, n, i);
    }
    return (number ? PROGRESS_GATE_NUMBER : 0) | (number && pass ? PROGRESS_GATE_PASS : 0);
}
