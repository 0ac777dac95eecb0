/* Owns what all readers share: how losses and metrics get into a sighting. */
#include "progress/sighting.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sighting_init(struct sighting *s, const char *source)
{
    /* The metrics, most of its size, are only what n_metrics says. */
    memset(s, 0, offsetof(struct sighting, metric));
    s->source = source;
    s->loss_rank = PROGRESS_LOSS_NONE;
}

static void add_metric(struct sighting *s, const char *name, double value)
{
    for (unsigned i = 0; i < s->n_metrics; i++) {
        if (!strcmp(s->metric[i].name, name))
            return;
    }
    if (s->n_metrics == PROGRESS_METRICS)
        return;
    struct progress_metric *m = &s->metric[s->n_metrics++];
    snprintf(m->name, sizeof m->name, "%s", name);
    m->value = value;
}

/* Under the prefix of the evaluation that the line is about. */
static void add_eval_metric(struct sighting *s, const struct progress_name *name, double value)
{
    char text[PROGRESS_NAME + 8];
    bool whole = name->kind == PROGRESS_WORD_LOSS && name->rank <= PROGRESS_LOSS_ROUGH;
    snprintf(text, sizeof text, "%s%s%s", name->eval ? "" : s->eval, name->eval ? "" : "_",
             whole && !name->eval ? "loss" : name->text);
    text[PROGRESS_NAME - 1] = '\0';
    add_metric(s, text, value);
}

bool sighting_add(struct sighting *s, const struct progress_name *name, double value, bool any)
{
    bool known = name->kind == PROGRESS_WORD_LOSS || name->kind == PROGRESS_WORD_METRIC;
    if (!known && !(any && name->kind == PROGRESS_WORD_OTHER))
        return false;
    if (!name->text[0])
        return false;
    if (s->eval) {
        add_eval_metric(s, name, value);
        return true;
    }
    if (name->kind == PROGRESS_WORD_LOSS && !name->eval) {
        if (name->rank < s->loss_rank) {
            s->loss = value;
            s->loss_rank = name->rank;
        }
        if (name->rank <= PROGRESS_LOSS_ROUGH)
            return true;
    }
    add_metric(s, name->text, value);
    return true;
}

void sighting_add_pairs(struct sighting *s, const struct progress_line *line, unsigned from,
                        bool any)
{
    for (unsigned i = from; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        if (!x->words || x->unit || x->over || x->under)
            continue;
        struct progress_name name;
        progress_name_read(line->text + x->label, x->words, &name);
        sighting_add(s, &name, x->value, any);
    }
}
