/* How far a job is, as its conductor reports it and as clients see it. */
#ifndef PROTOCOL_PROGRESS_REPORT_H
#define PROTOCOL_PROGRESS_REPORT_H

#include "base/record.h"

enum { PROGRESS_SOURCE_SIZE = 16, PROGRESS_TOTAL_FROM_SIZE = 64 };

/* Unknown integers are -1, unknown reals FIELD_UNKNOWN, unknown texts empty. A job may report
 * NaN or infinity. */
struct progress_report {
    int64_t step, total;
    double epoch;
    int64_t epochs;
    double loss, rate;
    char metric[FIELD_NUMBERS_NAME];   /* the job is judged by it: the loss, or its first metric */
    double value;                      /* of the metric */
    char source[PROGRESS_SOURCE_SIZE]; /* form of output in which it was found */
    char total_from[PROGRESS_TOTAL_FROM_SIZE]; /* source of the total: "--epochs 14" */
};

#define PROGRESS_REPORT_UNKNOWN                                                                    \
    {                                                                                              \
        .step = -1, .total = -1, .epoch = FIELD_UNKNOWN, .epochs = -1, .loss = FIELD_UNKNOWN,      \
        .rate = FIELD_UNKNOWN, .value = FIELD_UNKNOWN                                              \
    }

extern const struct record progress_report_record;

#endif
