/* Progress of a training job, read from the output of an unmodified program,
 * and from the file $TRAINYARD_PROGRESS where the job may say it itself.
 *
 * A reader takes bytes as they come, in pieces of any size, and keeps one
 * `struct progress`: what is known of the job now. It never moves back: a new
 * epoch, an evaluation or a second fit continue from where the job was.
 *
 * What beats what: the file, then the output, then logs. Of the output: the job's own
 * pattern alone when there is one, else the forms that docs/progress.md lists.
 *
 * A reader takes about PROGRESS_MEMORY bytes whatever it is fed, reads no clock
 * and does no I/O. */
#ifndef PROGRESS_PROGRESS_H
#define PROGRESS_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "progress/plan.h"

#define PROGRESS_MEMORY 12288
#define PROGRESS_METRICS 16
#define PROGRESS_NAME 32

/* Fields of struct progress that are known. */
#define PROGRESS_STEP 1u
#define PROGRESS_TOTAL 2u
#define PROGRESS_EPOCH 4u
#define PROGRESS_EPOCHS 8u
#define PROGRESS_LOSS 16u
#define PROGRESS_RATE 32u

struct progress_metric {
    char name[PROGRESS_NAME]; /* lower case, words joined by _: val_loss, accuracy */
    double value;             /* may be NaN or infinite */
};

struct progress {
    uint64_t seq;   /* observations so far; 0 = nothing was recognised yet */
    unsigned has;   /* PROGRESS_STEP | ...: the fields that are known */
    int64_t step;   /* done so far: batches, iterations, samples or epochs, as the job counts */
    int64_t total;  /* of the whole job, in the unit of step; never below step */
    double epoch;   /* as the job numbers it (its first may be 0 or 1), may have a fraction */
    int64_t epochs; /* of the whole job */
    double loss;    /* of training, newest; NaN or infinite when the job said so */
    double rate;    /* steps in a second, as the job said */
    bool weak;      /* step and total come from a bar that may not be the training's */
    bool diverged;  /* the newest loss is NaN or infinite */
    /* Static name of the form that gave step (else loss): "keras", "file" ... */
    const char *source;
    /* Where the total is from: "output", "--total", "earlier runs", or as the plan says,
     * "--epochs 14"; NULL without a total. Valid as long as the reader. */
    const char *total_from;
    unsigned n_metrics;
    struct progress_metric metric[PROGRESS_METRICS]; /* newest of each, loss apart; in order seen */
};

struct progress_config {
    /* pcre2 with named groups, see progress/pattern.h; NULL = the built-in forms. */
    const char *pattern;
    int64_t total; /* the job's steps as the user gave them; 0 = read it from the output */
    enum progress_unit total_unit;    /* PROGRESS_UNIT_NONE = steps, as the output counts them */
    int64_t past;                     /* the steps of an earlier run that was alike; 0 = none */
    const struct progress_plan *plan; /* copied; NULL = nothing is known of it */
};

struct progress_reader;
struct progress_log;

/* Fails only for a bad pattern. */
int progress_create(const struct progress_config *config, struct progress_reader **out,
                    struct err *err);
void progress_free(struct progress_reader *r);

/* The next bytes of the job's output. True when progress_now() has news. */
bool progress_feed(struct progress_reader *r, const char *bytes, size_t n);

/* Bytes of the output were left out: forgets the line that was begun. What is fed next should
 * begin a line. */
void progress_skip(struct progress_reader *r);

/* The output has been silent for a while (a second, say) or has ended: reads the
 * line that has no end yet, as a bar has none until its next state. The line
 * may still grow. True if anything is new. */
bool progress_settle(struct progress_reader *r);

/* The next bytes of the file $TRAINYARD_PROGRESS: JSON objects, one a line,
 * {"step":10,"total":100,"epoch":1,"epochs":3,"loss":0.5,"rate":12.3,"accuracy":0.9}.
 * Any other member with a number is a metric. Lines that are not such an object,
 * or longer than 4 KiB, are skipped. True if anything is new. */
bool progress_feed_file(struct progress_reader *r, const char *bytes, size_t n);

/* The file is shorter than what was read of it, or another one: forgets a
 * partial line. Feed it from its beginning then. */
void progress_restart_file(struct progress_reader *r);

/* The next bytes of a file that the program logs to, see progress/log.h. What the output
 * tells of the place overrides it. True if anything is new. */
bool progress_feed_log(struct progress_reader *r, struct progress_log *log, const char *bytes,
                       size_t n);

/* Whether the file says {"checkpoint":true}: the job asks whether to save a checkpoint. */
bool progress_saves(const struct progress_reader *r);

/* What is known; valid until the reader is freed, changed by the calls above. */
const struct progress *progress_now(const struct progress_reader *r);

/* A text for the log, once each: why the pattern was given up (too costly on
 * this output), that lines of the file were not understood. NULL = none. */
const char *progress_problem(struct progress_reader *r);

#endif
