/* How far a job is, as its conductor tells it, and as those who follow it are told. */
#ifndef PROTOCOL_PROGRESS_REPORT_H
#define PROTOCOL_PROGRESS_REPORT_H

#include "base/record.h"

enum { PROGRESS_SOURCE_SIZE = 16, PROGRESS_TOTAL_FROM_SIZE = 64 };

/* Whole numbers that are not known are -1, others FIELD_UNKNOWN, texts empty. A job may
 * say that a number is NaN or infinite. */
struct progress_report {
    int64_t step, total;
    double epoch;
    int64_t epochs;
    double loss, rate;
    char metric[FIELD_NUMBERS_NAME];   /* by which it is judged: the loss, or its first metric */
    double value;                      /* of that */
    char source[PROGRESS_SOURCE_SIZE]; /* the form in which it was found */
    char total_from[PROGRESS_TOTAL_FROM_SIZE]; /* what told the total: "--epochs 14" */
};

#define PROGRESS_REPORT_UNKNOWN                                                                    \
    {                                                                                              \
        .step = -1, .total = -1, .epoch = FIELD_UNKNOWN, .epochs = -1, .loss = FIELD_UNKNOWN,      \
        .rate = FIELD_UNKNOWN, .value = FIELD_UNKNOWN                                              \
    }

extern const struct record progress_report_record;

#endif
