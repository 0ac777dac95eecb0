/* Owns the kinds of log files, and the reading of those that are made of lines. */
#include "progress/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "progress/json.h"
#include "progress/line.h"
#include "progress/number.h"
#include "progress/record.h"
#include "progress/sighting.h"
#include "progress/text.h"

#define COLUMNS 64

struct column {
    bool used;
    struct progress_name name;
};

struct progress_log {
    enum progress_log_kind kind;
    bool eval;                     /* the path says that it is an evaluation's */
    bool headless;                 /* a CSV whose first line is not of a training */
    char mark;                     /* between the fields of a CSV */
    unsigned n;                    /* columns */
    struct progress_name name;     /* of MLflow's metric or parameter */
    struct column column[COLUMNS]; /* of a CSV */
    struct progress_text text;     /* lines */
    struct progress_record record; /* binary logs */
    progress_sighting_fn fn;       /* during a call */
    void *ctx;
};

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), k = strlen(ending);
    return n >= k && !strcmp(text + n - k, ending);
}

/* What follows "/metrics/" or the like in the path; NULL = nothing does. */
static const char *below(const char *path, const char *folder)
{
    const char *p = strstr(path, folder);
    return p ? p + strlen(folder) : NULL;
}

enum progress_log_kind progress_log_kind(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (strstr(name, "tfevents."))
        return PROGRESS_LOG_TENSORBOARD;
    if (ends_with(name, ".wandb"))
        return PROGRESS_LOG_WANDB;
    if (strstr(path, "mlruns/") && below(path, "/metrics/"))
        return PROGRESS_LOG_MLFLOW_METRIC;
    if (strstr(path, "mlruns/") && below(path, "/params/"))
        return PROGRESS_LOG_MLFLOW_PARAM;
    if (ends_with(name, ".jsonl") || ends_with(name, ".log.json") || !strcmp(name, "metrics.json"))
        return PROGRESS_LOG_JSON;
    if (ends_with(name, ".csv") || ends_with(name, ".tsv") || !strcmp(name, "training.log"))
        return PROGRESS_LOG_CSV;
    return PROGRESS_LOG_OTHER;
}

bool progress_log_is_folder(const char *name)
{
    static const char *const names[] = {
        "runs",    "logs",    "log",         "lightning_logs", "mlruns",   "wandb",      "output",
        "outputs", "results", "tensorboard", "tb_logs",        "csv_logs", "checkpoints"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(name, names[i]))
            return true;
    }
    return false;
}

/* A folder of the path is named for an evaluation: "logs/validation/events...". */
static bool is_eval_path(const char *path)
{
    for (const char *p = path; *p;) {
        size_t n = strcspn(p, "/");
        if (p[n] && progress_eval_prefix(p, n))
            return true;
        p += n + (p[n] != '\0');
    }
    return false;
}

struct progress_log *progress_log_create(const char *path)
{
    enum progress_log_kind kind = progress_log_kind(path);
    if (kind == PROGRESS_LOG_OTHER)
        return NULL;
    struct progress_log *log = xcalloc(1, sizeof *log);
    log->kind = kind;
    log->eval = is_eval_path(path);
    const char *name = kind == PROGRESS_LOG_MLFLOW_METRIC  ? below(path, "/metrics/")
                       : kind == PROGRESS_LOG_MLFLOW_PARAM ? below(path, "/params/")
                                                           : "";
    progress_name_read(name, strlen(name), &log->name);
    return log;
}

void progress_log_free(struct progress_log *log)
{
    free(log);
}

static void start(struct sighting *s, const char *source)
{
    sighting_init(s, source);
    s->trust = TRUST_LOGGED;
}

/* ---- CSV -------------------------------------------------------------------------- */

/* The next field at *i, without its quotes; false after the last. */
static bool next_field(const char *line, size_t n, char mark, size_t *i, const char **field,
                       size_t *length)
{
    if (*i > n)
        return false;
    size_t end = *i;
    while (end < n && line[end] != mark)
        end++;
    *field = line + *i;
    *length = end - *i;
    *i = end + 1;
    while (*length && (**field == '"' || **field == ' ')) {
        ++*field;
        --*length;
    }
    while (*length && ((*field)[*length - 1] == '"' || (*field)[*length - 1] == ' '))
        --*length;
    return true;
}

static char find_mark(const char *line, size_t n)
{
    static const char marks[] = {',', ';', '\t'};
    for (size_t i = 0; i < sizeof marks; i++) {
        if (memchr(line, marks[i], n))
            return marks[i];
    }
    return '\0';
}

/* The first line names the columns: a place, and something that is measured. */
static void read_head(struct progress_log *log, const char *line, size_t n)
{
    const char *field;
    size_t length;
    bool place = false, metric = false;
    log->mark = find_mark(line, n);
    for (size_t i = 0; log->n < COLUMNS && next_field(line, n, log->mark, &i, &field, &length);) {
        struct column *c = &log->column[log->n++];
        progress_name_read(field, length, &c->name);
        place = place || c->name.kind == PROGRESS_WORD_STEP || c->name.kind == PROGRESS_WORD_EPOCH;
        metric =
            metric || c->name.kind == PROGRESS_WORD_LOSS || c->name.kind == PROGRESS_WORD_METRIC;
        c->used = length;
    }
    log->headless = !log->mark || !place || !metric;
}

static void add_field(struct sighting *s, const struct progress_name *name, double value)
{
    bool whole = value >= 0 && value < 1e15 && value == floor(value);
    if (name->kind == PROGRESS_WORD_STEP && whole) {
        s->at = (int64_t)value;
        s->unit = name->unit;
        s->scope = SCOPE_JOB;
        s->has |= SIGHTING_AT;
    } else if (name->kind == PROGRESS_WORD_EPOCH && value >= 0 && value < 1e9) {
        s->epoch = value;
        s->has |= SIGHTING_EPOCH;
    } else {
        sighting_add(s, name, value, false);
    }
}

static void take_csv(struct progress_log *log, const char *line, size_t n)
{
    struct sighting s;
    const char *field;
    size_t length;
    if (!log->n && !log->headless)
        read_head(log, line, n);
    else if (!log->headless) {
        start(&s, "csv");
        unsigned c = 0;
        for (size_t i = 0; c < log->n && next_field(line, n, log->mark, &i, &field, &length); c++) {
            double value;
            if (log->column[c].used && length &&
                progress_number_read(field, length, &value) == length)
                add_field(&s, &log->column[c].name, value);
        }
        /* A row without a loss of the training is an evaluation's. */
        s.closes = !(s.has & SIGHTING_AT);
        if (sighting_has_metric(&s))
            log->fn(log->ctx, &s);
    }
}

/* ---- MLflow ----------------------------------------------------------------------- */

/* "1715000000000 0.512 10": time, value, step. */
static void take_metric(struct progress_log *log, const char *line, size_t n)
{
    double number[3];
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        while (at < n && line[at] == ' ')
            at++;
        size_t length = progress_number_read(line + at, n - at, &number[i]);
        if (!length)
            return;
        at += length;
    }
    struct sighting s;
    start(&s, "mlflow");
    if (!sighting_add(&s, &log->name, number[1], false))
        return;
    if (!log->name.eval && number[2] >= 0 && number[2] < 1e15) {
        for (const char *p = log->name.text; *p; p++)
            s.key = s.key * 31 + (unsigned char)*p;
        s.at = (int64_t)number[2];
        s.scope = SCOPE_JOB;
        s.has = SIGHTING_AT;
    }
    log->fn(log->ctx, &s);
}

static void take_param(struct progress_log *log, const char *line, size_t n)
{
    int64_t value;
    enum progress_unit unit = progress_plan_unit(log->name.text, strlen(log->name.text));
    if (unit == PROGRESS_UNIT_NONE || progress_plan_value(line, n, &value) != n)
        return;
    struct sighting s;
    start(&s, "mlflow");
    s.unit = unit;
    s.limit = value;
    s.has = SIGHTING_LIMIT;
    log->fn(log->ctx, &s);
}

/* ---- lines ------------------------------------------------------------------------ */

static void take_line(void *ctx, const char *line, size_t n, bool continued)
{
    struct progress_log *log = ctx;
    struct sighting s;
    if (continued)
        return; /* the rest of a line that was too long */
    switch (log->kind) {
    case PROGRESS_LOG_CSV:
        take_csv(log, line, n);
        break;
    case PROGRESS_LOG_MLFLOW_METRIC:
        take_metric(log, line, n);
        break;
    case PROGRESS_LOG_MLFLOW_PARAM:
        take_param(log, line, n);
        break;
    case PROGRESS_LOG_JSON:
        if (progress_read_json(line, n, false, &s)) {
            s.trust = TRUST_LOGGED;
            log->fn(log->ctx, &s);
        }
        break;
    default:
        break;
    }
}

void progress_log_read(struct progress_log *log, const char *bytes, size_t n,
                       progress_sighting_fn fn, void *ctx)
{
    log->fn = fn;
    log->ctx = ctx;
    if (log->kind == PROGRESS_LOG_TENSORBOARD)
        progress_record_read_events(&log->record, bytes, n, log->eval, fn, ctx);
    else if (log->kind == PROGRESS_LOG_WANDB)
        progress_record_read_wandb(&log->record, bytes, n, fn, ctx);
    else
        progress_text_feed(&log->text, bytes, n, take_line, log);
    if (log->kind == PROGRESS_LOG_MLFLOW_PARAM)
        progress_text_peek(&log->text, take_line, log); /* its line has no end */
    log->fn = NULL;
}
