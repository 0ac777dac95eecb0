/* The state of the full-screen view and how keys change it. Pure: the command fetches the data,
 * draws with top_frame.h and carries out what a key asks for. */
#ifndef CLI_TOP_STATE_H
#define CLI_TOP_STATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "cli/terminal.h"

enum top_mode {
    TOP_LIST,    /* nodes and jobs */
    TOP_JOB,     /* one job */
    TOP_CONFIRM, /* the list, with a question */
    TOP_HELP,
};

/* What the command does next. */
enum top_want {
    TOP_NOTHING,
    TOP_QUIT,
    TOP_REFRESH,
    TOP_CANCEL, /* this and the following act on the selected job */
    TOP_HOLD,
    TOP_RELEASE,
    TOP_GROW,
    TOP_SHRINK,
    TOP_RESET,
};

struct top_state {
    struct terminal_size size;
    enum top_mode mode;
    bool paused;      /* the data are not refreshed */
    bool all;         /* also jobs that are over */
    int64_t selected; /* id of a job; 0 = none */
    size_t first;     /* the first job, or line about a job, on the screen */
    char message[256];
    /* The newest data, borrowed; NULL = none yet. */
    const json_t *jobs, *nodes; /* arrays */
    const json_t *policy;       /* as the API returns it */
    const json_t *job;          /* all about the selected one, in mode TOP_JOB */
    usec_t now;
};

/* Changes the state and returns what the key asks for. */
enum top_want top_state_key(struct top_state *s, int key);

/* Call it when the data or the size of the screen have changed. The selection stays on its job,
 * or moves to its neighbour when the job is gone, and stays visible. */
void top_state_settle(struct top_state *s);

/* The selected job; NULL when there is none. */
const json_t *top_state_selected(const struct top_state *s);

/* The rows of the list of jobs on the screen, and those of the nodes. */
size_t top_state_job_rows(const struct top_state *s);
size_t top_state_node_rows(const struct top_state *s);

/* The number of CPUs after one step up or down. */
double top_state_step(const json_t *job, bool up);

#endif
