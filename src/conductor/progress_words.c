/* Owns the vocabulary: which names stand for what in the output of a training.
 *
 * A name is read as lower-case words: "Validation-Acc@1" is val, acc1. What
 * decides is the words, not their order or what joins them. */
#include "conductor/progress_words.h"

#include <string.h>

#define WORDS 8
#define SPELLED 64

struct words {
    char text[SPELLED]; /* the words, each with a NUL */
    const char *at[WORDS];
    unsigned n;
};

#define LIST(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}

LIST(level_words, "info", "debug", "warning", "notice");
LIST(train_words, "train", "training");
LIST(step_words, "step", "steps", "iter", "iters", "iteration", "iterations", "itr", "it", "batch",
     "update", "updates", "timestep", "timesteps", "round");
LIST(step_adjectives, "global", "train", "current", "cur", "num", "opt", "optimizer", "trainer",
     "boosting", "mini", "the");
LIST(epoch_words, "epoch", "ep", "itn");
LIST(epoch_adjectives, "global", "train", "current", "cur", "start", "starting", "begin",
     "beginning", "running", "now", "at", "end", "of", "ended", "finished", "completed", "done",
     "trainer", "the");
LIST(closing_words, "end", "ended", "finished", "completed", "done");
LIST(total_names, "total_optimization_steps", "total_training_steps", "total_steps", "max_steps",
     "num_steps", "total_iters", "max_iters", "total_iterations", "total");
LIST(epochs_names, "num_epochs", "epochs", "max_epochs", "total_epochs", "n_epochs",
     "num_train_epochs");
LIST(loss_words, "loss", "losses", "logloss", "mlogloss", "xent", "crossentropy", "nll", "nloglik",
     "loss1", "loss2");
/* With these a "loss" is not what a training makes small. */
LIST(not_loss_words, "scale", "scaling", "scaler", "weight", "weights", "packet", "packets", "data",
     "power", "stop", "connection", "hearing", "heat", "memory", "time", "fn", "function", "best",
     "min", "minimum", "lowest", "prev", "previous", "last", "of", "from", "no", "without",
     "improved", "to", "with", "the", "below", "above", "and", "target", "patience", "final");
/* Adjectives that leave a loss the whole one. */
LIST(whole_words, "loss", "train", "total", "avg", "average", "mean", "running", "batch", "cur",
     "curr", "current", "step", "epoch", "iter", "smoothed", "ema");
LIST(metric_words, "acc", "accuracy", "acc1", "acc5", "top1", "top5", "prec", "prec1", "prec5",
     "precision", "recall", "f1", "auc", "auroc", "ppl", "perplexity", "mae", "mse", "rmse",
     "error", "merror", "err", "iou", "miou", "map", "map50", "bleu", "rouge", "rougel", "wer",
     "cer", "psnr", "ssim", "dice", "score", "reward", "return", "bpc", "bpb", "r2", "entropy",
     "fid", "lpips", "mcc", "fscore", "kl", "ndcg", "mape");
LIST(ignored_words, "lr", "rate", "eta", "time", "data", "mem", "memory", "num", "wall", "ups",
     "wps", "wpb", "bsz", "seed", "runtime", "second", "sec", "seconds", "samples", "flos", "fps",
     "speed", "cost", "ips", "elapsed", "remaining", "ms", "dur", "size", "date", "timestamp",
     "momentum", "tokens", "throughput", "gpu", "mfu", "images", "instances", "scale", "best",
     "parameters", "pid", "rank", "world", "hours", "day", "days", "id", "port", "line", "version",
     "batch", "epoch", "epochs", "step", "steps", "iter", "examples", "finished", "total");
LIST(prepare_words, "download", "extract", "load", "tokeni", "map", "filter", "cach", "scan",
     "process", "preprocess", "generating", "sav", "upload", "encod", "index", "build", "read",
     "writ", "compress", "decompress", "unpack", "unzip", "untar", "convert", "fetch", "collect",
     "prepar", "flatten", "cast", "copy", "import", "install", "pars", "checkpoint", "resolv",
     "shuffl", "plot", "verify", "checking", "creating", "comput", "quantiz", "vocab", "merges",
     "setting", "clean", "split", "setup");
LIST(train_bar_words, "train", "fit", "epoch", "iter", "step", "batch", "optimi", "finetun",
     "learn", "updat");
LIST(eval_bar_words, "val", "test", "eval", "sanity", "predict", "infer", "dev", "sampl", "class");

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++) {
        if (!strcmp(word, *list))
            return true;
    }
    return false;
}

static bool has_one_of(const struct words *w, const char *const *list)
{
    for (unsigned i = 0; i < w->n; i++) {
        if (is_one_of(w->at[i], list))
            return true;
    }
    return false;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

const char *progress_eval_prefix(const char *word, size_t n)
{
    static const struct {
        const char *word, *prefix;
    } table[] = {
        {"val", "val"},         {"valid", "val"},       {"validation", "val"},
        {"validating", "val"},  {"dev", "val"},         {"test", "test"},
        {"testing", "test"},    {"eval", "eval"},       {"evaluation", "eval"},
        {"evaluating", "eval"}, {"evaluate", "eval"},   {"sanity", "val"},
        {"predicting", "eval"}, {"prediction", "eval"}, {"inference", "eval"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strlen(table[i].word) != n)
            continue;
        size_t k = 0;
        while (k < n && lower(word[k]) == table[i].word[k])
            k++;
        if (k == n)
            return table[i].prefix;
    }
    return NULL;
}

/* The one spelling of words that have several. */
static const char *common_form(const char *word)
{
    const char *prefix = progress_eval_prefix(word, strlen(word));
    return prefix ? prefix : !strcmp(word, "training") ? "train" : word;
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
        char c = lower(label[i]);
        if (c == '\'' && i + 1 < n && lower(label[i + 1]) == 's') {
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
    for (unsigned i = 0; i < w->n; i++)
        w->at[i] = common_form(w->at[i]);
}

static void drop_first(struct words *w)
{
    w->n--;
    memmove(w->at, w->at + 1, w->n * sizeof *w->at);
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

/* All but the last word are from the list. */
static bool only_adjectives(const struct words *w, const char *const *list)
{
    for (unsigned i = 0; i + 1 < w->n; i++) {
        if (!is_one_of(w->at[i], list))
            return false;
    }
    return true;
}

static bool read_loss(const struct words *w, struct progress_name *out)
{
    if (!has_one_of(w, loss_words) || has_one_of(w, not_loss_words))
        return false;
    out->kind = PROGRESS_WORD_LOSS;
    bool whole = true;
    for (unsigned i = 0; i < w->n; i++)
        whole = whole && is_one_of(w->at[i], whole_words);
    if (whole)
        out->rank = PROGRESS_LOSS_WHOLE;
    else
        out->rank =
            is_one_of(w->at[w->n - 1], loss_words) ? PROGRESS_LOSS_NAMED : PROGRESS_LOSS_PART;
    return true;
}

static enum progress_kind read_kind(const struct words *w, struct progress_name *out)
{
    const char *last = w->at[w->n - 1];
    if (is_one_of(out->text, total_names))
        return PROGRESS_WORD_TOTAL;
    if (is_one_of(out->text, epochs_names))
        return PROGRESS_WORD_EPOCHS;
    if (is_one_of(last, step_words) &&
        (only_adjectives(w, step_adjectives) || !strcmp(out->text, "total_timesteps")))
        return PROGRESS_WORD_STEP;
    if (is_one_of(last, epoch_words) && only_adjectives(w, epoch_adjectives)) {
        out->closes = has_one_of(w, closing_words);
        return PROGRESS_WORD_EPOCH;
    }
    if (is_one_of(last, step_words) || is_one_of(last, epoch_words))
        return PROGRESS_WORD_IGNORED;
    if (read_loss(w, out))
        return PROGRESS_WORD_LOSS;
    if (has_one_of(w, not_loss_words))
        return PROGRESS_WORD_IGNORED;
    if (has_one_of(w, metric_words))
        return PROGRESS_WORD_METRIC;
    return has_one_of(w, ignored_words) ? PROGRESS_WORD_IGNORED : PROGRESS_WORD_OTHER;
}

void progress_name_read(const char *label, size_t n, struct progress_name *out)
{
    struct words w;
    split_label(label, n, &w);
    while (w.n > 1 && is_one_of(w.at[0], level_words))
        drop_first(&w);
    *out = (struct progress_name){.rank = PROGRESS_LOSS_NONE};
    if (!w.n)
        return;
    for (unsigned i = 0; i < w.n; i++) {
        out->eval = out->eval || progress_eval_prefix(w.at[i], strlen(w.at[i]));
        out->train = out->train || is_one_of(w.at[i], train_words);
    }
    join_words(&w, out->text);
    out->kind = read_kind(&w, out);
}

/* Whether a word of the label begins with one of the list. */
static bool word_begins(const struct words *w, const char *const *list)
{
    for (unsigned i = 0; i < w->n; i++) {
        for (const char *const *p = list; *p; p++) {
            if (!strncmp(w->at[i], *p, strlen(*p)))
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
    if (word_begins(&w, eval_bar_words))
        return PROGRESS_BAR_EVAL;
    if (word_begins(&w, prepare_words))
        return PROGRESS_BAR_PREPARE;
    return word_begins(&w, train_bar_words) ? PROGRESS_BAR_TRAIN : PROGRESS_BAR_PLAIN;
}
