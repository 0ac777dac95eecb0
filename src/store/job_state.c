/* Owns the names of states. */
#include "store/job_state.h"

#include <string.h>

static const struct {
    const char *text;
    bool over;
} states[JOB_STATE_COUNT] = {
#define X(name, text, over) [JOB_##name] = {text, over},
    JOB_STATES(X)
#undef X
};

const char *job_state_name(enum job_state state)
{
    return states[state].text;
}

bool job_state_over(enum job_state state)
{
    return states[state].over;
}

int job_state_parse(const char *text)
{
    for (int i = 0; i < JOB_STATE_COUNT; i++)
        if (!strcmp(text, states[i].text))
            return i;
    return -1;
}
