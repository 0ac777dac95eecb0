/* trainyard man [COMMAND]: prints the manual page of a command, or of the program, made from the
 * command table. `make install` installs the pages. */
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "cli/commands.h"
#include "cli/variables.h"

/* Prints text for roff: dashes and backslashes are escaped, and no line is a request. */
static void print_roff(const char *text)
{
    bool start = true;
    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\''))
            printf("\\&");
        start = *text == '\n';
        if (*text == '\\' || *text == '-')
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void print_head(const char *name, const char *summary)
{
    printf(".TH TRAINYARD%s%s 1 \"\" \"trainyard %s\" \"Trainyard\"\n.SH NAME\ntrainyard",
           *name ? "-" : "", name, TRAINYARD_VERSION);
    if (*name)
        printf("\\-%s", name);
    printf(" \\- ");
    print_roff(summary);
    printf("\n");
}

static void print_options(const struct command *c)
{
    struct option o;
    printf(".SH OPTIONS\n");
    for (size_t i = 0; command_option(c, i, &o); i++) {
        printf(".TP\n");
        if (o.letter)
            printf("\\fB\\-%c\\fR, ", o.letter);
        printf("\\fB\\-\\-");
        print_roff(o.name);
        printf("\\fR");
        if (o.value) {
            printf(" \\fI");
            print_roff(o.value);
            printf("\\fR");
        }
        printf("\n");
        print_roff(o.help);
        printf("%s.\n", o.many ? " (may be repeated)" : "");
    }
}

static void print_command(const struct command *c)
{
    print_head(c->name, c->summary);
    printf(".SH SYNOPSIS\n\\fBtrainyard ");
    print_roff(c->name);
    printf("\\fR [options]");
    if (c->operands) {
        printf(" \\fI");
        print_roff(c->operands);
        printf("\\fR");
    }
    printf("\n");
    if (c->details) {
        printf(".SH DESCRIPTION\n");
        print_roff(c->details);
        printf("\n");
    }
    print_options(c);
    if (c->examples) {
        printf(".SH EXAMPLES\n.nf\n");
        print_roff(c->examples);
        printf("\n.fi\n");
    }
    printf(".SH SEE ALSO\n.BR trainyard (1)\n");
}

static void print_variables(const char *head, const struct variable *v)
{
    printf(".SH %s\n", head);
    for (; v->name; v++) {
        printf(".TP\n\\fB%s\\fR\n", v->name);
        print_roff(v->help);
        printf(".\n");
    }
}

static void print_program(const struct args *a)
{
    print_head("", "an elastic scheduler for deep-learning training");
    printf(".SH SYNOPSIS\n\\fBtrainyard\\fR \\fICOMMAND\\fR [options]\n.SH COMMANDS\n");
    for (size_t i = 0; a->table[i]; i++) {
        if (a->table[i]->hidden)
            continue;
        printf(".TP\n\\fB");
        print_roff(a->table[i]->name);
        printf("\\fR\n");
        print_roff(a->table[i]->summary);
        printf(". See \\fBtrainyard\\-");
        print_roff(a->table[i]->name);
        printf("\\fR(1).\n");
    }
    print_variables("ENVIRONMENT OF COMMANDS", variables_of_commands);
    print_variables("ENVIRONMENT OF THE SERVER", variables_of_server);
    print_variables("ENVIRONMENT OF A JOB", variables_of_jobs);
    printf(
        ".SH EXIT STATUS\n0 on success, 1 on an error, 2 on wrong usage, 3 when the server cannot "
        "be reached.\n");
}

static int run(const struct args *args)
{
    for (size_t i = 0; args_get(args, "names") && args->table[i]; i++)
        if (!args->table[i]->hidden)
            printf("%s\n", args->table[i]->name);
    if (args_get(args, "names"))
        return 0;
    if (args->operands.n == 0) {
        print_program(args);
        return 0;
    }
    for (size_t i = 0; args->table[i]; i++)
        if (!strcmp(args->table[i]->name, args->operands.at[0])) {
            print_command(args->table[i]);
            return 0;
        }
    struct err err;
    err_set(&err, ERR_INVALID, "unknown command '%s'", args->operands.at[0]);
    return command_fail(args->command, &err);
}

static const struct option options[] = {
    {"names", 0, NULL, "print the names of the commands that have a page", false},
    {},
};

const struct command command_man = {
    .name = "man",
    .summary = "Print a manual page",
    .operands = "[COMMAND]",
    .details =
        "Prints the page of a command, or of the program, as roff. Installed pages can be read\n"
        "with man(1): man trainyard-submit.",
    .examples = "  trainyard man submit | man -l -",
    .options = options,
    .max_operands = 1,
    .run = run,
};
