/* Owns tables: a line of column names, then a row for each epoch.
 *
 *   epoch  train_loss  valid_loss  accuracy  time         fastai, skorch
 *   0      0.203402    0.170217    0.931664  00:12
 *
 *        Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size
 *       70/1000      6.73G      1.081     0.4706      1.084         10        640: 100%|█...
 *
 * Names are parted by two blanks at least, or by a tab; "Train Loss" is one. They may
 * go over two lines. */

#include "progress/table.h"
#include "progress/number.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '|';
}

/* The next name at or after *i: its length, 0 = no more. Between strokes a name may be
 * blank: then *blank is set. */
static size_t next_name(const char *text, size_t n, bool strokes, size_t *i, bool *blank)
{
    *blank = false;
    if (strokes && *i < n && text[*i] == '|')
        ++*i;
    while (*i < n && is_blank(text[*i]) && !(strokes && text[*i] == '|'))
        ++*i;
    if (strokes && *i < n && text[*i] == '|') {
        *blank = true;
        return 0;
    }
    size_t end = *i;
    while (end < n && text[end] != '\t' && text[end] != '|' &&
           !(text[end] == ' ' && (end + 1 >= n || text[end + 1] == ' ' || text[end + 1] == '|')))
        end++;
    return end - *i;
}

/* spaCy's two short ones. */
static void read_column(const char *text, size_t n, struct progress_name *out)
{
    progress_name_read(text, n, out);
    if (n == 1 && *text == '#')
        *out = (struct progress_name){.kind = PROGRESS_WORD_STEP, .rank = PROGRESS_LOSS_NONE};
    else if (n == 1 && *text == 'E')
        out->kind = PROGRESS_WORD_EPOCH;
}

/* Names that are parted by more than a blank, and no numbers. */
static bool may_be_head(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] >= '0' && text[i] <= '9' && (!i || text[i - 1] == ' ' || text[i - 1] == '|'))
            return false;
    }
    return progress_find(text, n, "  ") || memchr(text, '\t', n);
}

/* Puts the name below an earlier one: "Mini-batch" and "Loss". */
static void add_name(struct progress_name *name, const char *text, size_t n, bool below)
{
    char label[3 * PROGRESS_NAME];
    size_t used = 0;
    if (below) {
        used = strlen(name->text);
        memcpy(label, name->text, used);
        label[used++] = ' ';
    }
    n = n < sizeof label - used ? n : sizeof label - used;
    memcpy(label + used, text, n);
    read_column(label, used + n, name);
}

/* Reads a line of names into *head, below those that it has. */
static bool read_names(struct progress_table *head, const char *text, size_t n)
{
    bool strokes = *text == '|', below = head->n, blank;
    unsigned count = 0;
    for (size_t i = 0, length; (length = next_name(text, n, strokes, &i, &blank)) || blank;) {
        if (count == PROGRESS_COLUMNS || (below && count == head->n))
            return false;
        add_name(&head->column[count], text + i, length, below);
        for (size_t k = 0; k < length; k++)
            head->key = (head->key ^ (unsigned char)text[i + k]) * 16777619u;
        i += length;
        while (strokes && i < n && text[i] != '|')
            i++;
        count++;
    }
    if (below && count != head->n)
        return false;
    head->n = count;
    return count >= 2;
}

/* A table of a training has a place, and a loss. */
static void judge_head(struct progress_table *head)
{
    static const char *const words[] = {"avg", "mean", "std", "min", "max"};
    bool place = false, loss = false;
    unsigned described = 0;
    head->yolo = false;
    for (unsigned i = 0; i < head->n; i++) {
        const struct progress_name *name = &head->column[i];
        place = place || name->kind == PROGRESS_WORD_STEP || name->kind == PROGRESS_WORD_EPOCH;
        loss = loss || name->kind == PROGRESS_WORD_LOSS;
        head->yolo = head->yolo || !strcmp(name->text, "gpu_mem");
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            described += !strcmp(name->text, words[k]);
    }
    /* "gen  nevals  avg  std  min  max" of evolutionary searches. */
    bool first = head->column[0].kind == PROGRESS_WORD_STEP;
    head->statistics = first && described > 2;
    head->ready = place && (loss || head->yolo || head->statistics);
}

bool progress_table_head(struct progress_table *t, const char *text, size_t n)
{
    if (n > 400 || !may_be_head(text, n)) {
        if (t->n && !t->ready)
            t->n = 0; /* its second line would have been here */
        return false;
    }
    struct progress_table head = {.key = 2166136261u};
    if (t->n && !t->ready) {
        head = *t;
        if (!read_names(&head, text, n))
            head = (struct progress_table){.key = 2166136261u};
    }
    if (!head.n && !read_names(&head, text, n))
        return false;
    judge_head(&head);
    if (!head.ready && t->ready)
        return false;
    *t = head;
    return head.ready;
}

/* The next field of a row, a word without blanks. */
static size_t next_field(const struct progress_line *line, size_t *i)
{
    while (*i < line->n && is_blank(line->text[*i]))
        ++*i;
    size_t end = *i;
    while (end < line->n && !is_blank(line->text[end]))
        end++;
    return end - *i;
}

static int64_t read_whole(const char *text, size_t n)
{
    int64_t value = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9' || i == 15)
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return n ? value : -1;
}

/* "7" or "70/1000" under the name of a place. */
static bool add_place(struct sighting *s, const struct progress_name *name, const char *text,
                      size_t n)
{
    const char *stroke = memchr(text, '/', n);
    size_t first = stroke ? (size_t)(stroke - text) : n;
    int64_t value = read_whole(text, first), of = 0;
    if (stroke)
        of = read_whole(stroke + 1, n - first - 1);
    if (value < 0 || of < 0)
        return false;
    if (name->kind == PROGRESS_WORD_EPOCH) {
        s->epoch = (double)value;
        s->epochs = of;
        s->has |= SIGHTING_EPOCH | (of ? SIGHTING_EPOCHS : 0);
    } else {
        s->at = value;
        s->of = of;
        s->unit = name->unit;
        s->has |= SIGHTING_AT | (of ? SIGHTING_OF : 0);
        s->scope = SCOPE_JOB;
    }
    return true;
}

/* YOLO's columns of losses may have no "loss" in their names. */
static bool is_yolo_part(const struct progress_name *name)
{
    static const char *const parts[] = {"box", "obj", "cls", "dfl", "seg"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strcmp(name->text, parts[i]))
            return true;
    }
    return name->kind == PROGRESS_WORD_LOSS;
}

static void add_field(const struct progress_table *t, struct sighting *s,
                      const struct progress_name *name, double value)
{
    if (t->yolo && !strcmp(name->text, "total")) {
        s->loss = value;
        s->loss_rank = PROGRESS_LOSS_WHOLE;
    } else if (t->yolo && is_yolo_part(name)) {
        double sum = s->loss_rank == PROGRESS_LOSS_PART ? s->loss : 0;
        struct progress_name part = *name;
        part.kind = PROGRESS_WORD_METRIC;
        sighting_add(s, &part, value, false);
        if (s->loss_rank >= PROGRESS_LOSS_PART) {
            s->loss = sum + value;
            s->loss_rank = PROGRESS_LOSS_PART;
        }
    } else {
        sighting_add(s, name, value, false);
    }
}

/* A bar may follow the last field, which then ends with a colon. */
static bool read_fields(const struct progress_table *t, const struct progress_line *line,
                        struct sighting *s, size_t *end)
{
    size_t i = 0;
    for (unsigned c = 0; c < t->n; c++) {
        size_t n = next_field(line, &i);
        if (!n)
            return false;
        const struct progress_name *name = &t->column[c];
        const char *field = line->text + i;
        i += n;
        if (c + 1 == t->n && n > 1 && field[n - 1] == ':')
            n--;
        if (name->kind == PROGRESS_WORD_STEP || name->kind == PROGRESS_WORD_EPOCH) {
            if (!add_place(s, name, field, n))
                return false;
            continue;
        }
        double value;
        if (progress_number_read(field, n, &value) != n)
            continue;
        /* A whole number is a count, not a loss: this is another table. */
        if (name->kind == PROGRESS_WORD_LOSS && read_whole(field, n) >= 0)
            return false;
        add_field(t, s, name, value);
    }
    *end = i;
    return true;
}

/* The bar after a row counts the batches of the epoch. */
static bool read_rest(const struct progress_line *line, size_t end, struct sighting *s)
{
    while (end < line->n && is_blank(line->text[end]))
        end++;
    if (end == line->n) {
        s->closes = !(s->has & SIGHTING_AT);
        return true;
    }
    for (unsigned i = 0; i + 1 < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        if (x->at < end)
            continue;
        if (x->over && x[1].whole > 0 && !(s->has & SIGHTING_AT)) {
            s->at = x->whole;
            s->of = x[1].whole;
            s->has |= SIGHTING_AT | SIGHTING_OF;
            s->scope = SCOPE_EPOCH;
            s->source = "ultralytics";
        }
    }
    return s->has & SIGHTING_AT;
}

bool progress_table_row(const struct progress_table *t, const struct progress_line *line,
                        struct sighting *s)
{
    if (!t->ready || !line->count || line->continued)
        return false;
    sighting_init(s, "table");
    size_t end;
    if (!read_fields(t, line, s, &end) || !(sighting_has_metric(s) || t->statistics) ||
        !read_rest(line, end, s))
        return false;
    s->key = t->key;
    s->trust = TRUST_GOOD;
    return true;
}
