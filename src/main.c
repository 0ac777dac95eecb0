/* The command table: the one place that joins all parts of the program. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/commands.h"

static const struct command *const commands[] = {
    &command_serve,
    &command_submit,
    &command_run,
    &command_ps,
    &command_top,
    &command_show,
    &command_logs,
    &command_explain,
    &command_estimate,
    &command_events,
    &command_best,
    &command_wait,
    &command_cancel,
    &command_hold,
    &command_release,
    &command_resize,
    &command_requeue,
    &command_set,
    &command_migrate,
    &command_nodes,
    &command_drain,
    &command_policy,
    &command_policies,
    &command_whatif,
    &command_sim,
    &command_replay,
    &command_notify,
    &command_open,
    &command_token,
    &command_db,
    &command_version,
    &command_completion,
    &command_complete,
    &command_deliver,
    &command_man,
    &command_crd,
    NULL,
};

enum { COMMANDS = COUNT_OF(commands) - 1 };

static void print_usage(FILE *out)
{
    fprintf(out, "Usage: trainyard COMMAND [options]\n\n"
                 "An elastic scheduler for deep-learning training.\n\nCommands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        if (!commands[i]->hidden)
            fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out, "\n`trainyard COMMAND --help` describes a command.\n");
}

static const char *command_name(const void *ctx, size_t i)
{
    (void)ctx;
    return commands[i]->name;
}

/* A full disk must not pass for success. */
static int close_output(const struct command *c, int code)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code != 0)
        return code;
    fprintf(stderr, "trainyard %s: cannot write the output: %s\n", c->name, strerror(errno));
    return 1;
}

static int run_command(const struct command *c, int argc, char **argv)
{
    struct args args;
    struct err err;
    if (args_parse(c, argc, argv, &args, &err) < 0)
        return command_fail(c, &err);
    args.table = commands;
    int code = 0;
    if (args_get(&args, "help"))
        command_help(c, stdout);
    else
        code = c->run(&args);
    args_done(&args);
    return close_output(c, code);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "--help";
    if (!strcmp(name, "--version") || !strcmp(name, "-V"))
        name = "version";
    bool help = !strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help");
    if (help && argc < 3) {
        print_usage(argc > 1 ? stdout : stderr);
        return argc > 1 ? 0 : 2;
    }
    if (help)
        name = argv[2];
    char *help_option[] = {"--help"};
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i]->name, name))
            return help ? run_command(commands[i], 1, help_option)
                        : run_command(commands[i], argc - 2, argv + 2);
    const char *near = str_nearest(name, COMMANDS, command_name, NULL);
    fprintf(stderr, "trainyard: unknown command '%s'", name);
    if (near)
        fprintf(stderr, "; did you mean '%s'?", near);
    fprintf(stderr, "\n`trainyard --help` lists the commands\n");
    return 2;
}
