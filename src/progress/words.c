/* Owns the reading of names: which stand for what in the output of a training.
 *
 * A name is read as lower-case words: "Validation-Acc@1" is val, acc1. What
 * decides is the words, not their order or what joins them. */
#include "progress/words.h"

#include <string.h>

#include "base/letter.h"
#include "progress/vocabulary.h"

#define WORDS 8
#define SPELLED 64

struct words {
    char text[SPELLED];    /* the words, each with a NUL */
    const char *at[WORDS]; /* in their common form */
    uint32_t is[WORDS];    /* WORD_... of each */
    uint32_t any;          /* of all of them together */
    unsigned n;
};

#define LIST(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}

/* What the words in front of a bar begin with. */
LIST(prepare_words, "download", "extract", "load", "tokeni", "map", "filter", "cach", "scan",
     "process", "preprocess", "generating", "sav", "upload", "encod", "index", "build", "read",
     "writ", "compress", "decompress", "unpack", "unzip", "untar", "convert", "fetch", "collect",
     "prepar", "flatten", "cast", "copy", "import", "install", "pars", "checkpoint", "resolv",
     "shuffl", "plot", "verify", "checking", "creating", "comput", "quantiz", "vocab", "merges",
     "setting", "clean", "split", "setup", "fill", "prefill", "replay", "buffer");
LIST(train_bar_words, "train", "fit", "epoch", "iter", "step", "batch", "optimi", "finetun",
     "learn", "updat");
LIST(eval_bar_words, "val", "test", "eval", "sanity", "predict", "infer", "dev", "class");

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

const char *progress_eval_prefix(const char *word, size_t n)
{
    char low[16];
    if (!n || n >= sizeof low)
        return NULL;
    for (size_t i = 0; i < n; i++)
        low[i] = letter_lower(word[i]);
    const struct progress_word *w = progress_vocabulary_find(low, n);
    return w && (w->is & WORD_EVAL) ? w->means ? w->means : w->text : NULL;
}

/* Splits a label; one with more or longer words than fit keeps the last ones,
 * which say what it is. */
static void split_label(const char *label, size_t n, struct words *w)
{
    if (n > SPELLED - WORDS - 1) {
        label += n - (SPELLED - WORDS - 1);
        n = SPELLED - WORDS - 1;
    }
    size_t used = 0;
    bool open = false;
    w->n = 0;
    for (size_t i = 0; i < n; i++) {
        char c = letter_lower(label[i]);
        if (c == '\'' && i + 1 < n && letter_lower(label[i + 1]) == 's') {
            i++; /* "training's" */
            continue;
        }
        if (c == '@')
            continue; /* "Acc@1" */
        if (!is_letter(c)) {
            if (open)
                w->text[used++] = '\0';
            open = false;
            continue;
        }
        if (!open) {
            if (w->n == WORDS)
                return;
            w->at[w->n++] = w->text + used;
            open = true;
        }
        w->text[used++] = c;
    }
    w->text[used] = '\0';
}

/* Looks the words up. */
static void know_words(struct words *w)
{
    w->any = 0;
    for (unsigned i = 0; i < w->n; i++) {
        const struct progress_word *known = progress_vocabulary_find(w->at[i], strlen(w->at[i]));
        w->is[i] = known ? known->is : 0;
        w->any |= w->is[i];
        if (known && known->means)
            w->at[i] = known->means;
    }
}

static void drop_first(struct words *w)
{
    w->n--;
    memmove(w->at, w->at + 1, w->n * sizeof *w->at);
    memmove(w->is, w->is + 1, w->n * sizeof *w->is);
}

static void join_words(const struct words *w, char *out)
{
    size_t used = 0;
    for (unsigned i = 0; i < w->n; i++) {
        size_t n = strlen(w->at[i]);
        if (used + (i > 0) >= PROGRESS_NAME - 1)
            break;
        if (i)
            out[used++] = '_';
        if (n > PROGRESS_NAME - 1 - used)
            n = PROGRESS_NAME - 1 - used;
        memcpy(out + used, w->at[i], n);
        used += n;
    }
    out[used] = '\0';
}

/* All but the last word may stand in front of it. */
static bool only_before(const struct words *w, uint32_t before)
{
    for (unsigned i = 0; i + 1 < w->n; i++) {
        if (!(w->is[i] & before))
            return false;
    }
    return true;
}

static uint8_t loss_rank(const struct words *w)
{
    bool whole = true;
    for (unsigned i = 0; i < w->n; i++)
        whole = whole && (w->is[i] & (WORD_WHOLE));
    if (whole)
        return w->any & WORD_ROUGH ? PROGRESS_LOSS_ROUGH : PROGRESS_LOSS_WHOLE;
    return w->is[w->n - 1] & WORD_LOSS ? PROGRESS_LOSS_NAMED : PROGRESS_LOSS_PART;
}

/* "max_steps", "Num Epochs": how long the run is. "steps" alone is a place, and so is
 * "train step". */
static bool limits_run(const struct words *w, const char *text)
{
    static const char *const places[] = {"total_timesteps", "num_update", "num_updates"};
    enum progress_unit unit = progress_plan_unit(text, strlen(text));
    if (!strcmp(text, "total") || !strcmp(text, "total_optimization_steps"))
        return true;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!strcmp(text, places[i]))
            return false;
    }
    if (unit == PROGRESS_UNIT_NONE || (w->n == 1 && strcmp(text, "epochs") != 0))
        return false;
    return w->n == 1 || !(w->is[0] & WORD_TRAIN) || !(w->is[w->n - 1] & (WORD_STEP | WORD_EPOCH));
}

static enum progress_kind read_kind(const struct words *w, const char *text)
{
    uint32_t last = w->is[w->n - 1];
    if (limits_run(w, text))
        return progress_plan_unit(text, strlen(text)) == PROGRESS_UNIT_EPOCH ? PROGRESS_WORD_EPOCHS
                                                                             : PROGRESS_WORD_TOTAL;
    if (last & WORD_STEP)
        return only_before(w, WORD_BEFORE_STEP | WORD_STEP | WORD_CLOSING) ||
                       !strcmp(text, "total_timesteps")
                   ? PROGRESS_WORD_STEP
                   : PROGRESS_WORD_IGNORED;
    if (last & WORD_EPOCH)
        return only_before(w, WORD_BEFORE_EPOCH) ? PROGRESS_WORD_EPOCH : PROGRESS_WORD_IGNORED;
    if (w->any & WORD_NO_LOSS)
        return PROGRESS_WORD_IGNORED;
    if ((w->any & WORD_COST) && w->n > 1 &&
        ((w->any & WORD_ROUGH) || !only_before(w, WORD_WHOLE | WORD_TRAIN | WORD_EVAL)))
        return PROGRESS_WORD_IGNORED;
    if (w->any & WORD_LOSS)
        return PROGRESS_WORD_LOSS;
    if (w->any & WORD_METRIC)
        return PROGRESS_WORD_METRIC;
    return w->any & WORD_IGNORED ? PROGRESS_WORD_IGNORED : PROGRESS_WORD_OTHER;
}

/* Words that only steps are counted by ("itr", "up") need not be known to plans. */
static enum progress_unit step_unit(const char *word)
{
    enum progress_unit unit = progress_unit_of_word(word, strlen(word));
    return unit == PROGRESS_UNIT_NONE ? PROGRESS_UNIT_STEP : unit;
}

/* The last word that names a number decides: "top1_error" falls. */
static bool does_rise(const struct words *w)
{
    for (unsigned i = w->n; i-- > 0;)
        if (w->is[i] & (WORD_METRIC | WORD_LOSS))
            return w->is[i] & WORD_RISES;
    return false;
}

void progress_name_read(const char *label, size_t n, struct progress_name *out)
{
    struct words w;
    split_label(label, n, &w);
    know_words(&w);
    while (w.n > 1 && ((w.is[0] & WORD_LEVEL) || !strcmp(w.at[0], "of")))
        drop_first(&w);
    out->kind = PROGRESS_WORD_OTHER;
    out->rank = PROGRESS_LOSS_NONE;
    out->eval = w.any & WORD_EVAL;
    out->train = w.any & WORD_TRAIN;
    out->closes = w.any & WORD_CLOSING;
    out->rises = does_rise(&w);
    out->data = w.any & WORD_DATA;
    out->measured = w.any & (WORD_METRIC | WORD_LOSS);
    out->unit = PROGRESS_UNIT_NONE;
    out->text[0] = '\0';
    if (!w.n)
        return;
    join_words(&w, out->text);
    out->kind = read_kind(&w, out->text);
    if (out->kind == PROGRESS_WORD_LOSS)
        out->rank = loss_rank(&w);
    if (out->kind == PROGRESS_WORD_STEP)
        out->unit = step_unit(w.at[w.n - 1]);
    if (out->kind == PROGRESS_WORD_TOTAL)
        out->unit = progress_plan_unit(out->text, strlen(out->text));
}

/* Whether a word of the label begins with one of the list. */
static bool word_begins(const struct words *w, const char *const *list)
{
    for (unsigned i = 0; i < w->n; i++) {
        for (const char *const *p = list; *p; p++) {
            if (*w->at[i] == **p && !strncmp(w->at[i], *p, strlen(*p)))
                return true;
        }
    }
    return false;
}

enum progress_bar_kind progress_bar_read(const char *label, size_t n)
{
    struct words w;
    split_label(label, n, &w);
    if (w.n == 1 && (!strcmp(w.at[0], "epoch") || !strcmp(w.at[0], "epochs")))
        return PROGRESS_BAR_EPOCHS;
    if (w.n && (!strcmp(w.at[0], "total") || !strcmp(w.at[0], "overall")))
        return PROGRESS_BAR_TRAIN;
    if (w.n > 1 && !strcmp(w.at[w.n - 2], "build") && !strcmp(w.at[w.n - 1], "progress"))
        return PROGRESS_BAR_TRAIN; /* "gbm Model Build progress" of H2O */
    if (word_begins(&w, eval_bar_words))
        return PROGRESS_BAR_EVAL;
    if (word_begins(&w, prepare_words))
        return PROGRESS_BAR_PREPARE;
    return word_begins(&w, train_bar_words) ? PROGRESS_BAR_TRAIN : PROGRESS_BAR_PLAIN;
}
