/* A condition on a number that a job reports, such as "val_loss < 0.1", and which way a metric
 * improves. */
#ifndef PROGRESS_CONDITION_H
#define PROGRESS_CONDITION_H

#include <stdbool.h>

#include "base/err.h"
#include "progress/progress.h"

enum condition_op { CONDITION_BELOW, CONDITION_AT_MOST, CONDITION_ABOVE, CONDITION_AT_LEAST };

struct condition {
    char metric[PROGRESS_NAME]; /* as in struct progress_metric, or "loss"; "" = no condition */
    enum condition_op op;
    double value;
};

/* Reads METRIC <, <=, > or >= NUMBER. The metric is written as in reports, whatever its case and
 * however its words are joined. */
int condition_parse(const char *text, struct condition *out, struct err *err);
/* Text that parses to the same condition, in `buf`. */
enum { CONDITION_TEXT = PROGRESS_NAME + 40 };
const char *condition_format(const struct condition *c, char buf[CONDITION_TEXT]);
/* False for NaN. */
bool condition_met(const struct condition *c, double value);

/* The name as in reports: "Val Accuracy" becomes "val_accuracy". Fails if it has no letters or
 * digits, or is too long. */
int condition_metric(const char *text, size_t n, char out[PROGRESS_NAME], struct err *err);

/* Whether larger values of the metric are better, judging by its name: yes for an accuracy
 * or a score, no for a loss, an error and anything unknown. */
bool condition_rises(const char *metric);

#endif
