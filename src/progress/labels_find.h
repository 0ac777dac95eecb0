/* The numbers of a line by their names: which is a step, an epoch, a metric. */
#ifndef PROGRESS_LABELS_FIND_H
#define PROGRESS_LABELS_FIND_H

#include "progress/sighting.h"

#define NONE UINT16_MAX

/* What was found in a line; indices into its numbers. */
struct found {
    uint16_t step, epoch, fraction, second; /* NONE = not there */
    uint16_t last_epoch;                    /* the last number of the epoch's own group */
    uint16_t percent;                       /* the share that is done */
    uint16_t total;                         /* the steps of the whole job */
    uint16_t epochs;                        /* and its epochs */
    uint16_t timesteps;                     /* a second count, of timesteps */
    size_t metric_at;                       /* where the first loss or metric is named */
    bool learning;                          /* it gives a learning rate, or measures something */
    bool counters;                          /* it has two counts: "step:500 episode:12" */
    bool whole_metrics;                     /* its metrics are all whole numbers */
    bool eval_metric;                       /* one of them is named as an evaluation's */
    bool closes, train_epoch;
};

/* Names the numbers of the line, of which there are up to PROGRESS_NUMBERS, and finds what they
 * are. */
void labels_find(const struct progress_line *line, struct progress_name *names, struct found *f);

/* Only marks, blanks and a share in parentheses, "[", "] [", " (33%) [", lie
 * between two numbers. */
bool labels_is_adjacent(const struct progress_line *line, const struct progress_number *a,
                        const struct progress_number *b);

/* A fraction that no word names. */
bool labels_is_bare_fraction(const struct progress_line *line, unsigned i);

/* A whole number after "loss" or "error" with nothing but a blank between may
 * be any count: "error 404". */
bool labels_is_metric(const struct progress_number *x, const struct progress_name *name);

/* The prefix of the evaluation that the line is about: a word for one before its
 * first metric (0 = it has none), or the very first word of the line. */
const char *labels_find_eval(const struct progress_line *line, size_t metric_at);

/* Where the first metric is an evaluation's and there is no loss of the training,
 * all of them are: "testing psnr = 34.4, ssim = 0.94". */
const char *labels_eval_prefix(const struct progress_line *line, const struct progress_name *names);

#endif
