/* The columns of our own CSV, shared by its reader and its writer. */
#ifndef SIM_TRACE_OWN_H
#define SIM_TRACE_OWN_H

#include "sim/trace/table.h"

enum own_column {
    OWN_ID,
    OWN_SUBMIT,
    OWN_WORK,
    OWN_DURATION,
    OWN_UNIT,
    OWN_REQ,
    OWN_MIN,
    OWN_MAX,
    OWN_KIND,
    OWN_TYPE,
    OWN_DEADLINE,
    OWN_DEADLINE_AT,
    OWN_WEIGHT,
    OWN_MEMORY,
    OWN_DEVICES,
    OWN_CPUS_PER_GPU,
    OWN_WHOLE,
    OWN_PREEMPT,
    OWN_SPEEDS,
    OWN_LOSS,
    OWN_TARGET,
    OWN_RESTART,
    OWN_RESIZE,
    OWN_MOVE,
    OWN_CHECKPOINT,
    OWN_GROUP,
    OWN_COLUMNS,
};

extern const struct column own_columns[OWN_COLUMNS + 1];

#endif
