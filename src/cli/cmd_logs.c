/* trainyard logs JOB: prints the output of a job. */
#include <unistd.h>

#include "base/str.h"
#include "cli/commands.h"
#include "cli/log_reader.h"
#include "cli/server_link.h"

static int get_number(const struct args *args, const char *option, int64_t least, int64_t *out,
                      struct err *err)
{
    const char *text = args_get(args, option);
    if (text && str_parse_int(text, least, INT32_MAX, out, err) < 0)
        return err_prefix(err, "--%s", option);
    return 0;
}

static int run(const struct args *args)
{
    AUTO_LINK struct server_link link = {0};
    struct log_reader f = {.link = &link,
                           .job = args->operands.at[0],
                           .tail = -1,
                           .follow = args_get(args, "follow"),
                           .terminal = isatty(STDOUT_FILENO)};
    struct err err;
    if (get_number(args, "tail", 0, &f.tail, &err) < 0 ||
        get_number(args, "attempt", 1, &f.attempt, &err) < 0 ||
        server_link_open(args, NULL, &link, &err) < 0 || log_reader_run(&f, &err) < 0)
        return command_fail(args->command, &err);
    return 0;
}

static const struct option options[] = {
    {"follow", 'f', NULL, "print new output until the job is over", false},
    {"tail", 'n', "N", "print only the last N lines", false},
    {"attempt", 0, "N", "print the output of this attempt (default: the last)", false},
    OPTION_SERVER,
    {},
};

const struct command command_logs = {
    .name = "logs",
    .summary = "Print the output of a job",
    .operands = "JOB",
    .details =
        "On a terminal, escape sequences other than colours are shown as text. A file or a pipe\n"
        "gets every byte unchanged.",
    .examples = "  trainyard logs train -f\n  trainyard logs 12 --tail 20 --attempt 1",
    .options = options,
    .min_operands = 1,
    .max_operands = 1,
    .completes = "JOB",
    .run = run,
};
