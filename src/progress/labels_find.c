/* Owns what the numbers of a line are, going by the words around them, and whether the line is
 * about an evaluation. labels.c makes a place of them. */
#include "progress/labels_find.h"

#include <math.h>
#include <string.h>

#include "base/letter.h"
#include "progress/announce.h"

bool labels_is_adjacent(const struct progress_line *line, const struct progress_number *a,
                        const struct progress_number *b)
{
    for (size_t i = a->end; i < b->at; i++) {
        if (letter_is_alpha(line->text[i]) || line->text[i] == '=' || line->text[i] == ';')
            return false;
    }
    return true;
}

/* The number after the group of number i: i itself, its divisor, "( 33%)". */
static unsigned next_group(const struct progress_line *line, unsigned i)
{
    i += line->number[i].over ? 2 : 1;
    while (i < line->count && line->number[i].percent && line->number[i].open == '(')
        i++;
    return i;
}

/* "04/28 17:21:59" */
static bool is_date(const struct progress_line *line, const struct progress_number *divisor)
{
    size_t i = divisor->end;
    const char *t = line->text;
    if (divisor->end - divisor->at != 2 || divisor[-1].end - divisor[-1].at != 2)
        return false;
    return i + 4 < line->n && t[i] == ' ' && t[i + 1] >= '0' && t[i + 1] <= '9' &&
           (t[i + 2] == ':' || t[i + 3] == ':');
}

bool labels_is_bare_fraction(const struct progress_line *line, unsigned i)
{
    return i + 1 < line->count && line->number[i].over && !line->number[i].words &&
           (!line->number[i].scaled || line->number[i].open == '[') &&
           line->number[i + 1].whole > 0 && !is_date(line, &line->number[i + 1]);
}

/* "Train: 0 [  0/1251", "Train: [14/300][250/1251]": an epoch without its name. */
static bool is_train_epoch(const struct progress_line *line, unsigned i,
                           const struct progress_name *name)
{
    unsigned next = next_group(line, i);
    return name->train && !strcmp(name->text, "train") && line->number[i].whole >= 0 &&
           labels_is_bare_fraction(line, next) && line->number[next].open == '[' &&
           labels_is_adjacent(line, &line->number[next - 1], &line->number[next]);
}

static bool is_place(const struct progress_number *x)
{
    return !x->unit && !x->percent && x->sep != '|';
}

/* "building tree 3 of 400", "Learning iteration 3/1500": words that are not known stand
 * in front of a step. That it has an end makes it one. */
static void guess_step(const struct progress_line *line, unsigned i, struct progress_name *name)
{
    const struct progress_number *x = &line->number[i];
    if (name->kind != PROGRESS_WORD_IGNORED || name->eval || !x->over)
        return;
    if (name->data) {
        name->kind = PROGRESS_WORD_STEP; /* "samples seen: 38,400 / 128,000" */
        return;
    }
    const char *label = line->text + x->label, *last = label + x->words;
    while (last > label && letter_is_alpha(last[-1]))
        last--;
    unsigned words = 1;
    for (const char *p = label; p < last; p++)
        words += *p == ' ';
    struct progress_name word;
    progress_name_read(last, (size_t)(label + x->words - last), &word);
    if (words > 3 || word.kind != PROGRESS_WORD_STEP)
        return;
    name->kind = PROGRESS_WORD_STEP;
    name->unit = word.unit;
}

/* "45 / 300 total iterations": what is counted comes after. Not in "epoch 2/4 step 10/100",
 * where the word belongs to the next number. */
static bool is_counted(const struct progress_line *line, unsigned i, struct progress_name *name)
{
    bool completed = name->closes;
    if (line->number[i].words && name->kind == PROGRESS_WORD_EPOCH)
        return false;
    size_t at = line->number[i + 1].end;
    for (int words = 0; words < 2 && progress_line_at(line, at, " "); words++) {
        size_t begin = ++at;
        while (at < line->n && letter_is_alpha(line->text[at]))
            at++;
        enum progress_unit unit = progress_unit_of_word(line->text + begin, at - begin);
        bool names_next = at < line->n && strchr(":=", line->text[at]);
        if (unit == PROGRESS_UNIT_NONE || names_next)
            continue;
        *name =
            (struct progress_name){.kind = PROGRESS_WORD_STEP, .unit = unit, .closes = completed};
        if (unit == PROGRESS_UNIT_EPOCH)
            name->kind = PROGRESS_WORD_EPOCH;
        return line->number[i].whole >= 0 && line->number[i + 1].whole > 0;
    }
    return false;
}

/* "train: 0.13  valid: 0.21": whatever it is, it is measured. */
static void guess_metric(const struct progress_number *x, struct progress_name *name)
{
    bool whose =
        !strcmp(name->text, "train") || !strcmp(name->text, "val") || !strcmp(name->text, "test");
    if (name->kind == PROGRESS_WORD_OTHER && whose && x->whole < 0 && x->sep != ' ' && !x->over)
        name->kind = PROGRESS_WORD_METRIC;
}

/* "Epoch: 4/10 Train steps: 100 Val steps: 20": how many there are in each epoch. */
static bool is_size_of_epoch(const struct progress_line *line, const struct progress_number *x,
                             const struct progress_name *name, const struct found *f)
{
    return !x->over && f->epoch != NONE && line->number[f->epoch].over &&
           !strcmp(name->text, "train_steps");
}

static void note_place(const struct progress_line *line, unsigned i,
                       const struct progress_name *name, struct found *f)
{
    const struct progress_number *x = &line->number[i];
    if (is_size_of_epoch(line, x, name, f))
        return;
    f->counters = f->counters || (name->kind == PROGRESS_WORD_STEP && f->step != NONE &&
                                  x->whole >= 0 && is_place(x) && name->unit > PROGRESS_UNIT_STEP);
    bool place = name->kind == PROGRESS_WORD_STEP && x->whole >= 0 && is_place(x);
    if (place && f->step != NONE && name->unit == PROGRESS_UNIT_TIMESTEP && f->timesteps == NONE)
        f->timesteps = (uint16_t)i;
    /* "micro step 128 (optimizer step 16/100)" */
    bool micro = f->step != NONE && x->over && line->number[f->step].words > 5 &&
                 progress_line_at(line, line->number[f->step].label, "micro");
    if (place && (f->step == NONE || micro)) {
        f->step = (uint16_t)i;
    } else if (name->kind == PROGRESS_WORD_EPOCH && f->epoch == NONE && is_place(x) &&
               isfinite(x->value) && x->value >= 0) {
        f->epoch = (uint16_t)i;
        f->closes = name->closes;
    } else if (f->epoch == NONE && is_train_epoch(line, i, name)) {
        f->epoch = (uint16_t)i;
        f->train_epoch = true;
    }
    if (f->epoch == i)
        f->last_epoch = (uint16_t)(next_group(line, i) - 1);
    /* "Train Epoch: 3 [40%]" */
    const struct progress_number *share = x + 1 + x->over;
    if (f->epoch == i && share < line->number + line->count && share->percent &&
        share->open == '[' && share->value >= 0 && share->value <= 100 &&
        labels_is_adjacent(line, x, share))
        f->percent = (uint16_t)(share - line->number);
}

bool labels_is_metric(const struct progress_number *x, const struct progress_name *name)
{
    if (name->kind == PROGRESS_WORD_LOSS)
        return !x->unit && !x->percent && !x->over;
    return name->kind == PROGRESS_WORD_METRIC && !x->unit && (x->sep != ' ' || x->whole < 0);
}

/* "Iteration: 10 (2.5%)": nothing stands between the step and its share. */
static bool is_share_of_step(const struct progress_line *line, unsigned i, const struct found *f)
{
    const struct progress_number *x = &line->number[i];
    return f->step != NONE && f->step + 1u == i && x->percent && x->open == '(' && !x->words &&
           labels_is_adjacent(line, &line->number[f->step], x) && x->value >= 0 && x->value <= 100;
}

void labels_find(const struct progress_line *line, struct progress_name *names, struct found *f)
{
    *f = (struct found){.step = NONE,
                        .epoch = NONE,
                        .fraction = NONE,
                        .second = NONE,
                        .last_epoch = NONE,
                        .percent = NONE,
                        .total = NONE,
                        .epochs = NONE,
                        .timesteps = NONE,
                        .metric_at = line->n,
                        .whole_metrics = true};
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        names[i].kind = PROGRESS_WORD_OTHER;
        if (x->under)
            continue;
        if (x->words)
            progress_name_read(line->text + x->label, x->words, &names[i]);
        else
            names[i].closes = false;
        if (x->over && f->step == NONE && f->epoch == NONE && is_counted(line, i, &names[i])) {
            note_place(line, i, &names[i], f);
            continue;
        }
        if (labels_is_bare_fraction(line, i)) {
            if (f->fraction == NONE)
                f->fraction = (uint16_t)i;
            else if (f->second == NONE)
                f->second = (uint16_t)i;
        }
        if (f->percent == NONE && (progress_is_share_done(line, x) || is_share_of_step(line, i, f)))
            f->percent = (uint16_t)i;
        if (!x->words)
            continue;
        f->learning = f->learning || (names[i].measured && x->whole < 0);
        guess_step(line, i, &names[i]);
        guess_metric(x, &names[i]);
        if (names[i].kind == PROGRESS_WORD_EPOCHS && x->whole < 0 && !x->over)
            names[i].kind = PROGRESS_WORD_EPOCH; /* "epochs:0.35": so far */
        note_place(line, i, &names[i], f);
        if (names[i].kind == PROGRESS_WORD_TOTAL && x->whole > 0 && f->total == NONE) {
            /* "Updates 50, num timesteps 102400" are so far. */
            bool so_far =
                f->step != NONE && names[i].unit == PROGRESS_UNIT_TIMESTEP && x->sep == ' ';
            if (so_far)
                f->timesteps = (uint16_t)i;
            else
                f->total = (uint16_t)i;
            f->counters = f->counters || so_far;
        }
        if (names[i].kind == PROGRESS_WORD_EPOCHS && x->whole > 0 && f->epochs == NONE)
            f->epochs = (uint16_t)i;
        f->learning =
            f->learning || !strcmp(names[i].text, "lr") || !strcmp(names[i].text, "learning_rate");
        if (!labels_is_metric(x, &names[i]))
            continue;
        if (f->metric_at == line->n)
            f->metric_at = x->label;
        f->eval_metric = f->eval_metric || names[i].eval;
        f->whole_metrics = f->whole_metrics && x->whole >= 0 && !x->over;
    }
}

static bool is_edge(char c)
{
    return !(letter_is_alpha(c) || (c >= '0' && c <= '9') || c == '_' || c == '/' || c == '.' ||
             c == '-' || c == '=' || (unsigned char)c >= 0x80);
}

const char *labels_find_eval(const struct progress_line *line, size_t metric_at)
{
    if (line->eval)
        return line->eval;
    if (progress_line_find(line, 0, "Saving dict for global step") < line->n)
        return "eval"; /* TensorFlow's estimators */
    if (metric_at && progress_line_at(line, metric_at, "Acc@1") &&
        memchr(line->text, '*', metric_at))
        return "val"; /* " * Acc@1 71.3 Acc@5 90.1" of ImageNet's loops */
    bool first = true;
    for (size_t i = 0; i < line->n && (i < metric_at || first);) {
        if (!letter_is_alpha(line->text[i])) {
            i++;
            continue;
        }
        size_t end = i;
        while (end < line->n && letter_is_alpha(line->text[end]))
            end++;
        bool alone =
            (!i || is_edge(line->text[i - 1])) && (end == line->n || is_edge(line->text[end]));
        const char *prefix = alone ? progress_eval_prefix(line->text + i, end - i) : NULL;
        if (prefix && (first || end <= metric_at))
            return prefix;
        /* Log levels do not count as the first word. */
        first = first && end - i >= 4 && line->text[i] < 'a' && line->text[end - 1] < 'a';
        i = end;
    }
    return NULL;
}

const char *labels_eval_prefix(const struct progress_line *line, const struct progress_name *names)
{
    const char *prefix = NULL;
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        if (!x->words || x->under || !labels_is_metric(x, &names[i]))
            continue;
        if (!names[i].eval && (!prefix || names[i].kind == PROGRESS_WORD_LOSS))
            return NULL;
        if (!prefix)
            prefix = progress_eval_prefix(names[i].text, strcspn(names[i].text, "_"));
    }
    return prefix;
}
