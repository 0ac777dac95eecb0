/* Every command, for the table in main.c. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command.h"

extern const struct command command_completion, command_man, command_policies, command_sim,
    command_version;

#endif
