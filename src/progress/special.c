/* Owns the forms of single programs that do not name their numbers as others do:
 *
 *   {'loss': 0.69, 'learning_rate': 5e-05, 'epoch': 0.5}     Hugging Face's trainer
 *   [10]  train-logloss:0.30  eval-logloss:0.35              XGBoost, LightGBM, JAX's clu
 *   10:  learn: 0.6  test: 0.7  best: 0.7 (8)  total: 50ms   CatBoost
 *   [1,  2000] loss: 2.217                                   PyTorch's CIFAR tutorial
 *   Epoch[0] Batch [20-40]  Speed: 99.1 samples/sec          MXNet
 *   3: 603.4, 603.4 avg, 0.001 rate, 3.1 seconds, 64 images  darknet
 *   Progress:  62.8% words/sec/thread: 99 lr: 0.01 avg.loss:  0.7   fastText
 *   |    total_timesteps | 2048        |                     Stable-Baselines */

#include "progress/special.h"
#include "progress/number.h"

#include <math.h>
#include <string.h>

static const struct progress_number *first(const struct progress_line *line)
{
    return &line->number[0];
}

static size_t trim_end(const struct progress_line *line)
{
    size_t n = line->n;
    while (n && (line->text[n - 1] == ' ' || line->text[n - 1] == '\t'))
        n--;
    return n;
}

/* A place in a dict of metrics: step and epoch by their names. */
static void add_dict_place(struct sighting *s, const struct progress_number *x,
                           const struct progress_name *name)
{
    if (name->kind == PROGRESS_WORD_STEP && x->whole >= 0) {
        s->at = x->whole;
        s->has |= SIGHTING_AT;
        s->scope = SCOPE_JOB;
    } else if (name->kind == PROGRESS_WORD_EPOCH && isfinite(x->value) && x->value >= 0) {
        s->epoch = x->value;
        s->has |= SIGHTING_EPOCH;
    }
}

static bool read_dict(const struct progress_line *line, struct sighting *s)
{
    size_t n = trim_end(line), open = progress_line_find(line, 0, "{'");
    if (open >= n || line->text[n - 1] != '}' || line->continued)
        return false;
    bool learning = false, summary = false;
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        if (x->at < open || !x->words || x->sep != ':' || x->unit || x->over || x->under)
            continue;
        struct progress_name name;
        progress_name_read(line->text + x->label, x->words, &name);
        learning = learning || !strcmp(name.text, "learning_rate") || !strcmp(name.text, "lr");
        summary = summary || !strcmp(name.text, "train_runtime");
        add_dict_place(s, x, &name);
        sighting_add(s, &name, x->value, true);
    }
    s->source = "huggingface";
    s->trust = TRUST_GOOD;
    /* The last dict of a run has the mean loss, which says nothing about its present state. */
    if (summary)
        s->loss_rank = PROGRESS_LOSS_NONE;
    else
        s->chief = learning && s->loss_rank != PROGRESS_LOSS_NONE;
    return (s->has & SIGHTING_EPOCH) && (summary || sighting_has_metric(s));
}

/* Of the metrics of a booster the first one of the training is its loss. */
static void choose_loss(struct sighting *s)
{
    for (unsigned i = 0; i < s->n_metrics && s->loss_rank == PROGRESS_LOSS_NONE; i++) {
        if (strncmp(s->metric[i].name, "train_", 6) != 0 || strstr(s->metric[i].name, "acc") ||
            strstr(s->metric[i].name, "auc"))
            continue;
        s->loss = s->metric[i].value;
        s->loss_rank = PROGRESS_LOSS_NAMED;
    }
}

/* "[10]" and then a metric. XGBoost's distributed workers and absl's logs have
 * something of their own in front. */
static bool read_bracket(const struct progress_line *line, struct sighting *s)
{
    for (unsigned i = 0; i + 1 < line->count && i < 8; i++) {
        const struct progress_number *x = &line->number[i];
        size_t end = x->end;
        if (x->whole < 0 || x->words || x->at == 0 || line->text[x->at - 1] != '[' ||
            (x->at > 1 && line->text[x->at - 2] != ' ' && line->text[x->at - 2] != '\t') ||
            !progress_line_at(line, end, "]"))
            continue;
        bool tab = progress_line_at(line, end, "]\t"), blank = progress_line_at(line, end, "] ");
        const struct progress_number *next = x + 1;
        if (!(tab || blank) || !next->words || next->label != end + 2 || next->sep == ' ')
            continue;
        sighting_add_pairs(s, line, i + 1, false);
        if (!sighting_has_metric(s) || (blank && next->whole >= 0))
            return false;
        choose_loss(s);
        s->source = tab ? "boosting" : "text";
        s->trust = TRUST_GOOD;
        s->unit = PROGRESS_UNIT_STEP;
        s->at = x->whole;
        s->has = SIGHTING_AT;
        s->scope = SCOPE_JOB;
        return true;
    }
    return false;
}

/* "57.8ms", "1m 3s", "2h 5m 1s" after the word: seconds, -1 when there is no such time. */
static double read_duration(const struct progress_line *line, const char *word)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    double sum = -1, value;
    size_t i = progress_line_find(line, 0, word);
    if (i == line->n)
        return -1;
    i += strlen(word);
    for (size_t n; (n = progress_number_read(line->text + i, line->n - i, &value));) {
        size_t u = 0;
        while (u < sizeof units / sizeof *units && !progress_line_at(line, i + n, units[u].unit))
            u++;
        if (u == sizeof units / sizeof *units || !(value >= 0))
            break;
        sum = (sum < 0 ? 0 : sum) + value * units[u].seconds;
        i += n + strlen(units[u].unit);
        if (!progress_line_at(line, i, " "))
            break;
        i++;
    }
    return sum;
}

/* CatBoost prints the time passed and the time left: the rest is as many times the
 * part that is done. Too few digits make no total. */
static void add_remaining(struct sighting *s, const struct progress_line *line)
{
    double took = read_duration(line, "total: "), left = read_duration(line, "remaining: ");
    if (!(took > 0) || !(left >= 0) || !(left < 1e4 * took))
        return;
    s->of = llround((double)(s->at + 1) * (1 + left / took)) - 1;
    s->has |= s->of > 0 ? SIGHTING_OF : 0;
    s->rough = true;
}

static bool read_catboost(const struct progress_line *line, struct sighting *s)
{
    if (line->count < 2 || first(line)->whole < 0 || line->continued ||
        !progress_line_at(line, first(line)->end, ":\tlearn: "))
        return false;
    s->source = "boosting";
    s->trust = TRUST_GOOD;
    s->at = first(line)->whole;
    s->has = SIGHTING_AT;
    s->scope = SCOPE_JOB;
    s->unit = PROGRESS_UNIT_STEP;
    s->loss = line->number[1].value;
    s->loss_rank = PROGRESS_LOSS_NAMED;
    add_remaining(s, line);
    return true;
}

static bool read_cifar(const struct progress_line *line, struct sighting *s)
{
    const struct progress_number *x = first(line);
    if (line->count < 3 || line->continued || x->at != 1 || line->text[0] != '[' ||
        x[0].whole < 0 || x[1].whole < 0 || !progress_line_at(line, x->end, ",") ||
        !progress_line_at(line, x[1].end, "]"))
        return false;
    sighting_add_pairs(s, line, 2, false);
    s->source = "pytorch";
    s->trust = TRUST_GOOD;
    s->epoch = x[0].value;
    s->at = x[1].whole;
    s->has = SIGHTING_EPOCH | SIGHTING_AT;
    s->scope = SCOPE_EPOCH;
    return s->loss_rank != PROGRESS_LOSS_NONE;
}

/* "Batch [20-40]" is no number to the line's reader; "[20]" is read with the rest. */
static bool read_mxnet(const struct progress_line *line, struct sighting *s)
{
    size_t at = progress_line_find(line, 0, "] Batch [");
    if (at == line->n || !line->count || !progress_line_at(line, first(line)->end, "] Batch ["))
        return false;
    at += strlen("] Batch [");
    double from, to;
    size_t n = progress_number_read(line->text + at, line->n - at, &from);
    if (!n || !progress_line_at(line, at + n, "-"))
        return false;
    at += n + 1;
    n = progress_number_read(line->text + at, line->n - at, &to);
    if (!n || !progress_line_at(line, at + n, "]") || !(to >= 0 && to < 1e15))
        return false;
    sighting_add_pairs(s, line, 1, false);
    s->source = "text";
    s->trust = TRUST_GOOD;
    s->epoch = first(line)->value;
    s->at = (int64_t)to;
    s->has = SIGHTING_EPOCH | SIGHTING_AT;
    s->scope = SCOPE_EPOCH;
    s->from_zero = true;
    return true;
}

/* The number in front of these words. */
static const struct progress_number *number_before(const struct progress_line *line,
                                                   const char *words)
{
    for (unsigned i = 0; i < line->count; i++) {
        if (progress_line_at(line, line->number[i].end, words))
            return &line->number[i];
    }
    return NULL;
}

static bool read_darknet(const struct progress_line *line, struct sighting *s)
{
    if (line->count < 5 || line->continued || first(line)->whole < 0)
        return false;
    const struct progress_number *avg = number_before(line, " avg"),
                                 *rate = number_before(line, " rate, "),
                                 *seconds = number_before(line, " seconds, ");
    if (!avg || !rate || !seconds || avg - line->number < 2)
        return false;
    s->source = "darknet";
    s->trust = TRUST_GOOD;
    s->at = first(line)->whole;
    s->has = SIGHTING_AT;
    s->scope = SCOPE_JOB;
    s->unit = PROGRESS_UNIT_STEP;
    s->loss = avg[-1].value;
    s->loss_rank = PROGRESS_LOSS_WHOLE;
    if (seconds->value > 0 && isfinite(seconds->value)) {
        s->rate = 1 / seconds->value;
        s->has |= SIGHTING_RATE;
    }
    return true;
}

/* It prints only the fraction that is done: in thousandths. */
static bool read_fasttext(const struct progress_line *line, struct sighting *s)
{
    const struct progress_number *x = first(line);
    if (line->count < 3 || !progress_line_at(line, 0, "Progress: ") || !x->percent ||
        !(x->value >= 0 && x->value <= 100) ||
        progress_line_find(line, x->end, "words/sec/thread:") == line->n)
        return false;
    sighting_add_pairs(s, line, 1, false);
    s->source = "fasttext";
    s->trust = TRUST_GOOD;
    s->at = llround(x->value * 10);
    s->of = 1000;
    s->has = SIGHTING_AT | SIGHTING_OF;
    s->scope = SCOPE_JOB;
    return s->loss_rank != PROGRESS_LOSS_NONE;
}

/* A name and a value between strokes. */
static bool read_baselines(const struct progress_line *line, struct sighting *s)
{
    size_t n = trim_end(line);
    const struct progress_number *x = first(line);
    if (line->count != 1 || line->text[0] != '|' || line->text[n - 1] != '|' || x->sep != '|' ||
        !x->words || x->unit)
        return false;
    struct progress_name name;
    progress_name_read(line->text + x->label, x->words, &name);
    s->source = "table";
    s->trust = TRUST_GOOD;
    static const char timesteps[] = "total_timesteps";
    size_t length = strlen(name.text), tail = sizeof timesteps - 1;
    if (length >= tail && !strcmp(name.text + length - tail, timesteps) && x->whole >= 0) {
        s->unit = PROGRESS_UNIT_TIMESTEP;
        s->at = x->whole;
        s->has = SIGHTING_AT;
        s->scope = SCOPE_JOB;
        return true;
    }
    if (!strcmp(name.text, "epoch") && x->whole >= 0) {
        s->epoch = x->value;
        s->has = SIGHTING_EPOCH;
        return true;
    }
    return x->whole < 0 && sighting_add(s, &name, x->value, false);
}

bool progress_read_special(const struct progress_line *line, struct sighting *s)
{
    static bool (*const readers[])(const struct progress_line *, struct sighting *) = {
        read_dict,  read_bracket, read_catboost, read_cifar,
        read_mxnet, read_darknet, read_fasttext, read_baselines,
    };
    if (!line->count)
        return false;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        sighting_init(s, NULL);
        if (readers[i](line, s))
            return true;
    }
    return false;
}
