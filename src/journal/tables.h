/* The content of the journal's rows, for writing and reading. */
#ifndef JOURNAL_TABLES_H
#define JOURNAL_TABLES_H

#include "base/fields.h"
#include "engine/engine.h"

/* All members except lists: a job's speeds; a task's places and memos; the policy and the nodes
 * of an engine. */
extern const struct field journal_job[];
extern const struct field journal_task[];
extern const struct field journal_sample[];
extern const struct field journal_node[];
extern const struct field journal_capacity[];
extern const struct field journal_config[];

/* Members of struct event, by part. */
enum journal_part {
    JOURNAL_TASK = 1 << 0,
    JOURNAL_NODE = 1 << 1,
    JOURNAL_STATE = 1 << 2,
    JOURNAL_PROGRESS = 1 << 3,
    JOURNAL_AT = 1 << 4,
    /* Separate objects or texts. */
    JOURNAL_JOB = 1 << 5,
    JOURNAL_WAS = 1 << 6,
    JOURNAL_SAMPLE = 1 << 7,
    JOURNAL_POLICY = 1 << 8,
    JOURNAL_HAS = 1 << 9,
};
enum { JOURNAL_PLAIN = 5 }; /* parts that are fields of struct event */
extern const struct field *const journal_event[JOURNAL_PLAIN];

/* By enum event_kind: the kinds' names, and the parts that each has. */
#define JOURNAL_KINDS                                                                              \
    "submit|restore|end|stopped|failed|hold|release|sample|progress|ready|job|node|capacity|"      \
    "policy|"                                                                                      \
    "move|lose|tick"
unsigned journal_parts(enum event_kind kind);

#define JOURNAL_AXES "allocate|place|share"

#endif
