/* trainyard version */
#include <stdio.h>

#include "base/version.h"
#include "cli/commands.h"
#include "cli/wire_out.h"

static int run(const struct args *args)
{
    json_auto_t *object = json_pack("{s:s}", "version", TRAINYARD_VERSION);
    struct str out = {0};
    if (args_get(args, "json"))
        wire_out_line(object, &out);
    else
        str_addf(&out, "trainyard %s\n", TRAINYARD_VERSION);
    fputs(out.at, stdout);
    str_done(&out);
    return 0;
}

static const struct option options[] = {OPTION_JSON("print an object"), {}};

const struct command command_version = {
    .name = "version",
    .summary = "Print the version",
    .options = options,
    .run = run,
};
