/* Owns the words for epochs, steps and losses in other alphabets. Latin letters lose their accents,
 * so that the vocabulary has such words without them: "Époque" is "Epoque". */
#include "progress/translate.h"

#include <stdbool.h>
#include <string.h>

/* Longer ones before those that they begin with. */
static const struct {
    const char *word, *means;
} table[] = {
    {"Эпоха", "Epoch"},  {"эпоха", "epoch"},    {"Шаг", "Step"},
    {"шаг", "step"},     {"Итерация", "Iter"},  {"итерация", "iter"},
    {"Потери", "Loss"},  {"потери", "loss"},    {"Ошибка", "Loss"},
    {"ошибка", "loss"},  {"Епоха", "Epoch"},    {"епоха", "epoch"},
    {" из ", " of "},    {"エポック", "Epoch"}, {"ステップ", "Step"},
    {"損失", "loss"},    {"反復", "iter"},      {"世代", "generation"},
    {"에포크", "Epoch"}, {"에폭", "Epoch"},     {"스텝", "Step"},
    {"손실", "loss"},    {"训练轮次", "Epoch"}, {"轮次", "Epoch"},
    {"步数", "step"},    {"迭代", "iter"},      {"损失", "loss"},
    {"第", " "},         {"轮", " epochs"},     {"步", " steps"},
    {"：", ": "},        {"，", ", "},          {"—", "-"},
    {"–", "-"},
};

/* The letter without its accent, of the two bytes of U+00C0 to U+00FF; 0 = another character. */
static char plain_letter(unsigned char second)
{
    static const char letters[] = "AAAAAA\0CEEEEIIII\0NOOOOO\0OUUUUY\0\0"
                                  "aaaaaa\0ceeeeiiii\0nooooo\0ouuuuy\0y";
    return second >= 0x80 && second <= 0xbf ? letters[second - 0x80] : '\0';
}

/* What the text at `at` stands for: its length, and *used bytes of the text; 0 = itself. */
static size_t replace(const char *text, size_t n, char *letter, const char **means, size_t *used)
{
    if (n > 1 && (unsigned char)text[0] == 0xc3 &&
        (*letter = plain_letter((unsigned char)text[1]))) {
        *means = letter;
        *used = 2;
        return 1;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t length = strlen(table[i].word);
        if (n >= length && !memcmp(text, table[i].word, length)) {
            *means = table[i].means;
            *used = length;
            return strlen(*means);
        }
    }
    return 0;
}

/* Nearly all lines are plain: they must cost little. */
static bool is_plain(const char *text, size_t n)
{
    unsigned char any = 0;
    for (size_t i = 0; i < n; i++)
        any |= (unsigned char)text[i];
    return any < 0x80;
}

size_t progress_translate(const char *text, size_t n, char *out, size_t size)
{
    size_t at = 0, written = 0;
    bool changed = false;
    if (is_plain(text, n))
        return 0;
    while (at < n) {
        const char *means = text + at;
        char letter;
        size_t used = 1, length = 1;
        bool other = (unsigned char)text[at] >= 0xc3 ||
                     (text[at] == ' ' && at + 1 < n && (unsigned char)text[at + 1] >= 0xd0);
        if (other) {
            size_t replaced = replace(text + at, n - at, &letter, &means, &used);
            changed = changed || replaced;
            length = replaced ? replaced : 1;
        }
        if (written + length > size)
            return 0;
        memcpy(out + written, means, length);
        written += length;
        at += used;
    }
    return changed ? written : 0;
}
