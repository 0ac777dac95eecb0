/* Owns what lines say of the whole run: how long it will be, and how much of it is done. */
#include "progress/announce.h"

#include <math.h>
#include <string.h>

#include "base/letter.h"

static bool has_word(const char *text, size_t n, const char *word)
{
    const char *p = text;
    size_t length = strlen(word);
    while ((p = progress_find(p, n - (size_t)(p - text), word))) {
        const char *end = p + length;
        if ((p == text || !letter_is_alpha(p[-1])) && (end == text + n || !letter_is_alpha(*end)))
            return true;
        p = end;
    }
    return false;
}

int64_t progress_share_end(const struct progress_line *line, const struct progress_number *share,
                           int64_t at)
{
    const char *point = memchr(line->text + share->at, '.', (size_t)(share->end - share->at));
    int decimals = point ? (int)(line->text + share->end - point) - 1 : 0;
    if (at <= 0 || !(share->value >= 5 * pow(10, -decimals)))
        return 0;
    return llround((double)at * 100 / share->value);
}

/* "Progress: 66.15%", "(14.2% complete)", "at 12.3% examples": how much is done. */
bool progress_is_share_done(const struct progress_line *line, const struct progress_number *x)
{
    static const char *const before[] = {"percent",   "Percent",  "progress",
                                         "Progress",  "PROGRESS", "complete",
                                         "completed", "Complete", "Completed"};
    static const char *const after[] = {"complete", "done", "finished", "examples"};
    if (!x->percent || x->open == '[' || !(x->value >= 0 && x->value <= 100) || x->over || x->under)
        return false;
    for (size_t i = 0; i < sizeof before / sizeof *before && x->words; i++) {
        if (has_word(line->text + x->label, x->words, before[i]))
            return true;
    }
    size_t at = x->end;
    while (at < line->n && strchr(" %", line->text[at]))
        at++;
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        if (progress_line_at(line, at, after[i]))
            return true;
    }
    return false;
}

/* "Progress: 45%" may be of anything; a word of the trade makes it a training's. */
bool progress_speaks_of_training(const struct progress_line *line)
{
    static const char *const words[] = {"alpha", "learn", "tree", "train", "epoch", "iter",
                                        "boost", "word",  "fit",  "sampl", "step"};
    for (size_t i = 0; i < line->n; i++) {
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            size_t k = 0;
            while (words[w][k] && i + k < line->n && letter_lower(line->text[i + k]) == words[w][k])
                k++;
            if (!words[w][k])
                return true;
        }
    }
    return false;
}

/* "Training for" a number of something, or "Performing" it. */
static bool is_promise(const char *label, size_t n)
{
    bool trains = n >= 9 && !memcmp(label + n - 4, " for", 4) && progress_find(label, n, "rain");
    return trains ||
           (n == 10 && (!memcmp(label, "Performing", n) || !memcmp(label, "performing", n)));
}

/* "Start training for 100 epochs", "Training for 25000 kimg", "Performing 100 iterations." */
static bool read_promise(const struct progress_line *line, struct sighting *s)
{
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        if (x->whole <= 0 || !is_promise(line->text + x->label, x->words))
            continue;
        size_t at = x->end + progress_line_at(line, x->end, " "), end = at;
        while (end < line->n && letter_is_alpha(line->text[end]))
            end++;
        s->unit = progress_unit_of_word(line->text + at, end - at);
        s->limit = x->whole;
        s->has = SIGHTING_LIMIT;
        return s->unit != PROGRESS_UNIT_NONE;
    }
    return false;
}

/* "Total optimization steps = 460", "max_epochs: 10", "Overriding: max_iters = 2000",
 * "Starting training..., iters: 1000": how long the run will be. */
bool progress_read_announcement(const struct progress_line *line, const struct progress_name *names,
                                bool alone, struct sighting *s)
{
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        const struct progress_name *name = &names[i];
        if (!x->words || x->whole <= 0 || x->over || x->under || x->unit)
            continue;
        bool limit = name->kind == PROGRESS_WORD_TOTAL || name->kind == PROGRESS_WORD_EPOCHS ||
                     (alone && !strcmp(name->text, "iters"));
        if (!limit || (x->sep != '=' && x->sep != ':') || !strcmp(name->text, "total"))
            continue;
        s->unit = name->kind == PROGRESS_WORD_EPOCHS ? PROGRESS_UNIT_EPOCH
                  : name->unit != PROGRESS_UNIT_NONE ? name->unit
                                                     : PROGRESS_UNIT_STEP;
        s->limit = x->whole;
        s->has = SIGHTING_LIMIT;
        return true;
    }
    return read_promise(line, s);
}
