/* A command of the program: one const entry, from which parsing, help, man
 * pages and completion all follow. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"

struct option {
    const char *name;  /* long form without dashes */
    char letter;       /* short form, 0 = none */
    const char *value; /* what its value is called, NULL = a flag */
    const char *help;
    bool many; /* may be given more than once */
};

struct args;

struct command {
    const char *name;
    const char *summary;          /* one line */
    const char *operands;         /* "TRACE", "[NAME]"; NULL = none */
    const char *details;          /* paragraphs for help and man page; may be NULL */
    const char *examples;         /* lines for help and man page; may be NULL */
    const struct option *options; /* ends with a NULL name; may be NULL */
    unsigned min_operands, max_operands;
    /* What the operands are, for completion: a word of a fixed list separated by
     * '|', "FILE", "JOB", "NODE", "POLICY"; NULL = anything. */
    const char *completes;
    bool hidden; /* not in the list of commands */
    /* Returns the exit code. */
    int (*run)(const struct args *args);
};

/* What the user typed behind the command's name. */
struct args {
    const struct command *command;
    const struct command *const *table; /* of all commands, ends with NULL */
    VEC(const char *) operands;
    struct {
        struct given {
            const struct option *option;
            const char *value;
        } * at;
        size_t n, cap;
    } given;
};

/* Options may stand before, between and behind operands; "--" ends them. An
 * unknown option gets the nearest one in the error. */
int args_parse(const struct command *c, int argc, char **argv, struct args *out, struct err *err);
void args_done(struct args *a);

/* The last value of an option, "" for a flag that was given, NULL when it was
 * not. */
const char *args_get(const struct args *a, const char *name);
/* The i-th value of an option that may be given more than once, or NULL. */
const char *args_nth(const struct args *a, const char *name, size_t i);

/* "trainyard NAME --help". */
void command_help(const struct command *c, FILE *out);

/* Prints "trainyard NAME: text" and, for a usage error, where help is; returns
 * the exit code. */
int command_fail(const struct command *c, const struct err *err);

#endif
