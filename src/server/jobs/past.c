/* Owns what is remembered of jobs for the next runs of their programs. The members of a sweep are
 * compared by their own commands; those of other arrays, which have one command and do different
 * things by their index, only with members of the same index. */
#include "server/jobs/past.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "progress/past.h"
#include "server/log.h"
#include "store/past.h"
#include "wire/sweep.h"

/* Shorter runs are not worth it. */
#define LEAST (2 * USEC_PER_SEC)

/* The words that it was requested with, on the caller's arena; the list ends with NULL. */
static const char **words_of(const struct live_job *j, struct arena *a)
{
    const struct spec *s = &j->submission->spec;
    struct spec_list command = s->command;
    uint32_t index = (uint32_t)j->row.array_index;
    if (s->sweep.n)
        command = sweep_fill_list(&s->sweep, index, &s->command, a);
    const char **words = ARENA_ARRAY(a, command.n + 2, const char *);
    if (command.n)
        memcpy(words, command.at, command.n * sizeof *words);
    words[command.n] = words[command.n + 1] = NULL;
    if (j->row.array && !s->sweep.n) {
        char text[32];
        snprintf(text, sizeof text, "member %u", index);
        words[command.n] = arena_strdup(a, text);
    }
    return words;
}

/* "ann python3 /home/ann/train.py model resnet50 image torch:2". A script that was sent along is
 * told by its text. */
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
    const char *model = progress_past_model(words);
    if (model)
        str_addf(&text, " model %.64s", model);
    if (spec_has_image(s))
        str_addf(&text, " image %s", s->image);
    return text.at;
}

/* A member costs a query; those of a huge array are left out. */
enum { MEMBERS_MAX = 1000 };

static bool is_comparable(const struct live_job *j)
{
    const struct spec *s = &j->submission->spec;
    return (s->command.n || s->script) && (!s->array.n || indices_count(&s->array) <= MEMBERS_MAX);
}

char *past_category(const struct live_job *j)
{
    struct arena a = {0};
    char *name = name_category(j, words_of(j, &a));
    arena_done(&a);
    return name;
}

/* ---- learning --------------------------------------------------------------------------- */

void past_learn(struct yard *y, const struct live_job *j)
{
    struct err err;
    struct arena a = {0};
    if (!is_comparable(j) || j->row.attempt != 1 || j->row.run_time < LEAST || j->outdone)
        return;
    const char **words = words_of(j, &a);
    AUTO_FREE char *category = name_category(j, words);
    json_auto_t *list = json_array();
    for (size_t i = 0; words[i]; i++)
        json_array_append_new(list, json_string(words[i]));
    AUTO_FREE char *arguments = json_dumps(list, JSON_COMPACT);
    struct past_row row = {category, arguments, clock_wall(&y->clock), j->row.step, j->row.done};
    if (store_past_save(y->store, &row, &err) < 0)
        log_warning("job=%lld history: %s", (long long)j->row.id, err.text);
    arena_done(&a);
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
    struct arena a = {0};
    const char **words = words_of(j, &a);
    AUTO_FREE char *category = name_category(j, words);
    struct comparison c = {.words = words};
    if (store_past_list(y->store, category, compare, &c, &err) < 0)
        log_warning("job=%lld history: %s", (long long)j->row.id, err.text);
    else
        j->past = c.best;
    arena_done(&a);
}

double past_work(const struct live_job *j, double done)
{
    return j->past.known && j->past.work > done ? j->past.work : NAN;
}
