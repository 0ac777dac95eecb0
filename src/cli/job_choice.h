/* The jobs that a command is about: those that its operands name, those that its options select,
 * or both. */
#ifndef CLI_JOB_CHOICE_H
#define CLI_JOB_CHOICE_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/command.h"
#include "cli/server_link.h"

#define JOB_CHOICE_OPTIONS                                                                         \
    {"state", 0, "STATES", "only jobs in these states, such as running,queued", false},            \
        {"user", 0, "USER", "only this user's jobs", false},                                       \
    {                                                                                              \
        "name", 0, "PATTERN", "only jobs with this name; * matches any text", false                \
    }

#define JOB_CHOICE_DETAILS                                                                         \
    "JOB is a job's number, a range of numbers such as 12-20, a name, a pattern such as\n"         \
    "'train*', or a unique prefix of a name. The number or the name of an array means all of\n"    \
    "it; 12_3 or NAME[3] means its job with index 3."

/* What an operand that means several jobs stands for. One that means a single job stands for
 * that job in any case. */
enum job_choice_of { JOB_CHOICE_ANY, JOB_CHOICE_ACTIVE };

/* Whether there is an operand or an option that selects jobs. */
bool job_choice_given(const struct args *args);

/* Makes an array of the jobs, each once, as in a list. Options alone select jobs that are not
 * over, unless --state says otherwise. An operand that means nothing is reported on stderr, and
 * the others still count. Returns 0, or the exit code of the first failure; *out is an array in
 * any case. */
int job_choice_make(const struct args *args, struct server_link *l, enum job_choice_of of,
                    json_t **out);

/* Asks on a terminal whether to act on so many jobs, unless they are few or --yes was given. */
bool job_choice_confirm(const struct args *args, size_t jobs);

#endif
