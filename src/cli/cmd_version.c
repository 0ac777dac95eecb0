/* trainyard version */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/version.h"

static int run(const struct args *args)
{
    (void)args;
    printf("trainyard %s\n", TRAINYARD_VERSION);
    return 0;
}

const struct command command_version = {
    .name = "version",
    .summary = "Print the version",
    .run = run,
};
