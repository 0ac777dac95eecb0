/* A command of the program: one const entry, from which parsing, help, manual pages and
 * completion follow. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "wire/spec.h"

struct option {
    char name[SPEC_OPTION_SIZE]; /* long form without the dashes */
    char letter;                 /* short form, 0 = none */
    /* Name of its value; NULL = a flag. "a|b|c" are the words that it may be, for help and
     * completion. A value in brackets is optional: the next word is taken only when it begins
     * with a digit, and never with "[=". */
    const char *value;
    const char *help;
    bool many; /* may be given more than once */
};

/* Options that several commands have. */
#define OPTION_JSON(what)                                                                          \
    {                                                                                              \
        "json", 0, NULL, what, false                                                               \
    }
#define OPTION_QUIET(what)                                                                         \
    {                                                                                              \
        "quiet", 'q', NULL, what, false                                                            \
    }

#define OPERANDS_ANY UINT_MAX

struct args;

struct command {
    const char *name;
    const char *summary;          /* one line */
    const char *operands;         /* "TRACE", "[NAME]"; NULL = none */
    const char *details;          /* paragraphs for help and man page; may be NULL */
    const char *examples;         /* lines for help and man page; may be NULL */
    const struct option *options; /* ends with {}; may be NULL */
    /* Fields of a job that are also options; may be NULL. */
    const struct spec_field *fields;
    unsigned min_operands, max_operands;
    bool operands_last; /* options are only allowed before the first operand */
    /* What the operands are, for completion: words separated by '|', "FILE", "JOB", "NODE" or
     * "POLICY"; NULL = anything. */
    const char *completes;
    bool hidden; /* not in the list of commands */
    /* Returns the exit code. */
    int (*run)(const struct args *args);
};

/* What the user typed after the command's name. */
struct args {
    const struct command *command;
    const struct command *const *table; /* of all commands, ends with NULL */
    VEC(const char *) operands;
    bool dashes; /* "--" came before the operands */
    struct {
        struct given {
            struct option option;
            const char *value;
        } * at;
        size_t n, cap;
    } given;
};

/* The i-th option: the command's own, one per field, --help; false after the last. */
bool command_option(const struct command *c, size_t i, struct option *out);

/* Options may come before, between and after operands; "--" ends them. The error about an
 * unknown option suggests the nearest one. */
int args_parse(const struct command *c, int argc, char **argv, struct args *out, struct err *err);
void args_done(struct args *a);

/* The last value of an option; "" for a flag that was given, NULL when it was not. */
const char *args_get(const struct args *a, const char *name);
/* The i-th value of an option that may be given several times, or NULL. */
const char *args_nth(const struct args *a, const char *name, size_t i);

/* Prints the help of a command. */
void command_help(const struct command *c, FILE *out);

/* Prints "trainyard NAME: text" and, for a usage error, where to find help; returns the exit
 * code. */
int command_fail(const struct command *c, const struct err *err);

#endif
