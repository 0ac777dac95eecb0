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

#define NONE UINT16_MAX

/* What was found in a line; indices into its numbers. */
struct found {
    uint16_t step, epoch, fraction, second; /* NONE = not there */
    uint16_t last_epoch;                    /* the last number of the epoch's own group */
    uint16_t percent;                       /* the share that is done */
    uint16_t total;                         /* the steps of the whole job */
    size_t metric_at;                       /* where the first loss or metric is named */
    bool learning;                          /* it tells a learning rate, or measures something */
    bool whole_metrics;                     /* its metrics are all whole numbers */
    bool eval_metric;                       /* one of them is named as an evaluation's */
    bool closes, train_epoch;
};

/* Only marks, blanks and a share in parentheses, "[", "] [", " (33%) [", lie
 * between two numbers. */
static bool is_adjacent(const struct progress_line *line, const struct progress_number *a,
                        const struct progress_number *b)
{
    for (size_t i = a->end; i < b->at; i++) {
        if (letter_is_alpha(line->text[i]) || line->text[i] == '=' || line->text[i] == ';')
            return false;
    }
    return true;
}

/* The number behind the group of number i: i itself, its divisor, "( 33%)". */
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

/* A fraction that no word names. */
static bool is_bare_fraction(const struct progress_line *line, unsigned i)
{
    return i + 1 < line->count && line->number[i].over && !line->number[i].words &&
           line->number[i + 1].whole > 0 && !is_date(line, &line->number[i + 1]);
}

/* "Train: 0 [  0/1251", "Train: [14/300][250/1251]": an epoch without its name. */
static bool is_train_epoch(const struct progress_line *line, unsigned i,
                           const struct progress_name *name)
{
    unsigned next = next_group(line, i);
    return name->train && !strcmp(name->text, "train") && line->number[i].whole >= 0 &&
           is_bare_fraction(line, next) && line->number[next].open == '[' &&
           is_adjacent(line, &line->number[next - 1], &line->number[next]);
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

/* "45 / 300 total iterations": what is counted comes behind. Not in "epoch 2/4 step 10/100",
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

static void note_place(const struct progress_line *line, unsigned i,
                       const struct progress_name *name, struct found *f)
{
    const struct progress_number *x = &line->number[i];
    if (name->kind == PROGRESS_WORD_STEP && f->step == NONE && x->whole >= 0 && is_place(x)) {
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
        is_adjacent(line, x, share))
        f->percent = (uint16_t)(share - line->number);
}

/* A whole number behind "loss" or "error" with nothing but a blank between may
 * be any count: "error 404". */
static bool is_metric(const struct progress_number *x, const struct progress_name *name)
{
    if (name->kind == PROGRESS_WORD_LOSS)
        return !x->unit && !x->percent && !x->over;
    return name->kind == PROGRESS_WORD_METRIC && !x->unit && (x->sep != ' ' || x->whole < 0);
}

static void find_all(const struct progress_line *line, struct progress_name *names, struct found *f)
{
    *f = (struct found){.step = NONE,
                        .epoch = NONE,
                        .fraction = NONE,
                        .second = NONE,
                        .last_epoch = NONE,
                        .percent = NONE,
                        .total = NONE,
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
        if (is_bare_fraction(line, i)) {
            if (f->fraction == NONE)
                f->fraction = (uint16_t)i;
            else if (f->second == NONE)
                f->second = (uint16_t)i;
        }
        if (f->percent == NONE && progress_is_share_done(line, x))
            f->percent = (uint16_t)i;
        if (!x->words)
            continue;
        f->learning = f->learning || (names[i].measured && x->whole < 0);
        guess_step(line, i, &names[i]);
        guess_metric(x, &names[i]);
        note_place(line, i, &names[i], f);
        if (names[i].kind == PROGRESS_WORD_TOTAL && x->whole > 0 && f->total == NONE)
            f->total = (uint16_t)i;
        f->learning =
            f->learning || !strcmp(names[i].text, "lr") || !strcmp(names[i].text, "learning_rate");
        if (!is_metric(x, &names[i]))
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

/* The prefix of the evaluation that the line is about: a word for one before its
 * first metric (0 = it has none), or the very first word of the line. */
static const char *find_eval(const struct progress_line *line, size_t metric_at)
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

static void add_epoch(struct sighting *s, const struct progress_line *line, unsigned i)
{
    const struct progress_number *x = &line->number[i];
    s->epoch = x->value;
    s->has |= SIGHTING_EPOCH;
    if (x->over && x[1].whole > 0) {
        s->epochs = x[1].whole;
        s->has |= SIGHTING_EPOCHS;
    }
}

/* "Chain 2: Iteration: 200 / 2000": there will be others. */
static bool has_outer_loop(const struct progress_line *line, unsigned step,
                           const struct progress_name *names)
{
    static const char *const loops[] = {"chain", "fold", "trial", "run", "seed", "split", "repeat"};
    for (unsigned i = 0; i < step; i++) {
        for (size_t k = 0; k < sizeof loops / sizeof *loops && line->number[i].words; k++) {
            if (!strcmp(names[i].text, loops[k]))
                return true;
        }
    }
    return false;
}

/* A number that is called a step. "Batch 3/20" begins again with each epoch, "global
 * step" does not. Else the order tells: an outer loop is named first. */
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
    if (!strncmp(name->text, "batch", 5) || !strncmp(name->text, "minibatch", 9) ||
        has_outer_loop(line, f->step, names))
        s->scope = SCOPE_EPOCH;
    else if (!strncmp(name->text, "global", 6) || (epoch && epoch->whole < 0))
        s->scope = SCOPE_JOB;
    else if (epoch && f->step < f->epoch)
        s->scope = SCOPE_LIKELY_JOB;
}

/* Only the share that is done is told: in hundredths of a percent. */
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
    static const char *const words[] = {"took ", "done", "finished", "completed", "ended"};
    while (at < line->n && strchr(" ])}:,-", line->text[at]))
        at++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (progress_line_at(line, at, words[i]))
            return true;
    }
    return false;
}

/* Which of the numbers say where the job is. */
static void add_place(struct sighting *s, const struct progress_line *line, const struct found *f,
                      const struct progress_name *names)
{
    if (f->epoch != NONE) {
        add_epoch(s, line, f->epoch);
        /* The loops of ImageNet's example ("Epoch: [0][") and of timm ("Train: 0 [",
         * "Train: [0/300][") count epochs from 0. */
        const struct progress_number *x = &line->number[f->epoch];
        s->from_zero =
            f->train_epoch ? x->open == '[' || !x->over : x->open == '[' && x->sep == ':';
        s->closes = f->closes || says_over(line, line->number[f->last_epoch].end);
        unsigned next = f->last_epoch + 1u;
        bool counted = f->step != NONE && line->number[f->step].over;
        if (!counted && is_bare_fraction(line, next) &&
            is_adjacent(line, &line->number[next - 1], &line->number[next])) {
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
        add_epoch(s, line, f->fraction);
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
        s->scope = SCOPE_JOB;
    } else if (f->step != NONE)
        add_step(s, line, f, names);
    else if (!(s->has & SIGHTING_AT) && f->percent != NONE && !(s->has & SIGHTING_EPOCHS))
        add_percent(s, line, f);
}

/* Nothing but marks behind the number: "Epoch 5:" on a line of its own. */
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
    if (f->learning || (epoch && at && (of || f->step != NONE))) {
        s->trust = TRUST_GOOD;
        return epoch || at;
    }
    if (at && f->step == NONE)
        return f->percent != NONE && progress_speaks_of_training(line);
    if (at && of)
        return !is_title(line, &line->number[f->step]);
    if (at) {
        /* "STEP: 3" on a line of its own, or with its time: the loss is below. */
        const struct progress_number *x = &line->number[f->step];
        s->header = begins_line(line, x) &&
                    (ends_line(line, x) || progress_line_find(line, x->end, "time") < line->n);
        return s->header && !is_title(line, x);
    }
    if (!epoch || f->train_epoch)
        return false;
    s->header = !s->closes;
    const struct progress_number *x = &line->number[f->epoch];
    return (s->has & SIGHTING_EPOCHS) || (begins_line(line, x) && ends_line(line, x));
}

/* Where the first metric is an evaluation's and there is no loss of the training,
 * all of them are: "testing psnr = 34.4, ssim = 0.94". */
static const char *common_prefix(const struct progress_line *line,
                                 const struct progress_name *names)
{
    const char *prefix = NULL;
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        if (!x->words || x->under || !is_metric(x, &names[i]))
            continue;
        if (!names[i].eval && (!prefix || names[i].kind == PROGRESS_WORD_LOSS))
            return NULL;
        if (!prefix)
            prefix = progress_eval_prefix(names[i].text, strcspn(names[i].text, "_"));
    }
    return prefix;
}

static void add_metrics(struct sighting *s, const struct progress_line *line,
                        const struct progress_name *names)
{
    const char *eval = s->eval;
    if (!s->eval)
        s->eval = common_prefix(line, names);
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        if (!x->words || x->under || !is_metric(x, &names[i]))
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

/* "10, train_loss=0.5": the place comes first and has no name. */
static bool is_leading(const struct progress_line *line, const struct progress_name *names)
{
    const struct progress_number *x = &line->number[0], *next = x + 1;
    if (line->count < 2 || x->words || x->whole < 0 || x->over || x->unit || x->open ||
        !next->words || next->label < x->end + 1 || next->label > x->end + 3 ||
        !is_metric(next, &names[1]))
        return false;
    size_t i = x->at;
    while (i && line->text[i - 1] == ' ')
        i--;
    return !i || strchr("]:|>", line->text[i - 1]);
}

/* "===== Fold 1 / 5 =====": what follows is a part of the job. */
static bool read_outer(const struct progress_line *line, const struct progress_name *names,
                       struct sighting *s)
{
    const struct progress_number *x = &line->number[0];
    bool outer = !strcmp(names[0].text, "fold") || !strcmp(names[0].text, "chain") ||
                 !strcmp(names[0].text, "trial");
    if (!outer || !x->words || !begins_line(line, x) || !ends_line(line, x + x->over))
        return false;
    s->has = SIGHTING_OUTER;
    return true;
}

/* "[108/400] 1 tree": one of so many of something that trainings count. */
static bool read_item(const struct progress_line *line, struct sighting *s)
{
    if (line->number[0].open != '[' || line->number[0].at > 2 || !is_bare_fraction(line, 0))
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
    return false;
}

bool progress_read_text(const struct progress_line *line, struct sighting *s)
{
    if (!line->count)
        return false;
    struct progress_name names[PROGRESS_NUMBERS];
    struct found f;
    find_all(line, names, &f);
    sighting_init(s, "text");
    bool place = f.step != NONE || f.epoch != NONE || f.percent != NONE;
    if (f.metric_at == line->n && (!place || !(line->number[0].over || f.percent != NONE)) &&
        progress_read_announcement(line, names, f.epoch == NONE && f.percent == NONE, s))
        return true;
    if (f.metric_at == line->n && !place)
        return read_outer(line, names, s) || read_item(line, s);
    bool train =
        (f.step != NONE && names[f.step].train) || (f.epoch != NONE && names[f.epoch].train);
    s->eval = train ? NULL : find_eval(line, f.metric_at < line->n ? f.metric_at : 0);
    if (f.metric_at < line->n)
        add_metrics(s, line, names);
    bool metric = sighting_has_metric(s);
    if (s->eval)
        return metric && !f.whole_metrics;
    s->trust = TRUST_WEAK;
    add_place(s, line, &f, names);
    if (metric && !s->has && is_leading(line, names)) {
        s->at = line->number[0].whole;
        s->has = SIGHTING_AT;
    }
    if (!metric)
        return judge_bare(s, line, &f);
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
