/* Owns the forms that put their numbers into words:
 *
 *   Cost after iteration 100: 0.6432         Training loss (for one batch) at step 200: 0.9
 *   Train loss 120 0.5123 Grad Norm 1.2      iter  10 value 902.812
 *   At iteration 700/1000/1000, Mean rms=1.2%, char train=2.1%          Tesseract
 *   tick 12    kimg 48.2     time 12m 34s    3epoch:train:301-400batch: loss=35.6
 *   Fitting 5 folds for each of 12 candidates, totalling 60 fits, and [CV 3/5] END ... */
#include "progress/phrases.h"

#include <math.h>
#include <string.h>

#include "base/letter.h"
#include "progress/announce.h"
#include "progress/number.h"

static bool label_is(const struct progress_line *line, const struct progress_number *x,
                     const char *word)
{
    return x->words == strlen(word) && !memcmp(line->text + x->label, word, x->words);
}

/* The last word of the label. */
static size_t last_word(const struct progress_line *line, const struct progress_number *x,
                        const char **word)
{
    const char *label = line->text + x->label;
    size_t n = x->words, i = n;
    while (i && label[i - 1] != ' ')
        i--;
    *word = label + i;
    return n - i;
}

static bool contains(const char *text, size_t n, const char *const *words)
{
    for (; *words; words++) {
        if (progress_find(text, n, *words))
            return true;
    }
    return false;
}

/* A loss is named, then "at" or "after" a place, then the value. */
static bool read_loss_at(const struct progress_line *line, struct sighting *s)
{
    static const char *const losses[] = {"loss", "Loss", "LOSS", "cost", "Cost", NULL};
    static const char *const evals[] = {"val", "Val", "test", "Test", "eval", "Eval", NULL};
    for (unsigned i = 0; i + 1 < line->count; i++) {
        const struct progress_number *x = &line->number[i], *value = x + 1;
        const char *word;
        size_t n = x->words ? last_word(line, x, &word) : 0, before = x->label;
        if (!n || x->whole < 0 || x->over || value->words || value->unit)
            continue;
        struct progress_name name;
        progress_name_read(word, n, &name);
        bool epoch = name.kind == PROGRESS_WORD_EPOCH, step = name.kind == PROGRESS_WORD_STEP;
        const char *behind = line->text + x->end;
        size_t named = before + x->words - n;
        bool placed =
            progress_find(line->text, named, "at ") || progress_find(line->text, named, "after ");
        if (!(epoch || step) || !placed || (*behind != ':' && *behind != '=' && *behind != ',') ||
            !contains(line->text, named, losses))
            continue;
        s->epoch = x->value;
        s->at = x->whole;
        s->unit = name.unit;
        s->has = epoch ? SIGHTING_EPOCH : SIGHTING_AT;
        s->closes = epoch;
        s->trust = TRUST_GOOD;
        s->loss = value->value;
        s->loss_rank = PROGRESS_LOSS_WHOLE;
        if (!contains(line->text, named, evals))
            return true;
        s->eval = "val";
        s->loss_rank = PROGRESS_LOSS_NONE;
        return false;
    }
    return false;
}

/* "Train loss 120 0.5123": the place has no name. */
static bool read_loss_pair(const struct progress_line *line, struct sighting *s)
{
    const struct progress_number *x = &line->number[0];
    if (line->count < 2 || !x->words || x->whole < 0 || x->sep != ' ' || x[1].words ||
        x[1].whole >= 0 || x[1].at != x->end + 1 || x[1].unit || x->open)
        return false;
    struct progress_name name;
    progress_name_read(line->text + x->label, x->words, &name);
    if (name.kind != PROGRESS_WORD_LOSS || name.eval)
        return false;
    s->at = x->whole;
    s->unit = PROGRESS_UNIT_STEP;
    s->has = SIGHTING_AT;
    s->trust = TRUST_GOOD;
    s->loss = x[1].value;
    s->loss_rank = name.rank;
    return true;
}

/* "1m 30s (- 19m 12s) (5000 5%) 3.4", "5000 5% (1m 12s) 3.4 Smith": the tutorials of PyTorch. */
static bool read_tutorial(const struct progress_line *line, struct sighting *s)
{
    const struct progress_number *place = NULL, *loss = NULL;
    bool time = false;
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        time = time || (x->unit && progress_line_at(line, x->end, "m "));
        if (i + 1 < line->count && x[1].percent && x[1].at == x->end + 1u && !x->words &&
            x->whole > 0 && !x->over && x[1].value > 0 && x[1].value <= 100)
            place = x;
        if (place && x > place + 1 && x->whole < 0 && !x->words && !x->unit && !x->percent && !loss)
            loss = x;
    }
    if (!place || !time || !loss)
        return false;
    s->at = place->whole;
    s->of = progress_share_end(line, &place[1], place->whole);
    s->has = SIGHTING_AT | (s->of ? SIGHTING_OF : 0);
    s->share = s->of;
    s->unit = PROGRESS_UNIT_STEP;
    s->scope = SCOPE_JOB;
    s->trust = TRUST_GOOD;
    s->loss = loss->value;
    s->loss_rank = PROGRESS_LOSS_WHOLE;
    return true;
}

/* The optimisers of R. */
static bool read_optim(const struct progress_line *line, struct sighting *s)
{
    const struct progress_number *x = &line->number[0];
    if (line->count != 2 || !label_is(line, x, "iter") || !label_is(line, x + 1, "value") ||
        x->whole < 0)
        return false;
    s->at = x->whole;
    s->unit = PROGRESS_UNIT_STEP;
    s->has = SIGHTING_AT;
    s->trust = TRUST_GOOD;
    s->loss = x[1].value;
    s->loss_rank = PROGRESS_LOSS_NAMED;
    return true;
}

/* Tesseract's three counts: learning, training and sample iterations. Its limit is of
 * the second. */
static bool read_tesseract(const struct progress_line *line, struct sighting *s)
{
    static const char words[] = "At iteration ";
    if (!progress_line_at(line, 0, words))
        return false;
    size_t i = sizeof words - 1;
    double count[3];
    for (int k = 0; k < 3; k++) {
        size_t n = progress_number_read(line->text + i, line->n - i, &count[k]);
        if (!n || i + n >= line->n || line->text[i + n] != (k < 2 ? '/' : ','))
            return false;
        i += n + 1;
    }
    if (!(count[1] >= 0 && count[1] < 1e15))
        return false;
    s->at = (int64_t)count[1];
    s->unit = PROGRESS_UNIT_STEP;
    s->has = SIGHTING_AT;
    s->scope = SCOPE_JOB;
    s->trust = TRUST_GOOD;
    return true;
}

/* StyleGAN counts thousands of images. */
static bool read_kimg(const struct progress_line *line, struct sighting *s)
{
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        if (!label_is(line, x, "kimg") || !(x->value >= 0 && x->value < 1e12))
            continue;
        s->at = llround(x->value);
        s->unit = PROGRESS_UNIT_KIMG;
        s->has = SIGHTING_AT;
        s->scope = SCOPE_JOB;
        s->trust = TRUST_GOOD;
        return true;
    }
    return false;
}

/* "3epoch:train:301-400batch: ... loss=35.6", "4/70epoch started" */
static bool read_espnet(const struct progress_line *line, struct sighting *s)
{
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        const struct progress_number *last = x->over ? x + 1 : x;
        if (x->whole < 0 || !progress_line_at(line, last->end, "epoch") ||
            (!progress_line_at(line, last->end, "epoch:train:") &&
             !progress_line_at(line, last->end, "epoch started")))
            continue;
        s->epoch = x->value;
        s->has = SIGHTING_EPOCH;
        s->trust = TRUST_GOOD;
        if (x->over) {
            s->epochs = x[1].whole;
            s->has |= SIGHTING_EPOCHS;
            s->header = true;
        } else {
            sighting_add_pairs(s, line, i + 1, false);
        }
        return true;
    }
    return false;
}

/* scikit-learn's searches. */
static bool read_search(const struct progress_line *line, struct sighting *s)
{
    size_t at = progress_line_find(line, 0, ", totalling ");
    s->trust = TRUST_GOOD;
    s->scope = SCOPE_JOB;
    s->has = SIGHTING_TICK;
    if (progress_line_at(line, 0, "[CV") && progress_line_find(line, 0, " END ") < line->n)
        return true;
    for (unsigned i = 0; i < line->count && at < line->n; i++) {
        const struct progress_number *x = &line->number[i];
        if (x->at < at || x->whole <= 0 || !progress_line_at(line, x->end, " fits"))
            continue;
        s->of = x->whole;
        s->has |= SIGHTING_OF;
        return true;
    }
    s->has = 0;
    return false;
}

bool progress_read_phrase(const struct progress_line *line, struct sighting *s)
{
    static const struct {
        const char *source;
        bool (*read)(const struct progress_line *, struct sighting *);
    } readers[] = {
        {"text", read_loss_at},        {"text", read_loss_pair}, {"optim", read_optim},
        {"tesseract", read_tesseract}, {"kimg", read_kimg},      {"espnet", read_espnet},
        {"search", read_search},       {"text", read_tutorial},
    };
    if (!line->count || line->continued)
        return false;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        sighting_init(s, readers[i].source);
        if (readers[i].read(line, s))
            return true;
    }
    return false;
}
