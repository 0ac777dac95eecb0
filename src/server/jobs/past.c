/* Owns what is remembered of jobs for the next runs of their programs. Members of an array are left
 * out: they have one command, and do different things by their index. */
#include "server/jobs/past.h"

#include <jansson.h>
#include <math.h>

#include "base/str.h"
#include "progress/past.h"
#include "server/log.h"
#include "store/past.h"

/* Shorter runs are not worth it. */
#define LEAST (2 * USEC_PER_SEC)

/* The words that the job was requested with; the list ends with NULL. */
static const char **words_of(const struct live_job *j)
{
    const struct spec_list *command = &j->submission->spec.command;
    const char **words = xcalloc(command->n + 1, sizeof *words);
    memcpy(words, command->at, command->n * sizeof *words);
    return words;
}

/* "ann python3 /home/ann/train.py". A script that was sent along is told by its text. */
static char *name_category(const struct live_job *j, const char *const *words)
{
    const struct spec *s = &j->submission->spec;
    struct str text = {0};
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    str_addf(&text, "%s ", j->row.user);
    if (s->category) {
        str_addf(&text, "category %s", s->category);
        return text.at;
    }
    for (const char *p = s->script ? s->script : ""; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    if (s->script)
        str_addf(&text, "script %016llx", (unsigned long long)hash);
    else
        progress_past_category(words, s->workdir ? s->workdir : "", &text);
    return text.at;
}

static bool is_comparable(const struct live_job *j)
{
    const struct spec *s = &j->submission->spec;
    return !j->row.array && (s->command.n || s->script);
}

char *past_category(const struct live_job *j)
{
    AUTO_FREE const char **words = words_of(j);
    return name_category(j, words);
}

/* ---- learning --------------------------------------------------------------------------- */

void past_learn(struct yard *y, const struct live_job *j)
{
    struct err err;
    if (!is_comparable(j) || j->row.attempt != 1 || j->row.run_time < LEAST)
        return;
    AUTO_FREE const char **words = words_of(j);
    AUTO_FREE char *category = name_category(j, words);
    json_auto_t *list = json_array();
    for (size_t i = 0; words[i]; i++)
        json_array_append_new(list, json_string(words[i]));
    AUTO_FREE char *arguments = json_dumps(list, JSON_COMPACT);
    struct past_row row = {category, arguments, clock_wall(&y->clock), j->row.step, j->row.done};
    if (store_past_save(y->store, &row, &err) < 0)
        log_warning("job=%lld history: %s", (long long)j->row.id, err.text);
}

/* ---- finding ---------------------------------------------------------------------------- */

struct comparison {
    const char *const *words;
    struct past best;
};

static int compare(void *ctx, const struct past_row *row, struct err *err)
{
    struct comparison *c = ctx;
    json_auto_t *list = json_loads(row->arguments, 0, NULL);
    size_t n = json_array_size(list);
    AUTO_FREE const char **then = xcalloc(n + 1, sizeof *then);
    (void)err;
    for (size_t i = 0; i < n; i++)
        then[i] = json_string_value(json_array_get(list, i));
    double scale = progress_past_scale(c->words, then);
    if (!(scale > 0) || (c->best.known && scale != 1))
        return 0;
    c->best = (struct past){true, row->step * scale, row->work * scale};
    return scale == 1; /* the newest that is alike */
}

void past_find(struct yard *y, struct live_job *j)
{
    struct err err;
    j->past = (struct past){0};
    if (!is_comparable(j))
        return;
    AUTO_FREE const char **words = words_of(j);
    AUTO_FREE char *category = name_category(j, words);
    struct comparison c = {.words = words};
    if (store_past_list(y->store, category, compare, &c, &err) < 0)
        log_warning("job=%lld history: %s", (long long)j->row.id, err.text);
    else
        j->past = c.best;
}

double past_work(const struct live_job *j, double done)
{
    return j->past.known && j->past.work > done ? j->past.work : NAN;
}
