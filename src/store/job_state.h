/* The states of a job, and of an attempt. */
#ifndef STORE_JOB_STATE_H
#define STORE_JOB_STATE_H

#include <stdbool.h>

/* name, text (which is what the database holds), whether the job is over */
#define JOB_STATES(X)                                                                              \
    X(HELD, "held", false)                                                                         \
    X(QUEUED, "queued", false)                                                                     \
    X(STARTING, "starting", false)                                                                 \
    X(RUNNING, "running", false)                                                                   \
    X(STOPPING, "stopping", false)                                                                 \
    X(DONE, "done", true)                                                                          \
    X(FAILED, "failed", true)                                                                      \
    X(CANCELLED, "cancelled", true)                                                                \
    X(TIMEOUT, "timeout", true)                                                                    \
    X(LOST, "lost", true)

enum job_state {
#define X(name, text, over) JOB_##name,
    JOB_STATES(X)
#undef X
        JOB_STATE_COUNT
};

const char *job_state_name(enum job_state state);
bool job_state_over(enum job_state state);
/* -1 when the text is not a state. */
int job_state_parse(const char *text);

#endif
