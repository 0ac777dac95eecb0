/* Every command, for the table in main.c. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command.h"

extern const struct command command_best, command_cancel, command_complete, command_completion,
    command_db, command_deliver, command_drain, command_estimate, command_events, command_explain,
    command_crd, command_hold, command_logs, command_man, command_migrate, command_nodes,
    command_notify, command_open, command_policies, command_policy, command_ps, command_release,
    command_replay, command_requeue, command_resize, command_run, command_serve, command_set,
    command_show, command_sim, command_submit, command_token, command_top, command_version,
    command_wait, command_whatif;

#endif
