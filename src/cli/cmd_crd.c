/* trainyard crd: prints the definition of the custom resource TrainingJob, which
 * packaging/kubernetes/base/crd.yaml has. */
#include <stdio.h>

#include "base/str.h"
#include "cli/commands.h"
#include "server/kubernetes/crd.h"

static int run(const struct args *args)
{
    struct str out = {0};
    (void)args;
    crd_print(&out);
    fputs(out.at, stdout);
    str_done(&out);
    return 0;
}

static const struct option options[] = {{}};

const struct command command_crd = {
    .name = "crd",
    .summary = "Print the Kubernetes definition of TrainingJob",
    .hidden = true,
    .options = options,
    .run = run,
};
