/* The environment variables that users can set or that jobs find. */
#ifndef CLI_VARIABLES_H
#define CLI_VARIABLES_H

struct variable {
    const char *name, *help;
};

/* Each ends with a NULL name. */
extern const struct variable variables_of_commands[], variables_of_server[], variables_of_jobs[];

#endif
