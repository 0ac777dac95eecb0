/* How long a run is meant to be, as its command line, its configuration files, its
 * script and its own first lines say: "--epochs 14", "max_iters: 2000". A plan is a
 * hint: what the program prints of its end ("epoch 3/10") overrides it, and a limit
 * that the output contradicts is dropped. */
#ifndef PROGRESS_PLAN_H
#define PROGRESS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* What is counted. A limit applies only to places that are counted alike. */
enum progress_unit {
    PROGRESS_UNIT_NONE,
    PROGRESS_UNIT_EPOCH,
    PROGRESS_UNIT_STEP, /* iterations, updates, boosting rounds, trees */
    PROGRESS_UNIT_TIMESTEP,
    PROGRESS_UNIT_EPISODE,
    PROGRESS_UNIT_GENERATION,
    PROGRESS_UNIT_KIMG, /* thousands of images */
    PROGRESS_UNITS,
};

/* Where a limit was found: the larger one goes before the smaller. */
enum progress_origin {
    PROGRESS_FROM_NOWHERE,
    PROGRESS_FROM_SCRIPT,
    PROGRESS_FROM_CONFIG,
    PROGRESS_FROM_OUTPUT,
    PROGRESS_FROM_COMMAND,
    PROGRESS_FROM_USER,
};

#define PROGRESS_FROM_BYTES 64

struct progress_limit {
    int64_t value; /* 0 = not known */
    enum progress_origin origin;
    bool disputed;                  /* the same origin gives two values: neither counts */
    bool rollout;                   /* of a name that is also used for the length of a rollout */
    char from[PROGRESS_FROM_BYTES]; /* "--epochs 14", "train.yaml: epochs: 14" */
};

struct progress_plan {
    struct progress_limit limit[PROGRESS_UNITS];
    bool repeats; /* the command trains more than once: "--runs 10", a loop of a shell */
};

/* What the name of an option or a setting limits: "max-iters" steps, "trainer.epochs"
 * epochs; PROGRESS_UNIT_NONE for any other name. */
enum progress_unit progress_plan_unit(const char *name, size_t n);

/* Whether an option counts trainings: "runs", "n-folds", "num_seeds". */
bool progress_plan_repeats(const char *name, size_t n);

/* The unit of a word that counts something: "episode", "iters". */
enum progress_unit progress_unit_of_word(const char *word, size_t n);

/* Reads a whole number above 0 that may be written 2000, 1e6, 1_000_000: its length,
 * 0 when the text does not begin with one. */
size_t progress_plan_value(const char *text, size_t n, int64_t *out);

/* Adds a limit unless one of a better origin is known. Two values of one origin: of the
 * command line and of the output the newest counts, of files and scripts none. */
void progress_plan_add(struct progress_plan *p, enum progress_unit unit, int64_t value,
                       enum progress_origin origin, const char *from);

/* The plural of a unit, as users write it: "epochs"; "" for PROGRESS_UNIT_NONE. */
const char *progress_unit_name(enum progress_unit unit);

/* What a user writes for the length of a job: "500", "500steps", "10epochs", "10 epochs",
 * "2e5 timesteps". Without a unit it is PROGRESS_UNIT_NONE: it counts as the output does. */
int progress_total_parse(const char *text, enum progress_unit *unit, int64_t *value,
                         struct err *err);

#endif
