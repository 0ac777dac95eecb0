/* Owns the members of a progress report as JSON. */
#include "protocol/progress_report.h"

#define AT(member) offsetof(struct progress_report, member)

/* clang-format off */
static const struct field members[] = {
    {"step", FIELD_I64 | FIELD_OPTIONAL, AT(step), 0, INT64_MAX, NULL},
    {"total", FIELD_I64 | FIELD_OPTIONAL, AT(total), 0, INT64_MAX, NULL},
    {"epoch", FIELD_NUMBER | FIELD_OPTIONAL, AT(epoch), 0, 0, NULL},
    {"epochs", FIELD_I64 | FIELD_OPTIONAL, AT(epochs), 0, INT64_MAX, NULL},
    {"loss", FIELD_NUMBER | FIELD_OPTIONAL, AT(loss), 0, 0, NULL},
    {"rate", FIELD_NUMBER | FIELD_OPTIONAL, AT(rate), 0, 0, NULL},
    {"metric", FIELD_CHARS | FIELD_OPTIONAL, AT(metric), 0, FIELD_NUMBERS_NAME, NULL},
    {"value", FIELD_NUMBER | FIELD_OPTIONAL, AT(value), 0, 0, NULL},
    {"source", FIELD_CHARS | FIELD_OPTIONAL, AT(source), 0, PROGRESS_SOURCE_SIZE, NULL},
    {"total_from", FIELD_CHARS | FIELD_OPTIONAL, AT(total_from), 0, PROGRESS_TOTAL_FROM_SIZE, NULL},
    {0},
};
/* clang-format on */

static const struct progress_report unknown = PROGRESS_REPORT_UNKNOWN;

const struct record progress_report_record = {members, sizeof(struct progress_report), &unknown};
