/* trainyard logs JOB...: prints the output of jobs. */
#include <stdio.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/commands.h"
#include "cli/job_choice.h"
#include "cli/job_text.h"
#include "cli/log_reader.h"
#include "cli/member.h"
#include "cli/server_link.h"

static int get_number(const struct args *args, const char *option, int64_t least, int64_t *out,
                      struct err *err)
{
    const char *text = args_get(args, option);
    if (text && str_parse_int(text, least, INT32_MAX, out, err) < 0)
        return err_prefix(err, "--%s", option);
    return 0;
}

/* "==> train[3], job 14 <==" */
static void print_heading(const json_t *job, bool between)
{
    struct str name = {0};
    job_text_add_name(job, &name);
    printf("%s==> %s, job %lld <==\n", between ? "\n" : "", name.at,
           (long long)member_integer(job, "id"));
    str_done(&name);
}

/* Prints the log of each job, one after the other; of several, each under its name. */
static int print_all(const json_t *jobs, const struct log_reader *how, struct err *err)
{
    size_t n = json_array_size(jobs);
    for (size_t i = 0; i < n; i++) {
        const json_t *job = json_array_get(jobs, i);
        struct log_reader one = *how;
        char id[24];
        snprintf(id, sizeof id, "%lld", (long long)member_integer(job, "id"));
        one.job = id;
        if (n > 1)
            print_heading(job, i > 0);
        if (log_reader_run(&one, err) < 0)
            return -1;
    }
    return 0;
}

static int run(const struct args *args)
{
    AUTO_LINK struct server_link link = {0};
    json_auto_t *jobs = NULL;
    struct log_reader how = {.link = &link,
                             .tail = -1,
                             .follow = args_get(args, "follow"),
                             .terminal = isatty(STDOUT_FILENO)};
    struct err err = {0};
    int code = 0, rc = 0;
    if (!job_choice_given(args))
        rc = err_set(&err, ERR_INVALID, "missing JOB..., or --state, --user or --name");
    if (rc < 0 || get_number(args, "tail", 0, &how.tail, &err) < 0 ||
        get_number(args, "attempt", 1, &how.attempt, &err) < 0 ||
        server_link_open(args, NULL, &link, &err) < 0)
        return command_fail(args->command, &err);
    code = job_choice_make(args, &link, JOB_CHOICE_ANY, &jobs);
    if (print_all(jobs, &how, &err) < 0)
        return command_fail(args->command, &err);
    return code;
}

static const struct option options[] = {
    JOB_CHOICE_OPTIONS,
    {"follow", 'f', NULL, "print new output until the job is over", false},
    {"tail", 'n', "N", "print only the last N lines", false},
    {"attempt", 0, "N", "print the output of this attempt (default: the last)", false},
    OPTION_SERVER,
    {},
};

const struct command command_logs = {
    .name = "logs",
    .summary = "Print the output of jobs",
    .operands = "JOB...",
    .details =
        "On a terminal, escape sequences other than colours are shown as text. A file or a pipe\n"
        "gets every byte unchanged. --tail prints lines as a terminal would show them: a progress\n"
        "bar that was redrawn is one line. The outputs of several jobs are printed one after the\n"
        "other, each under its name.\n\n" JOB_CHOICE_DETAILS,
    .examples = "  trainyard logs train -f\n  trainyard logs 12 --tail 20 --attempt 1",
    .options = options,
    .max_operands = OPERANDS_ANY,
    .completes = "JOB",
    .run = run,
};
