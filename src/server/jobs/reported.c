/* Owns the lookup of numbers in progress reports. */
#include "server/jobs/reported.h"

#include <math.h>
#include <string.h>

#include "progress/words.h"

double reported_number(const struct progress_message *m, const char *name)
{
    struct progress_name wanted, seen;
    progress_name_read(name, strlen(name), &wanted);
    for (uint32_t i = 0; i < m->metrics.n; i++) {
        progress_name_read(m->metrics.at[i].name, strlen(m->metrics.at[i].name), &seen);
        if (!strcmp(seen.text, wanted.text))
            return m->metrics.at[i].value;
    }
    switch (wanted.kind) {
    case PROGRESS_WORD_LOSS: /* a report has the loss of training without its name */
        return wanted.eval ? NAN : m->report.loss;
    case PROGRESS_WORD_STEP:
        return m->report.step < 0 ? NAN : (double)m->report.step;
    case PROGRESS_WORD_EPOCH:
        return m->report.epoch;
    default:
        return NAN;
    }
}
