/* What words mean in the output of a training: which name is a step, an epoch, a
 * loss or a metric, which belongs to an evaluation, which bar only prepares. */
#ifndef PROGRESS_WORDS_H
#define PROGRESS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "progress/plan.h"
#include "progress/progress.h"

enum progress_kind {
    PROGRESS_WORD_OTHER, /* anything else */
    PROGRESS_WORD_STEP,
    PROGRESS_WORD_TOTAL, /* the steps of the whole job */
    PROGRESS_WORD_EPOCH,
    PROGRESS_WORD_EPOCHS, /* the epochs of the whole job */
    PROGRESS_WORD_LOSS,
    PROGRESS_WORD_METRIC,
    PROGRESS_WORD_IGNORED, /* learning rates, times, memory: never a metric */
};

/* Of the losses in a line the one with the smallest rank is the job's: "loss"
 * itself, then "batch_loss", then "lm_loss", then parts like "loss_bbox_reg". */
#define PROGRESS_LOSS_WHOLE 0
#define PROGRESS_LOSS_ROUGH 1
#define PROGRESS_LOSS_NAMED 2
#define PROGRESS_LOSS_PART 3
#define PROGRESS_LOSS_NONE 4

struct progress_name {
    enum progress_kind kind;
    bool eval;               /* of an evaluation: val_, test_, eval_ */
    bool train;              /* says that it is of the training */
    bool data;               /* counts what the training is fed with: "samples seen" */
    bool measured;           /* one of its words is a loss or a metric: "best fitness" */
    bool closes;             /* "end of epoch" */
    bool rises;              /* a metric of which more is better: "val_acc", not "acc_loss" */
    uint8_t rank;            /* of a loss */
    enum progress_unit unit; /* of a step */
    char text[PROGRESS_NAME];
};

/* Reads a label such as "Train Loss", "validation-accuracy" or "global_step". */
void progress_name_read(const char *label, size_t n, struct progress_name *out);

/* What the words in front of a bar say it does. */
enum progress_bar_kind {
    PROGRESS_BAR_PLAIN,
    PROGRESS_BAR_TRAIN,
    PROGRESS_BAR_EVAL,
    PROGRESS_BAR_PREPARE, /* downloads, extracts, tokenises: never the training */
    PROGRESS_BAR_EPOCHS,  /* counts epochs: "Epochs:  30%|###  | 3/10" */
};
enum progress_bar_kind progress_bar_read(const char *label, size_t n);

/* "val", "test" or "eval" when the word stands for an evaluation, else NULL. */
const char *progress_eval_prefix(const char *word, size_t n);

#endif
