/* The words that the names in a training's output are made of. */
#ifndef PROGRESS_VOCABULARY_H
#define PROGRESS_VOCABULARY_H

#include <stddef.h>
#include <stdint.h>

/* What a word can be in a name; most are only one of these. */
enum {
    WORD_STEP = 1 << 0,         /* counts batches or the like */
    WORD_BEFORE_STEP = 1 << 1,  /* may stand in front of such a word: "global step" */
    WORD_EPOCH = 1 << 2,        /* counts epochs */
    WORD_BEFORE_EPOCH = 1 << 3, /* may stand in front of such a word: "current epoch" */
    WORD_CLOSING = 1 << 4,      /* says that the epoch is over */
    WORD_LOSS = 1 << 5,
    WORD_NO_LOSS = 1 << 6, /* with it a loss is not what the training makes small */
    WORD_WHOLE = 1 << 7,   /* with it a loss is still the whole one */
    WORD_METRIC = 1 << 8,
    WORD_IGNORED = 1 << 9, /* learning rates, times, memory */
    WORD_TRAIN = 1 << 10,
    WORD_EVAL = 1 << 11,
    WORD_LEVEL = 1 << 12, /* of a log line */
    WORD_ROUGH = 1 << 13, /* with it a loss is the whole one, of little: "batch loss" */
    WORD_COST = 1 << 14,  /* a loss only when it stands alone: "cost", not "reader cost" */
    WORD_RISES = 1 << 15, /* a metric of which more is better */
    WORD_DATA = 1 << 16,  /* what a training is fed with: "samples" */
};

struct progress_word {
    const char *text;
    uint32_t is;       /* WORD_... */
    const char *means; /* the common form of a word that has several, else NULL */
};

/* The word, in lower case and of n bytes; NULL when it is not known. */
const struct progress_word *progress_vocabulary_find(const char *text, size_t n);

/* The i-th word in order, NULL after the last. */
const struct progress_word *progress_vocabulary_at(size_t i);

#endif
