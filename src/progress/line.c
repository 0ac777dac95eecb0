/* Owns the numbers of a line and the words in front of them.
 *
 * Every line with a digit comes here, so that the common case, a line that holds
 * nothing of interest, must be cheap: one pass over the bytes, no allocation. */
#include "progress/line.h"

#include <math.h>
#include <string.h>

#include "base/letter.h"
#include "progress/number.h"

/* Words in front of a number that are looked at, and what may stand between. */
#define LABEL_WORDS 5
#define LABEL_BYTES 60
#define GAP_BYTES 40
#define GROUP_BYTES 24
/* Blanks on either side of the stroke in "450 / 1891". */
#define STROKE_BLANKS 12

static bool is_word(char c)
{
    return letter_is_alpha(c) || letter_is_digit(c) || c == '_';
}

/* Behind whatever the digit at i belongs to, when that is no number: a date, a
 * time, a version, an address, a hash, a path. */
static size_t skip_token(const char *text, size_t n, size_t i)
{
    while (i < n && (is_word(text[i]) || text[i] == '.' || text[i] == '/' || text[i] == ':' ||
                     text[i] == '-'))
        i++;
    return i;
}

/* Whether a number may begin at i, going by what stands in front of it. */
static bool can_begin(const char *text, size_t i)
{
    if (!i)
        return true;
    char c = text[i - 1], before = i > 1 ? text[i - 2] : ' ';
    if (is_word(c) || c == '.' || c == '/' || c == '@' || c == '\\' || c == '~' || c == '$')
        return false;
    if (c == ':' || c == ',')
        return !letter_is_digit(before);
    if (c == '-' || c == '+')
        return !is_word(before) && before != ')' && before != ']';
    return true;
}

/* Whether what ends at i can be a number, going by what follows: not the 2024 of
 * 2024-05-06, the 12 of 12:30, the 1.2 of 1.2.3, the 3 of 3fa8. */
static bool can_end(const char *text, size_t n, size_t i)
{
    if (i == n)
        return true;
    char next = i + 1 < n ? text[i + 1] : ' ';
    if (text[i] == '_' || text[i] == '@')
        return false;
    if ((text[i] == ':' || text[i] == '.' || text[i] == '-' || text[i] == ',') &&
        letter_is_digit(next))
        return false;
    if (!letter_is_alpha(text[i]))
        return true;
    while (i < n && letter_is_alpha(text[i]))
        i++;
    return i == n || !(letter_is_digit(text[i]) || text[i] == '_');
}

static size_t blanks(const char *text, size_t n, size_t i)
{
    size_t start = i;
    while (i < n && text[i] == ' ' && i - start < STROKE_BLANKS)
        i++;
    return i;
}

/* Where the number after a slash begins: "10/100", "450 / 1891", "3 of 400",
 * "3 out of 400"; 0 = none. */
static size_t behind_stroke(const char *text, size_t n, size_t end)
{
    static const char *const strokes[] = {"/",    "of ", "out of ", "von ",
                                          "sur ", "de ", "di ",     "z "};
    if (end + 1 < n && strchr("kKMBG", text[end])) {
        /* "1.20k/10.0k", "1.20kit/10.0kit" */
        size_t stroke = end + 1 + (n - end > 3 && !memcmp(text + end + 1, "it", 2) ? 2 : 0);
        end = stroke < n && text[stroke] == '/' ? stroke : end;
    }
    size_t i = blanks(text, n, end), length = 0;
    for (size_t s = 0; s < sizeof strokes / sizeof *strokes && !length; s++) {
        size_t k = strlen(strokes[s]);
        if (n - i >= k && !memcmp(text + i, strokes[s], k) && (!s || i > end))
            length = k;
    }
    if (!length)
        return 0;
    i = blanks(text, n, i + length);
    return i < n && letter_is_digit(text[i]) ? i : 0;
}

/* The label is what stands in front of `at`, not before `floor`: a gap of
 * separators and then up to LABEL_WORDS words with single blanks between. */
static size_t skip_gap(const char *text, size_t floor, size_t at, struct progress_number *out)
{
    size_t i = at;
    out->sep = ' ';
    while (i > floor && at - i < GAP_BYTES) {
        char c = text[i - 1];
        if (c == ':' || c == '=' || c == '|') {
            if (out->sep != ' ' && out->sep != c)
                break;
            out->sep = c;
        } else if (c == '[' || c == '(') {
            if (out->sep != ' ')
                break;
            out->open = c;
        } else if (c == '-' && i > floor + 2 && text[i] == ' ' && text[i - 2] == ' ' &&
                   letter_is_alpha(text[i - 3]) && out->sep == ' ') {
            out->sep = '='; /* "loss - 0.5" */
        } else if (c != ' ' && c != '\t' && c != '\'' && c != '"' && c != '#') {
            break;
        }
        i--;
    }
    return i;
}

/* In front of a group in parentheses: the "time (ms)" of "time (ms): 30". */
static size_t skip_group(const char *text, size_t floor, size_t i)
{
    if (i <= floor || text[i - 1] != ')')
        return i;
    size_t k = i - 1;
    while (k > floor && i - k < GROUP_BYTES && text[k - 1] != '(' && !letter_is_digit(text[k - 1]))
        k--;
    if (k <= floor || text[k - 1] != '(')
        return i;
    k--;
    while (k > floor && text[k - 1] == ' ')
        k--;
    return k;
}

static bool in_label(const char *text, size_t floor, size_t i)
{
    char c = text[i - 1];
    if (is_word(c) || c == '@' || c == '\'')
        return true;
    if (c == '.')
        return text[i] != ' ' || !letter_is_alpha(text[i + 1]); /* not "3DBall. Step: 500" */
    /* Inside a word only: train/loss, train-logloss. */
    if (c == '/' || c == '-')
        return i - 1 > floor && letter_is_alpha(text[i - 2]) && letter_is_alpha(text[i]);
    return false;
}

static void read_label(const char *text, size_t floor, struct progress_number *out)
{
    size_t end = skip_group(text, floor, skip_gap(text, floor, out->at, out));
    size_t i = end, begin = end;
    for (unsigned words = 0;; words++) {
        if (words == LABEL_WORDS) {
            if (i > floor && in_label(text, floor, i))
                begin = end; /* a sentence */
            break;
        }
        size_t k = i;
        while (k > floor && end - k < LABEL_BYTES && in_label(text, floor, k))
            k--;
        if (k == i || letter_is_digit(text[k]))
            break;
        begin = k;
        if (k <= floor + 1 || text[k - 1] != ' ')
            break;
        i = k - 1;
    }
    if (begin > floor && (text[begin - 1] == '?' || text[begin - 1] == '&'))
        begin = end; /* part of an address */
    if (begin > floor && text[begin - 1] == ':' && out->sep == ':' && out->open)
        begin = end; /* a logger's name: "INFO:__main__:[275/1000]" */
    out->label = (uint16_t)begin;
    out->words = (uint8_t)(end - begin);
}

static int64_t as_whole(const char *text, size_t n)
{
    int64_t value = 0;
    if (!n || n > 18)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (i && strchr(",'_", text[i]))
            continue;
        if (!letter_is_digit(text[i]))
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

static void note_end(const struct progress_line *line, struct progress_number *x)
{
    size_t i = x->end;
    x->unit = i < line->n && letter_is_alpha(line->text[i]);
    if (i < line->n && line->text[i] == ' ')
        i++;
    x->percent = i < line->n && line->text[i] == '%';
}

/* Reads the number at i (a digit, or the n or i of nan and inf) into the next
 * place of the list; its end, 0 when there is none. */
static size_t read_number(struct progress_line *line, size_t i, size_t floor)
{
    const char *text = line->text;
    struct progress_number *x = &line->number[line->count];
    bool is_signed = i && i > floor && (text[i - 1] == '-' || text[i - 1] == '+');
    size_t at = is_signed ? i - 1 : i;
    double value = 0;
    size_t length = is_signed ? 0 : progress_number_read_groups(text + at, line->n - at, &value);
    size_t comma = length ? 0 : progress_number_read_comma(text + i, line->n - i, &value);
    if (comma) {
        length = comma + is_signed;
        value = is_signed && text[at] == '-' ? -value : value;
    } else if (!length) {
        length = progress_number_read(text + at, line->n - at, &value);
    }
    if (!length || !can_end(text, line->n, at + length))
        return 0;
    *x = (struct progress_number){
        .value = value, .at = (uint16_t)at, .end = (uint16_t)(at + length)};
    x->whole = comma ? -1 : as_whole(text + at, length);
    read_label(text, floor, x);
    note_end(line, x);
    line->count++;
    return x->end;
}

/* Letters after a divisor make it a size, "3/4GB"; but not "3/70epoch", "5/10it". */
static bool is_measure(const struct progress_line *line, const struct progress_number *x)
{
    static const char *const counts[] = {"epoch", "it", "step", "batch"};
    if (!x->unit)
        return false;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (progress_line_at(line, x->end, counts[i]))
            return false;
    }
    return true;
}

/* What "k", "M" and "B" after a number stand for; 0 = nothing. Only "it" and "steps" may follow. */
static double read_scale(const struct progress_line *line, const struct progress_number *x)
{
    size_t i = x->end;
    char c = i < line->n ? (char)(line->text[i] | 32) : ' ';
    double scale = c == 'k' ? 1e3 : c == 'm' ? 1e6 : c == 'b' || c == 'g' ? 1e9 : 0;
    i++;
    bool counts = progress_line_at(line, i, "it") || progress_line_at(line, i, "step");
    return scale > 0 && (i >= line->n || !letter_is_alpha(line->text[i]) || counts) ? scale : 0;
}

/* "1.20k/10.0k": the bars of tqdm, and tokens. */
static bool scale_pair(const struct progress_line *line, struct progress_number *a,
                       struct progress_number *b)
{
    double scale_a = read_scale(line, a), scale_b = read_scale(line, b);
    if (!(scale_b > 0) || !(a->value >= 0 && b->value > 0 && b->value < 1e6 && a->value < 1e6))
        return false;
    a->value *= scale_a > 0 ? scale_a : 1;
    b->value *= scale_b;
    a->whole = (int64_t)(a->value + 0.5);
    b->whole = (int64_t)(b->value + 0.5);
    a->unit = b->unit = false;
    return a->whole <= b->whole;
}

/* "2.000 von 8.000": the points are marks between thousands. */
static void read_points(const struct progress_line *line, struct progress_number *x)
{
    size_t n = (size_t)(x->end - x->at), point = n - 4;
    if (n < 5 || n > 7 || line->text[x->at + point] != '.' || line->text[x->at] == '0')
        return;
    x->value *= 1000;
    x->whole = (int64_t)(x->value + 0.5);
}

/* Reads what a number is divided by. When the two are no fraction after all (a
 * date, a path, a size) neither is kept. Where to go on from. */
static size_t read_divisor(struct progress_line *line, size_t at)
{
    struct progress_number *a = &line->number[line->count - 1], *b = a + 1;
    size_t end = read_number(line, at, at);
    if (end && at >= 4 && !memcmp(line->text + at - 4, "von ", 4)) {
        read_points(line, a);
        read_points(line, b);
    }
    bool more = end && end < line->n && line->text[end] == '/';
    /* "Epoch: 0.85/6.0" is one, too. */
    bool half = end && a->words && b->value == floor(b->value) && b->value < 1e15;
    if (half)
        b->whole = (int64_t)b->value;
    if (end && !more && scale_pair(line, a, b)) {
        a->over = a->scaled = b->under = b->scaled = true;
        b->words = 0;
        return end;
    }
    if (!end || more || (!half && a->whole < 0) || b->whole < 0 || a->unit || is_measure(line, b)) {
        line->count -= end ? 2 : 1;
        return skip_token(line->text, line->n, at);
    }
    a->over = true;
    b->under = true;
    b->words = 0;
    return end;
}

void progress_line_read(struct progress_line *line, const char *text, size_t n, bool continued)
{
    line->text = text;
    line->n = n;
    line->continued = continued;
    line->eval = NULL;
    line->count = 0;
    size_t floor = 0;
    for (size_t i = 0; i < n && line->count + 1 < PROGRESS_NUMBERS;) {
        char low = (char)(text[i] | 32);
        if (!letter_is_digit(text[i]) &&
            ((low != 'n' && low != 'i') || (i && is_word(text[i - 1])))) {
            i++;
            continue;
        }
        size_t end = can_begin(text, i) ? read_number(line, i, floor) : 0;
        if (!end) {
            i = letter_is_digit(text[i]) ? skip_token(text, n, i) : i + 1;
            continue;
        }
        size_t divisor = behind_stroke(text, n, end);
        i = divisor ? read_divisor(line, divisor) : end;
        floor = i;
    }
}

bool progress_line_at(const struct progress_line *line, size_t at, const char *word)
{
    size_t n = strlen(word);
    return at <= line->n && line->n - at >= n && !memcmp(line->text + at, word, n);
}

const char *progress_find(const char *text, size_t n, const char *word)
{
    size_t length = strlen(word);
    const char *end = text + n;
    while ((size_t)(end - text) >= length) {
        const char *p = memchr(text, *word, (size_t)(end - text) - length + 1);
        if (!p || !memcmp(p, word, length))
            return p;
        text = p + 1;
    }
    return NULL;
}

size_t progress_line_find(const struct progress_line *line, size_t at, const char *word)
{
    const char *p = at < line->n ? progress_find(line->text + at, line->n - at, word) : NULL;
    return p ? (size_t)(p - line->text) : line->n;
}
