/* Owns the bars of Keras, the old ones and the new:
 *
 *    45/469 [=>............................] - ETA: 12s - loss: 0.3422 - accuracy: 0.8911
 *   469/469 [==============================] - 5s 11ms/step - loss: 0.24 - val_loss: 0.31
 *    45/469 ━━━━━━━━━━━━━━━━━━━━ 12s 30ms/step - accuracy: 0.1025 - loss: 2.3011
 *   469/469 - 2s - 4ms/step - accuracy: 0.9352 - loss: 0.2278
 *    45/Unknown - 3s 3ms/step - loss: 0.3
 *
 * The epoch is on a line of its own above, and an evaluation looks the same: the
 * tracker tells them apart, by that line. */

#include "progress/keras.h"

#include <math.h>
#include <string.h>

static size_t skip_blanks(const struct progress_line *line, size_t i)
{
    while (i < line->n && line->text[i] == ' ')
        i++;
    return i;
}

/* Behind the drawing of the bar that begins at i; 0 = there is none. */
static size_t skip_drawing(const struct progress_line *line, size_t i)
{
    if (progress_line_at(line, i, "[")) {
        size_t k = i + 1;
        while (k < line->n &&
               (line->text[k] == '=' || line->text[k] == '>' || line->text[k] == '.'))
            k++;
        return k > i + 1 && progress_line_at(line, k, "]") ? k + 1 : 0;
    }
    size_t k = i;
    while (progress_line_at(line, k, "\xe2\x94\x81"))
        k += 3;
    if (k > i)
        return k;
    return progress_line_at(line, i, "- ") ? i : 0;
}

/* "12s 30ms/step": a time comes first, or what is left of it. */
static bool has_time(const struct progress_line *line, size_t i)
{
    i = skip_blanks(line, i);
    if (progress_line_at(line, i, "- "))
        i = skip_blanks(line, i + 1);
    if (progress_line_at(line, i, "ETA: "))
        return true;
    size_t k = i;
    while (k < line->n && ((line->text[k] >= '0' && line->text[k] <= '9') || line->text[k] == ':'))
        k++;
    return k > i && (progress_line_at(line, k, "s") || progress_line_at(line, k, " ") ||
                     progress_line_at(line, k, "ms") || k == line->n);
}

static void add_rate(struct sighting *s, const struct progress_line *line)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"s/step", 1}, {"ms/step", 1e-3}, {"us/step", 1e-6}};
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
            if (x->value > 0 && isfinite(x->value) &&
                progress_line_at(line, x->end, units[u].unit)) {
                s->rate = 1 / (x->value * units[u].seconds);
                s->has |= SIGHTING_RATE;
                return;
            }
        }
    }
}

/* Of verbose=2 in old versions: " - 2s - loss: 0.31 - acc: 0.90", and no place. */
static bool read_summary(const struct progress_line *line, struct sighting *s)
{
    size_t i = skip_blanks(line, 0);
    if (!progress_line_at(line, i, "- ") || line->number[0].at != i + 2 || !line->number[0].unit ||
        !progress_line_at(line, line->number[0].end, "s - "))
        return false;
    sighting_add_pairs(s, line, 1, true);
    s->closes = true;
    return s->loss_rank != PROGRESS_LOSS_NONE;
}

bool progress_read_keras(const struct progress_line *line, struct sighting *s)
{
    if (!line->count || line->continued)
        return false;
    sighting_init(s, "keras");
    const struct progress_number *x = &line->number[0];
    if (x->at != skip_blanks(line, 0) || x->whole < 0)
        return read_summary(line, s);
    size_t end = x->over ? x[1].end : x->end;
    if (!x->over) {
        if (!progress_line_at(line, end, "/Unknown"))
            return false;
        end += strlen("/Unknown");
    }
    size_t drawn = skip_drawing(line, skip_blanks(line, end));
    if (!drawn || !has_time(line, drawn))
        return false;
    s->at = x->whole;
    s->has = SIGHTING_AT;
    if (x->over && x[1].whole > 0) {
        s->of = x[1].whole;
        s->has |= SIGHTING_OF;
    }
    s->bar = true;
    sighting_add_pairs(s, line, 1 + x->over, true);
    add_rate(s, line);
    s->trust = sighting_has_metric(s) ? TRUST_GOOD : TRUST_WEAK;
    return true;
}
