/* Owns the fuzzing of what the conductor reads: spec.json, the lines that a server
 * sends, CPU lists, and the kernel's files. Whatever the input, a reader says yes or
 * no; what it says yes to is within its bounds, and a bad line is answered. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conductor/cpus.h"
#include "conductor/jobspec.h"
#include "conductor/message.h"
#include "conductor/proc.h"
#include "conductor/usage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth)
        abort();
}

static void try_spec(const char *text, size_t n)
{
    struct jobspec s;
    struct str unknown = {0};
    struct err err = {0};
    if (jobspec_parse(text, n, &s, &unknown, &err) < 0) {
        demand(err.code != ERR_OK && err.text[0]);
        return;
    }
    demand(s.command[0] && *s.command[0] && s.env && *s.workdir == '/' && *s.socket == '/');
    demand(s.time_limit > 0 && s.grace >= 0 && s.sample >= 0 && s.linger >= 0);
    demand(s.log_max_bytes > 0 && s.log_keep > 0 && s.nice >= -20 && s.nice <= 19);
    demand(s.warn_signal >= 0 && s.warn_signal <= 64 && s.checkpoint_signal > 0);
    for (size_t i = 0; i < s.n_cgroups; i++)
        demand(*s.cgroups[i].path == '/' && !strchr(s.cgroups[i].procs, '/'));
    for (char **e = s.env; *e; e++)
        demand(strchr(*e, '=') > *e);
    str_done(&unknown);
    jobspec_done(&s);
}

static void try_command(const char *text, size_t n)
{
    static const struct jobspec defaults = {.checkpoint_signal = 15, .grace = 60000000};
    struct command c;
    struct err err = {0};
    if (command_parse(text, n, &defaults, &c, &err) < 0) {
        demand(err.code != ERR_OK && err.text[0]);
        return;
    }
    demand(c.type <= COMMAND_BAD && c.id >= -1 && c.seq >= -1);
    demand(memchr(c.text, 0, sizeof c.text) && memchr(c.cpuset, 0, sizeof c.cpuset));
    if (c.type == COMMAND_BAD)
        demand(c.text[0]);
    if (c.type == COMMAND_STOP || c.type == COMMAND_SIGNAL)
        demand(c.signal > 0 && c.signal <= 64 && c.grace >= 0);
    if (c.type == COMMAND_RESIZE)
        demand(c.cpus > 0);
    /* What it says goes back to the server. */
    struct str out = {0};
    message_error(&out, c.id, c.text);
    demand(out.n < MESSAGE_MAX_BYTES && out.at[out.n - 1] == '\n' &&
           !memchr(out.at, '\n', out.n - 1));
    str_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size);
    struct cpus cpus;
    struct proc proc;
    struct err err = {0};
    try_spec(text, size);
    try_command(text, size);
    if (cpus_parse(text, &cpus, &err) < 0)
        demand(err.code == ERR_INVALID);
    proc_parse(text, &proc);
    usage_find(text, NULL);
    usage_find(text, "oom_kill");
    usage_find(text, "rbytes=");
    free(text);
    return 0;
}
