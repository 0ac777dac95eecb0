/* Owns the reading of lines that name their numbers, whoever wrote them:
 *
 *   Train Epoch: 1 [640/60000 (1%)]  Loss: 2.31      iter 10: loss 4.25, time 30ms
 *   Epoch: [0][ 10/5005]  Loss 6.9e+00 (6.9e+00)     step 250: train loss 2.1, val loss 2.2
 *   Epoch [1/5], Step [100/600], Loss: 0.5           | epoch 1 | 200/ 2983 batches | loss 7.6
 *   iter: 19  total_loss: 1.36  lr: 3.8e-06          [0/25][0/1583]  Loss_D: 1.2  Loss_G: 5.1
 *
 * A place without a loss, a metric or a learning rate near it is worth little: it
 * may be the step of an installer. An evaluation has metrics but no place. */

#include "progress/labels.h"

#include <math.h>
#include <string.h>

#include "base/letter.h"
#include "progress/announce.h"
#include "progress/labels_find.h"
#include "progress/outer.h"

static void add_fraction(struct sighting *s, const struct progress_line *line, unsigned i)
{
    const struct progress_number *x = &line->number[i];
    s->at = x->whole;
    s->has |= SIGHTING_AT;
    if (x->over && x[1].whole > 0) {
        s->of = x[1].whole;
        s->has |= SIGHTING_OF;
    }
}

static void add_epoch(struct sighting *s, const struct progress_line *line, unsigned i,
                      const struct found *f)
{
    const struct progress_number *x = &line->number[i];
    s->epoch = x->value;
    s->has |= SIGHTING_EPOCH;
    if (x->over && x[1].whole > 0)
        s->epochs = x[1].whole;
    else if (f->epochs != NONE && x->value <= line->number[f->epochs].value)
        s->epochs = line->number[f->epochs].whole; /* "epoch=3; epochs=40" */
    s->has |= s->epochs ? SIGHTING_EPOCHS : 0;
}

/* "Chain 2: Iteration: 200 / 2000": there will be others. A seed may also be the only one. */
static bool has_outer_loop(const struct progress_line *line, unsigned step,
                           const struct progress_name *names, bool seeds)
{
    static const char *const loops[] = {"seed", "chain", "fold", "trial", "run", "split", "repeat"};
    for (unsigned i = 0; i < step; i++) {
        for (size_t k = !seeds; k < sizeof loops / sizeof *loops && line->number[i].words; k++) {
            if (!strcmp(names[i].text, loops[k]))
                return true;
        }
    }
    return false;
}

/* A number that is called a step. "Batch 3/20" begins again with each epoch, "global
 * step" does not. Otherwise the order decides: an outer loop is named first. */
static void add_step(struct sighting *s, const struct progress_line *line, const struct found *f,
                     const struct progress_name *names)
{
    const struct progress_name *name = &names[f->step];
    const struct progress_number *epoch = f->epoch != NONE ? &line->number[f->epoch] : NULL;
    add_fraction(s, line, f->step);
    s->named = true;
    s->unit = name->unit;
    if (!(s->has & SIGHTING_OF) && f->total != NONE) {
        s->of = line->number[f->total].whole;
        s->has |= SIGHTING_OF;
    }
    if (!(s->has & SIGHTING_OF) && f->percent != NONE) {
        /* "iter 100 | 25.0% complete" */
        s->of = progress_share_end(line, &line->number[f->percent], s->at);
        s->has |= s->of ? SIGHTING_OF : 0;
        s->share = s->of;
        s->scope = SCOPE_JOB;
    }
    bool batches = strstr(name->text, "batch") && !strstr(name->text, "step");
    if (batches || has_outer_loop(line, f->step, names, true))
        s->scope = SCOPE_EPOCH;
    else if (!strncmp(name->text, "global", 6) || (epoch && epoch->whole < 0))
        s->scope = SCOPE_JOB;
    else if (epoch && f->step < f->epoch)
        s->scope = SCOPE_LIKELY_JOB;
}

/* Only the fraction that is done is given, in hundredths of a percent. */
static void add_percent(struct sighting *s, const struct progress_line *line, const struct found *f)
{
    s->at = llround(line->number[f->percent].value * 100);
    s->of = 10000;
    s->has |= SIGHTING_AT | SIGHTING_OF;
    s->scope = s->has & SIGHTING_EPOCH ? SCOPE_EPOCH : SCOPE_UNKNOWN;
}

/* "Epoch 4 of 20 took 12.3s": it is over. */
static bool says_over(const struct progress_line *line, size_t at)
{
    static const char *const words[] = {"took ",    "done",  "finished",         "completed",
                                        "complete", "ended", "training complete"};
    while (at < line->n && strchr(" ])}:,-", line->text[at]))
        at++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (progress_line_at(line, at, words[i]))
            return true;
    }
    return false;
}

static bool has_other_fraction(const struct progress_line *line, const struct progress_number *x)
{
    for (unsigned i = 0; i < line->count; i++) {
        if (line->number[i].over && &line->number[i] != x)
            return true;
    }
    return false;
}

/* "[pretrain] epoch 49/50": another training follows. */
static bool is_pretraining(const struct progress_line *line, size_t before)
{
    static const char *const words[] = {"[pretrain", "[Pretrain", "[PRETRAIN", "[warmup",
                                        "[Warmup"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (progress_line_find(line, 0, words[i]) < before)
            return true;
    }
    return false;
}

/* Which of the numbers say where the job is. */
static void add_place(struct sighting *s, const struct progress_line *line, const struct found *f,
                      const struct progress_name *names)
{
    if (f->epoch != NONE) {
        add_epoch(s, line, f->epoch, f);
        s->looped = has_outer_loop(line, f->epoch, names, false) ||
                    is_pretraining(line, line->number[f->epoch].at);
        /* The loops of ImageNet's example ("Epoch: [0][") and of timm ("Train: 0 [",
         * "Train: [0/300][") count epochs from 0. */
        const struct progress_number *x = &line->number[f->epoch];
        s->from_zero =
            f->train_epoch ? x->open == '[' || !x->over : x->open == '[' && x->sep == ':';
        s->closes = f->closes || says_over(line, line->number[f->last_epoch].end);
        if (x->over && x->whole < 0 && x[1].whole > 0 && !has_other_fraction(line, x)) {
            /* "epoch 1.25/4.00 (batch 125)": the share is exact. */
            s->at = llround(1000 * x->value);
            s->of = 1000 * x[1].whole;
            s->has |= SIGHTING_AT | SIGHTING_OF;
            s->scope = SCOPE_JOB;
            return;
        }
        unsigned next = f->last_epoch + 1u;
        bool counted = f->step != NONE && line->number[f->step].over;
        if (!counted && labels_is_bare_fraction(line, next) &&
            labels_is_adjacent(line, &line->number[next - 1], &line->number[next])) {
            add_fraction(s, line, next);
            s->scope = SCOPE_EPOCH;
            s->source = line->number[next].open == '[' ? "pytorch" : s->source;
        } else if (f->step == NONE && f->fraction == 0 && f->epoch > 0 && f->metric_at < line->n) {
            /* "596/2150 (epoch 13.860), train_loss = 1.5" */
            add_fraction(s, line, 0);
            s->scope = x->whole < 0 ? SCOPE_JOB : SCOPE_LIKELY_JOB;
        }
    } else if (f->step == NONE && f->second != NONE && f->second == f->fraction + 2 &&
               line->number[f->fraction].open == '[' && line->number[f->second].open == '[' &&
               f->metric_at < line->n) {
        add_epoch(s, line, f->fraction, f);
        add_fraction(s, line, f->second);
        s->scope = SCOPE_EPOCH;
        s->source = "pytorch";
    } else if (f->step == NONE && f->fraction != NONE && f->metric_at < line->n &&
               (line->number[f->fraction].at < f->metric_at ||
                line->number[f->fraction].open == '[')) {
        add_fraction(s, line, f->fraction);
    }
    bool leading = f->fraction == 0 && line->number[0].at < 4 && f->metric_at < line->n;
    if (s->scope == SCOPE_EPOCH)
        return; /* "epoch 001:  1200 / 1234 loss=4.5, num_updates=1200" */
    if (f->step != NONE && leading && !line->number[f->step].over && f->epoch == NONE) {
        add_fraction(s, line, 0); /* "8850/50000: episode: 59, ... loss: 0.5" */
        if (line->number[f->step].whole != s->at)
            s->scope = SCOPE_JOB;
    } else if (f->step != NONE)
        add_step(s, line, f, names);
    else if (!(s->has & SIGHTING_AT) && f->percent != NONE && !(s->has & SIGHTING_EPOCHS))
        add_percent(s, line, f);
}

/* "Round 3/5 -- client 3/10 -- local epoch 2/2": three loops, one in the other, counted from 1. */
static bool add_levels(struct sighting *s, const struct progress_line *line, const struct found *f,
                       const struct progress_name *names)
{
    int64_t at = 0, of = 1;
    unsigned levels = 0;
    for (unsigned i = 0; i < line->count && line->number[i].at < f->metric_at; i++) {
        const struct progress_number *x = &line->number[i];
        if (x->under)
            continue;
        if (!x->over || !x->words || x->whole < 1 || x[1].whole < x->whole ||
            x[1].whole > 1000000 || of > INT64_C(1000000000) || names[i].measured || names[i].data)
            return false;
        at = at * x[1].whole + x->whole - 1;
        of *= x[1].whole;
        levels++;
    }
    if (levels < 3)
        return false;
    s->at = at + 1;
    s->of = of;
    s->has = SIGHTING_AT | SIGHTING_OF;
    s->scope = SCOPE_JOB;
    s->source = "loops";
    return true;
}

/* Nothing but punctuation after the number: "Epoch 5:" on a line of its own. */
static bool ends_line(const struct progress_line *line, const struct progress_number *x)
{
    for (size_t i = x->end; i < line->n; i++) {
        if (letter_is_alpha(line->text[i]) || (line->text[i] >= '0' && line->text[i] <= '9'))
            return false;
    }
    return true;
}

/* Nothing in front of the number's name but what a logger puts there. */
static bool begins_line(const struct progress_line *line, const struct progress_number *x)
{
    size_t i = x->label;
    while (i && line->text[i - 1] == ' ')
        i--;
    return !i || strchr(":]>-=*#|", line->text[i - 1]);
}

/* "Step 3/12 : RUN make", "Step 1/5: Downloading": the title of a stage. */
static bool is_title(const struct progress_line *line, const struct progress_number *x)
{
    size_t i = x[x->over].end;
    while (i < line->n && (line->text[i] == ' ' || line->text[i] == ']'))
        i++;
    if (i == line->n || (line->text[i] != ':' && line->text[i] != '-'))
        return false;
    while (i < line->n && !letter_is_alpha(line->text[i]))
        i++;
    return i < line->n;
}

/* How much a place without any metric is worth: false = nothing. */
static bool judge_bare(struct sighting *s, const struct progress_line *line, const struct found *f)
{
    bool epoch = s->has & SIGHTING_EPOCH, at = s->has & SIGHTING_AT, of = s->has & SIGHTING_OF;
    if (f->learning || f->counters || (epoch && at && (of || f->step != NONE))) {
        s->trust = TRUST_GOOD;
        return epoch || at;
    }
    if (at && f->step == NONE)
        return f->percent != NONE && progress_speaks_of_training(line);
    if (at && of && is_title(line, &line->number[f->step])) {
        s->has = 0;
        progress_outer_note(s, s->at, s->of);
        return true;
    }
    if (at && of)
        return progress_bar_read(line->text, line->number[f->step].at) != PROGRESS_BAR_PREPARE;
    if (at) {
        /* "STEP: 3" on a line of its own, or with its time: the loss is below. */
        const struct progress_number *x = &line->number[f->step];
        s->header = begins_line(line, x) &&
                    (ends_line(line, x) || progress_line_find(line, x->end, "time") < line->n ||
                     progress_line_find(line, x->end, "/sec") < line->n);
        return s->header && !is_title(line, x);
    }
    if (!epoch || f->train_epoch)
        return false;
    s->header = !s->closes;
    const struct progress_number *x = &line->number[f->epoch];
    return (s->has & SIGHTING_EPOCHS) || (begins_line(line, x) && ends_line(line, x));
}

static void add_metrics(struct sighting *s, const struct progress_line *line,
                        const struct progress_name *names)
{
    const char *eval = s->eval;
    if (!s->eval)
        s->eval = labels_eval_prefix(line, names);
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        if (!x->words || x->under || !labels_is_metric(x, &names[i]))
            continue;
        double value = x->over ? x->value / x[1].value : x->value;
        if (isfinite(value) || !x->over)
            sighting_add(s, &names[i], value, false);
    }
    s->eval = eval;
}

/* Milliseconds for a step, as Megatron's and nanoGPT's loops print them. */
static void add_rate(struct sighting *s, const struct progress_line *line)
{
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        const char *label = line->text + x->label;
        bool ms = (x->words == 8 && !memcmp(label, "ms/batch", 8)) ||
                  (x->words == 26 && !memcmp(label, "elapsed time per iteration", 26)) ||
                  (x->words == 4 && !memcmp(label, "time", 4) && x->unit &&
                   progress_line_at(line, x->end, "ms"));
        bool per_second = x->words == 16 && !memcmp(label, "steps_per_second", 16);
        if ((!ms && !per_second) || !(x->value > 0) || !isfinite(x->value))
            continue;
        s->rate = ms ? 1000 / x->value : x->value;
        s->has |= SIGHTING_RATE;
        return;
    }
}

/* "10, train_loss=0.5", "train.py:123] 100: Avg training loss 0.55": the place comes first and has
 * no name. Its index, NONE = it is not there. */
static unsigned find_leading(const struct progress_line *line, const struct progress_name *names)
{
    for (unsigned k = 0; k + 1 < line->count; k++) {
        const struct progress_number *x = &line->number[k], *next = x + 1;
        if (x->words || x->whole < 0 || x->over || x->under || x->unit || x->open || !next->words ||
            next->label < x->end + 1 || next->label > x->end + 3 ||
            !labels_is_metric(next, &names[k + 1]))
            continue;
        size_t i = x->at;
        while (i && line->text[i - 1] == ' ')
            i--;
        if (!i || strchr("]:|>", line->text[i - 1]))
            return k;
    }
    return NONE;
}

/* "[108/400] 1 tree": one of so many of something that trainings count. */
static bool read_item(const struct progress_line *line, struct sighting *s)
{
    if (line->number[0].open != '[' || line->number[0].at > 2 || !labels_is_bare_fraction(line, 0))
        return false;
    for (size_t i = line->number[1].end; i < line->n;) {
        size_t end = i;
        while (end < line->n && letter_is_alpha(line->text[end]))
            end++;
        bool alone = line->text[i - 1] == ' ' && letter_is_digit(line->text[i - 2]) &&
                     (end == line->n || line->text[end] == ' ');
        s->unit = alone ? progress_unit_of_word(line->text + i, end - i) : PROGRESS_UNIT_NONE;
        if (end > i && s->unit != PROGRESS_UNIT_NONE) {
            add_fraction(s, line, 0);
            s->trust = TRUST_WEAK;
            return true;
        }
        i = end + 1;
    }
    add_fraction(s, line, 0); /* "[1600/16000]  [L1: 9.4]" below "[Epoch 3]" */
    s->loose = true;
    s->trust = TRUST_WEAK;
    return true;
}

bool progress_read_text(const struct progress_line *line, struct sighting *s)
{
    if (!line->count)
        return false;
    struct progress_name names[PROGRESS_NUMBERS];
    struct found f;
    labels_find(line, names, &f);
    sighting_init(s, "text");
    bool place = f.step != NONE || f.epoch != NONE || f.percent != NONE;
    if (f.metric_at == line->n && (!place || !(line->number[0].over || f.percent != NONE)) &&
        progress_read_announcement(line, names, f.epoch == NONE && f.percent == NONE, s))
        return true;
    if (f.metric_at == line->n && !place) {
        bool outer = progress_read_outer(line, names, s);
        return read_item(line, s) || outer;
    }
    bool train =
        (f.step != NONE && names[f.step].train) || (f.epoch != NONE && names[f.epoch].train);
    s->eval = train ? NULL : labels_find_eval(line, f.metric_at < line->n ? f.metric_at : 0);
    if (f.metric_at < line->n)
        add_metrics(s, line, names);
    bool metric = sighting_has_metric(s);
    if (s->eval)
        return metric && !f.whole_metrics;
    s->trust = TRUST_WEAK;
    if (!add_levels(s, line, &f, names))
        add_place(s, line, &f, names);
    if (f.timesteps != NONE)
        s->timesteps = line->number[f.timesteps].whole;
    unsigned leading = metric && !s->has ? find_leading(line, names) : NONE;
    if (leading != NONE) {
        s->at = line->number[leading].whole;
        s->has = SIGHTING_AT;
    }
    if (!metric)
        return !(f.step != NONE && names[f.step].data) && judge_bare(s, line, &f);
    if (s->has) {
        s->trust = TRUST_GOOD;
        s->closes = s->closes || !(s->has & SIGHTING_AT);
        add_rate(s, line);
        return true;
    }
    /* Only numbers with a name: a loss, or metrics of an evaluation. */
    s->trust = TRUST_NONE;
    return !f.whole_metrics && (s->loss_rank != PROGRESS_LOSS_NONE || f.eval_metric);
}
