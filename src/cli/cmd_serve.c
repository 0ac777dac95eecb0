/* trainyard serve: the server, in the foreground. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "policy/combo.h"
#include "server/serve.h"
#include "wire/dirs.h"
#include "wire/value.h"

/* Jobs shrink to their smallest size before another has to wait, and grow while there is
 * room. */
static const char default_policy[] = "elastic-fifo";

/* Takes the token out of the environment, where other processes of this user could read it as
 * long as the server runs. The caller frees it; NULL = there is none. */
static char *take_token(void)
{
    char *text = getenv("TRAINYARD_TOKEN");
    if (!text || !*text)
        return NULL;
    char *token = xstrdup(text);
    explicit_bzero(text, strlen(text));
    unsetenv("TRAINYARD_TOKEN");
    return token;
}

/* A short one can be guessed. */
static int check_token(const char *token, struct err *err)
{
    enum { LEAST = 16 };
    size_t n = token ? strlen(token) : 0;
    if (n >= LEAST)
        return 0;
    if (!n)
        return err_set(err, ERR_INVALID, "--listen needs a token for clients; set TRAINYARD_TOKEN");
    return err_set(err, ERR_INVALID,
                   "TRAINYARD_TOKEN has %zu characters and could be guessed; use at least %d, as "
                   "from `openssl rand -hex 16`",
                   n, LEAST);
}

static int get_config(const struct args *a, struct serve_config *c, char **state, char **run,
                      char **token, struct err *err)
{
    const char *policy = args_get(a, "policy"), *distance = args_get(a, "resched-min");
    const char *rest = args_get(a, "min-run"), *memory = args_get(a, "default-memory");
    const char *failed = args_get(a, "show-failed");
    const char *keep = args_get(a, "keep"), *rows = args_get(a, "journal-rows");
    if (dirs_state(args_get(a, "state"), state, err) < 0 ||
        dirs_run(args_get(a, "run"), args_get(a, "state"), run, err) < 0 ||
        combo_parse(policy ? policy : default_policy, &c->combo, err) < 0)
        return -1;
    if (distance && time_parse(distance, &c->resched_min, err) < 0)
        return err_prefix(err, "--resched-min");
    if (time_parse(rest ? rest : "5m", &c->min_run, err) < 0)
        return err_prefix(err, "--min-run");
    if (memory && value_memory(memory, &c->default_memory_mb, err) < 0)
        return err_prefix(err, "--default-memory");
    if (time_parse(keep ? keep : "30d", &c->keep, err) < 0)
        return err_prefix(err, "--keep");
    if (time_parse(failed ? failed : "1h", &c->show_failed, err) < 0)
        return err_prefix(err, "--show-failed");
    if (str_parse_int(rows ? rows : "200000", 100, INT32_MAX, &c->journal_rows, err) < 0)
        return err_prefix(err, "--journal-rows");
    c->state_dir = *state;
    c->run_dir = *run;
    c->combo_given = policy;
    c->listen = args_get(a, "listen");
    c->token = *token = take_token();
    return c->listen ? check_token(*token, err) : 0;
}

static int run(const struct args *args)
{
    AUTO_FREE char *state = NULL, *dir = NULL, *token = NULL;
    struct serve_config config = {0};
    struct err err;
    VEC(const char *) mounts = {0};
    for (size_t i = 0; args_nth(args, "allow-mount", i); i++)
        VEC_PUSH(&mounts, args_nth(args, "allow-mount", i));
    VEC_PUSH(&mounts, NULL);
    config.mounts = mounts.at;
    int rc = get_config(args, &config, &state, &dir, &token, &err);
    if (rc == 0)
        rc = serve(&config, &err);
    VEC_DONE(&mounts);
    return rc < 0 ? command_fail(args->command, &err) : 0;
}

static const struct option options[] = {
    {"state", 's', "DIR",
     "directory for the state (default: /var/lib/trainyard as root, else "
     "~/.local/state/trainyard)",
     false},
    {"run", 0, "DIR",
     "directory for the sockets (default: that of --state; without it /run/trainyard as "
     "root, else $XDG_RUNTIME_DIR/trainyard)",
     false},
    {"listen", 'l', "ADDR:PORT", "also listen on TCP; clients need $TRAINYARD_TOKEN", false},
    {"policy", 'p', "P", "scheduling policy (default: that of the last run, or elastic-fifo)",
     false},
    {"resched-min", 0, "T", "minimum time between two decisions (default 0)", false},
    {"min-run", 0, "T", "a job that was preempted runs this long before it is again (default 5m)",
     false},
    {"default-memory", 0, "SIZE",
     "memory limit of jobs that are submitted without one, as in 4g (default none)", false},
    {"keep", 0, "T", "how long to keep events and samples of finished jobs (default 30d)", false},
    {"show-failed", 0, "T", "how long ps lists jobs that have failed (default 1h; 0 = not at all)",
     false},
    {"allow-mount", 0, "DIR", "directory of nodes that containers may mount (default: none)", true},
    {"journal-rows", 0, "N", "begin a new section of the journal after N rows (default 200000)",
     false},
    {},
};

const struct command command_serve = {
    .name = "serve",
    .summary = "Run the server of this machine in the foreground",
    .details = "Accepts jobs, runs them on this machine and resizes them while they run. The state "
               "is kept "
               "in one directory. The server may be stopped or killed at any time: the jobs go on, "
               "and the "
               "next server takes them over.",
    .examples = "  trainyard serve &\n"
                "  trainyard serve --state /tmp/yard --policy equal\n"
                "  TRAINYARD_TOKEN=$(openssl rand -hex 16) trainyard serve --listen 127.0.0.1:8080",
    .options = options,
    .run = run,
};
