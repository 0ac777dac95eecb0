/* Owns tqdm's bars, and so those of Lightning, Hugging Face and ultralytics:
 *
 *   Epoch 0:  25%|██▌       | 235/938 [00:02<00:07, 95.1it/s, v_num=0, train_loss=0.31]
 *   train: 120it [00:01, 98.7it/s, loss=0.3]
 *
 * They are recognised by the count before "[00:02"; other bars by their drawing:
 *
 *      total [########..................] 17.50%
 *   |█████---------------| 32.10% [2568/8000 00:12<01:15 Sampling 4 chains]
 * What a bar counts is told by
 * the words in front of it, its unit and whether it shows a loss: a bare bar may
 * be anything, and the tracker uses it only when there is nothing better. */

#include "progress/bar.h"

#include <math.h>
#include <string.h>

#include "base/letter.h"
#include "progress/drawing.h"
#include "progress/number.h"

/* " [00:02" */
static bool is_clock(const struct progress_line *line, size_t i)
{
    if (!progress_line_at(line, i, " ["))
        return false;
    i += 2;
    size_t k = i;
    while (k < line->n && letter_is_digit(line->text[k]))
        k++;
    return k > i && k + 2 < line->n && line->text[k] == ':' && letter_is_digit(line->text[k + 1]) &&
           letter_is_digit(line->text[k + 2]);
}

/* The count in front of the clock: its index, and where the bracket is. */
static bool find_count(const struct progress_line *line, unsigned *count, size_t *bracket)
{
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        if (x->whole < 0 || x->under)
            continue;
        size_t end = x->over ? x[1].end : x->end;
        if (!x->over && !x->unit)
            continue;
        if (!x->over || x->scaled) {
            while (end < line->n && letter_is_alpha(line->text[end]))
                end++;
        }
        if (is_clock(line, end)) {
            *count = i;
            *bracket = end + 1;
            return true;
        }
    }
    return false;
}

/* Where the words in front of the bar end: before "45%|", "50% 1/2" or "120it". */
static size_t label_end(const struct progress_line *line, const struct progress_number *count)
{
    size_t drawn = progress_line_find(line, 0, "%|"), end = count->at;
    if (drawn < count->at) {
        end = drawn;
        while (end && letter_is_digit(line->text[end - 1]))
            end--;
    } else if (count > line->number && count[-1].percent && count[-1].end + 3u > count->at) {
        end = count[-1].at;
    }
    while (end && (line->text[end - 1] == ' ' || line->text[end - 1] == ':'))
        end--;
    return end;
}

/* Units that no training counts in. */
static bool is_foreign_unit(const char *unit, size_t n)
{
    static const char *const units[] = {
        "B",    "kB",   "KB",     "MB",     "GB",   "kiB",  "KiB",   "MiB",      "GiB",
        "file", "row",  "rows",   "doc",    "docs", "tok",  "word",  "words",    "lines",
        "it/B", "line", "tables", "shards", "ba",   "pkg",  "files", "examples", "tokens",
        "page", "url",  "frames", "kb",     "mb",   "char", "chunk", "records",  "splits",
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i]) == n && !memcmp(unit, units[i], n))
            return true;
    }
    return false;
}

/* The unit and the rate after the clock: "95.1it/s", "1.23s/it", "?B/s". */
static bool read_rate(const struct progress_line *line, size_t bracket, struct sighting *s)
{
    size_t i = progress_line_find(line, bracket, ", ");
    if (i == line->n)
        return true;
    while (i < line->n && (line->text[i] == ' ' || line->text[i] == ','))
        i++;
    double value = 0;
    size_t n = progress_number_read(line->text + i, line->n - i, &value);
    i += n ? n : progress_line_at(line, i, "?");
    i += progress_line_at(line, i, " ");
    size_t unit = i;
    while (i < line->n && letter_is_alpha(line->text[i]))
        i++;
    bool slow = progress_line_at(line, unit, "s/");
    if (slow) {
        for (unit += 2, i = unit; i < line->n && letter_is_alpha(line->text[i]);)
            i++;
    } else if (!progress_line_at(line, i, "/s")) {
        return true;
    }
    if (n && value > 0 && isfinite(value)) {
        s->rate = slow ? 1 / value : value;
        s->has |= SIGHTING_RATE;
    }
    return !is_foreign_unit(line->text + unit, i - unit);
}

static void take_epoch(struct sighting *s, const struct progress_number *x)
{
    s->epoch = x->value;
    s->has |= SIGHTING_EPOCH;
    if (x->over && x[1].whole > 0) {
        s->epochs = x[1].whole;
        s->has |= SIGHTING_EPOCHS;
    } else if (!strcmp(s->source, "tqdm")) {
        s->from_zero = true;
        s->source = "lightning";
    }
}

static bool shows_loss(const struct progress_line *line, unsigned from)
{
    for (unsigned i = from; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        struct progress_name name;
        if (!x->words || x->unit || x->sep == ' ')
            continue;
        progress_name_read(line->text + x->label, x->words, &name);
        if (name.kind == PROGRESS_WORD_LOSS && !name.eval)
            return true;
    }
    return false;
}

/* Whether the words before the bar have a loss of the training. */
static bool label_has_loss(const struct progress_line *line, size_t end)
{
    for (unsigned i = 0; i < line->count && line->number[i].at < end; i++) {
        const struct progress_number *x = &line->number[i];
        struct progress_name name;
        if (!x->words || x->unit || x->over || x->under)
            continue;
        progress_name_read(line->text + x->label, x->words, &name);
        if (name.kind == PROGRESS_WORD_LOSS && !name.eval)
            return true;
    }
    return false;
}

/* What the words before the bar say: an epoch, a loss. */
static void read_label(const struct progress_line *line, size_t end, struct sighting *s)
{
    const struct progress_number *bare = NULL;
    unsigned i = 0;
    for (; i < line->count && line->number[i].at < end; i++) {
        const struct progress_number *x = &line->number[i];
        if (!x->words && x->over && !bare)
            bare = x;
        s->nested = s->nested || (!x->words && x->whole >= 0 && !x->percent);
        if (!x->words || x->under || x->unit)
            continue;
        struct progress_name name;
        progress_name_read(line->text + x->label, x->words, &name);
        bool epoch =
            name.kind == PROGRESS_WORD_EPOCH || (name.kind == PROGRESS_WORD_EPOCHS && x->over);
        if (epoch && !(s->has & SIGHTING_EPOCH) && x->whole >= 0)
            take_epoch(s, x);
        else if (x->over || !sighting_add(s, &name, x->value, false))
            s->nested = s->nested || x->whole >= 0;
        s->label_loss = s->label_loss || name.kind == PROGRESS_WORD_LOSS;
    }
    /* "3/8 * Epoch (train):"; or "[3/8]:" alone in front of a bar that shows a loss */
    bool named = progress_line_find(line, 0, "poch") < end;
    bool alone = bare == line->number && i == 2 && shows_loss(line, i);
    if (bare && (named || alone) && !(s->has & SIGHTING_EPOCH))
        take_epoch(s, bare);
}

/* "loss=0.31", "epoch=3/10" after the clock. */
static void read_postfix(const struct progress_line *line, unsigned from, size_t bracket,
                         struct sighting *s)
{
    for (unsigned i = from; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        if (x->at < bracket || !x->words || x->unit || x->under || x->sep == ' ' || x->sep == '|')
            continue;
        struct progress_name name;
        progress_name_read(line->text + x->label, x->words, &name);
        if (x->over && name.kind == PROGRESS_WORD_EPOCH && !(s->has & SIGHTING_EPOCH))
            take_epoch(s, x);
        else if (!x->over)
            sighting_add(s, &name, x->value, strcmp(name.text, "v_num") != 0);
    }
}

/* A label with its numbers left out, so that "Epoch 1" and "Epoch 2" are one bar. */
static uint32_t label_key(const struct progress_line *line, size_t end, int64_t of)
{
    uint32_t key = 2166136261u;
    bool words = false;
    for (size_t i = 0; i < end; i++) {
        char c = line->text[i];
        words = words || letter_is_alpha(c);
        if (letter_is_alpha(c) || (unsigned char)c >= 0x80)
            key = (key ^ (unsigned char)c) * 16777619u;
    }
    return words ? key : (key ^ (uint32_t)of) * 16777619u;
}

/* "Epochs:  30%|###       | 3/10 [": the fourth is under way. */
static void read_epochs(struct sighting *s)
{
    s->closes = s->at >= s->of;
    s->epoch = (double)(s->closes ? s->of : s->at + 1);
    s->epochs = s->of;
    s->has = SIGHTING_EPOCH | SIGHTING_EPOCHS;
    s->header = true;
    s->bar = false;
    s->trust = TRUST_WEAK;
}

/* The same with the number of the epoch in front of the bar, which is under way. */
static void read_epochs_bar(struct sighting *s)
{
    s->closes = s->at >= s->of;
    s->has = (s->has & ~(unsigned)(SIGHTING_AT | SIGHTING_OF)) | SIGHTING_EPOCH | SIGHTING_EPOCHS;
    s->from_zero = false;
}

/* What the words in front of a bar and what it shows make of it. */
static void judge_bar(struct sighting *s, enum progress_bar_kind kind)
{
    if (s->eval) {
        s->has = 0;
        return;
    }
    /* "Epoch 296 | loss: 3.9:  29%|##   | 297/1000 [": the bar counts the epochs themselves. */
    if (s->label_loss && (s->has & SIGHTING_EPOCH) && !(s->has & SIGHTING_EPOCHS) &&
        (s->has & SIGHTING_OF) && fabs((double)s->at - s->epoch) <= 1) {
        s->has &= ~(unsigned)SIGHTING_EPOCH;
        s->unit = PROGRESS_UNIT_EPOCH;
        s->source = "tqdm";
        s->scope = SCOPE_JOB;
        s->nested = false;
        s->trust = TRUST_GOOD;
        return;
    }
    bool trained = kind == PROGRESS_BAR_TRAIN || s->loss_rank != PROGRESS_LOSS_NONE ||
                   (s->has & SIGHTING_EPOCH);
    s->trust = trained ? TRUST_GOOD : TRUST_WEAK;
    s->scope = (s->has & SIGHTING_EPOCH) || s->nested ? SCOPE_EPOCH : SCOPE_UNKNOWN;
    if (kind == PROGRESS_BAR_EPOCHS && (s->has & SIGHTING_OF) && !(s->has & SIGHTING_EPOCH))
        read_epochs(s);
    /* "Epoch 45/400:  11%|#    | 44/400 [": the bar counts the epochs themselves. */
    if ((s->has & SIGHTING_EPOCHS) && (s->has & SIGHTING_OF) && s->epochs == s->of && s->of > 1 &&
        fabs(s->epoch - (double)s->at) <= 1)
        read_epochs_bar(s);
}

static void take_count(struct sighting *s, const struct progress_number *x)
{
    s->at = x->whole;
    s->has |= SIGHTING_AT;
    if (x->over && x[1].whole > 0) {
        s->of = x[1].whole;
        s->has |= SIGHTING_OF;
    }
}

bool progress_read_bar(const struct progress_line *line, struct sighting *s)
{
    unsigned count;
    size_t bracket;
    if (!line->count || !find_count(line, &count, &bracket))
        return false;
    sighting_init(s, "tqdm");
    const struct progress_number *x = &line->number[count];
    size_t end = label_end(line, x);
    enum progress_bar_kind kind = progress_bar_read(line->text, end);
    s->bar = true;
    bool foreign = !read_rate(line, bracket, s);
    if (kind == PROGRESS_BAR_PREPARE || (foreign && kind == PROGRESS_BAR_PLAIN)) {
        s->has = 0;
        return true;
    }
    take_count(s, x);
    s->key = label_key(line, end, s->of);
    if (kind == PROGRESS_BAR_EVAL && label_has_loss(line, end))
        kind = PROGRESS_BAR_PLAIN; /* "Epoch: 3, Loss: 0.5, Test: 0.8" */
    s->eval = kind == PROGRESS_BAR_EVAL ? "val" : NULL;
    read_label(line, end, s);
    read_postfix(line, count + 1, bracket, s);
    judge_bar(s, kind);
    /* Hugging Face's trainer prints its numbers after the bar of the whole job. */
    if (progress_line_find(line, bracket, "]{'") < line->n &&
        progress_line_find(line, bracket, "'learning_rate'") < line->n)
        s->scope = SCOPE_JOB;
    return true;
}

/* ---- bars that are drawn otherwise ---------------------------------------- */

/* Sizes and speeds of files: what is drawn is a transfer. */
static bool is_transfer(const struct progress_line *line)
{
    static const char *const units[] = {"MB", "KB", "kB", "GB", "iB", "B/s", "bytes", " eta "};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (progress_line_find(line, 0, units[i]) < line->n)
            return true;
    }
    return false;
}

/* The count of a drawn bar: the first fraction without a metric's name, else the first
 * share. NULL = it has none, or one that is named as a step and read elsewhere. */
static const struct progress_number *drawn_count(const struct progress_line *line)
{
    const struct progress_number *share = NULL;
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        struct progress_name name = {.kind = PROGRESS_WORD_OTHER};
        if (x->under)
            continue;
        if (x->words)
            progress_name_read(line->text + x->label, x->words, &name);
        if (name.kind == PROGRESS_WORD_STEP && !x->unit)
            return NULL;
        if (name.kind != PROGRESS_WORD_OTHER)
            continue;
        if (x->over && x->whole >= 0 && x[1].whole > 0 && x->open != '(' && !x->scaled)
            return x;
        if (x->percent && !share && x->value >= 0 && x->value <= 100)
            share = x;
    }
    return share;
}

/* Losses and metrics that the line names with a mark. */
static void read_named(const struct progress_line *line, struct sighting *s)
{
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        struct progress_name name;
        if (!x->words || x->unit || x->over || x->under || x->percent)
            continue;
        progress_name_read(line->text + x->label, x->words, &name);
        if (x->sep != ' ' || name.kind == PROGRESS_WORD_LOSS)
            sighting_add(s, &name, x->value, false);
    }
}

/* A bar without words may be of anything; one that counts iterations is a loop's. */
static bool counts_iterations(const struct progress_line *line)
{
    static const char *const words[] = {"it/s", "s/it", "i/s", "iter", "step", "ampling", "epoch"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (progress_line_find(line, 0, words[i]) < line->n)
            return true;
    }
    return false;
}

bool progress_read_drawn(const struct progress_line *line, struct sighting *s)
{
    size_t begin, end;
    if (!line->count || line->continued || !progress_drawing_find(line, &begin, &end))
        return false;
    const struct progress_number *x = drawn_count(line);
    if (!x)
        return false;
    sighting_init(s, "bar");
    s->bar = true;
    size_t label = begin < x->at ? begin : x->at;
    enum progress_bar_kind kind = progress_bar_read(line->text, label);
    if (is_transfer(line) || kind == PROGRESS_BAR_PREPARE)
        return true;
    if (x->over) {
        take_count(s, x);
        const struct progress_number *outer = x - 1;
        if (x > line->number && x->open == '[' && outer->open == '[' && outer->whole >= 0 &&
            !outer->under && outer->end + 2u == x->at) {
            s->epoch = outer->value; /* "train: [3][120/400]" */
            s->has |= SIGHTING_EPOCH;
        }
    } else {
        s->at = llround(x->value * 100);
        s->of = 10000;
        s->has = SIGHTING_AT | SIGHTING_OF;
        if (kind == PROGRESS_BAR_EPOCHS || progress_line_find(line, 0, "this epoch") < label)
            s->has = 0; /* the share of an epoch, nobody knows of which */
    }
    s->key = label_key(line, label, s->of);
    s->eval = kind == PROGRESS_BAR_EVAL ? "val" : NULL;
    read_label(line, label, s);
    read_named(line, s);
    if (kind == PROGRESS_BAR_PLAIN && !sighting_has_metric(s) && !(s->has & SIGHTING_EPOCH) &&
        !counts_iterations(line))
        s->has = 0;
    judge_bar(s, kind);
    return true;
}
