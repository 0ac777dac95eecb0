/* What one line says, before it is put together with what was known. */
#ifndef PROGRESS_SIGHTING_H
#define PROGRESS_SIGHTING_H

#include <stdbool.h>
#include <stdint.h>

#include "progress/line.h"
#include "progress/progress.h"
#include "progress/words.h"

/* Fields that a sighting has. */
#define SIGHTING_AT 1u     /* a place: batch, iteration, sample */
#define SIGHTING_OF 2u     /* and how many there are of them */
#define SIGHTING_EPOCH 4u  /* an epoch, as the job numbers it */
#define SIGHTING_EPOCHS 8u /* and how many there are of them */
#define SIGHTING_RATE 16u
#define SIGHTING_TOTAL 32u  /* the job's steps, given apart from a place */
#define SIGHTING_LIMIT 64u  /* a limit of the run that the program announces */
#define SIGHTING_OUTER 256u /* a loop around the training may have begun another round */
#define SIGHTING_TICK 128u  /* one more of those that were announced is done */

/* Whether `at` counts from the beginning of the epoch or of the job. */
enum sighting_scope { SCOPE_UNKNOWN, SCOPE_EPOCH, SCOPE_JOB, SCOPE_LIKELY_JOB };

/* How sure it is that the place is the training's. LOGGED: of a file that the program
 * logs to, where it may count otherwise than in its output. */
enum sighting_trust { TRUST_NONE, TRUST_WEAK, TRUST_LOGGED, TRUST_GOOD, TRUST_SAID };

struct sighting {
    const char *source;
    uint32_t key; /* distinguishes the bars and tables of one source */
    unsigned has;
    int64_t at, of, epochs, total;
    int64_t round_at, round_of; /* of SIGHTING_OUTER; round_of 0 = not known */
    bool round_sure;            /* the loop has a name that only such loops have */
    int64_t timesteps;          /* a second count, of timesteps; 0 = none */
    enum progress_unit unit;    /* of `at`, or of the limit */
    int64_t limit;
    double epoch, rate;
    enum sighting_scope scope;
    enum sighting_trust trust;
    bool nested;       /* it is numbered itself, as a chain or a fold: others will follow */
    bool rough;        /* `of` is worked out from times and varies a little */
    bool share;        /* `of` is worked out from a share, which may be another one's */
    bool named;        /* the place is called a step: it may be one of the whole job */
    bool from_zero;    /* its epochs are known to begin at 0 */
    bool header;       /* opens an epoch, and says no more */
    bool loose;        /* a bare fraction: a place only within a named epoch */
    bool looped;       /* in a loop around the training: "Run: 2, Epoch: 30" */
    bool closes;       /* the epoch is over */
    bool bar;          /* a bar: one that falls back starts over */
    bool label_loss;   /* a bar: the words before it have a loss */
    bool chief;        /* the bar that was drawn last is the training's */
    const char *eval;  /* an evaluation: prefix of its metrics, and no place */
    uint8_t loss_rank; /* PROGRESS_LOSS_NONE = it has no loss */
    double loss;
    unsigned n_metrics;
    struct progress_metric metric[PROGRESS_METRICS];
};

/* An empty sighting. */
void sighting_init(struct sighting *s, const char *source);

/* Adds a loss or a metric under its name; any = also names that are not known to
 * be metrics. False when the name is not one. */
bool sighting_add(struct sighting *s, const struct progress_name *name, double value, bool any);

/* Adds what the labelled numbers of the line say from number `from` on. */
void sighting_add_pairs(struct sighting *s, const struct progress_line *line, unsigned from,
                        bool any);

static inline bool sighting_has_metric(const struct sighting *s)
{
    return s->loss_rank != PROGRESS_LOSS_NONE || s->n_metrics;
}

#endif
