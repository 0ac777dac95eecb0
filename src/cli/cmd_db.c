/* trainyard db: checks, copies or compacts the database, also while the server runs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/commands.h"
#include "store/care.h"
#include "store/check.h"
#include "wire/dirs.h"

static int find_db(const struct args *a, char **path, struct err *err)
{
    AUTO_FREE char *state = NULL;
    struct str text = {0};
    if (dirs_state(args_get(a, "state"), &state, err) < 0)
        return -1;
    str_addf(&text, "%s/trainyard.db", state);
    if (access(text.at, R_OK) < 0) {
        err_set(err, ERR_NOT_FOUND, "there is no database %s; give its directory with --state",
                text.at);
        str_done(&text);
        return -1;
    }
    *path = text.at;
    return 0;
}

static int check(const char *path, struct err *err)
{
    AUTO_FREE char *report = NULL;
    int rc = store_check(path, &report, err);
    if (report && *report)
        fputs(report, stdout);
    if (rc == 0)
        printf("%s has no errors\n", path);
    return rc;
}

static void show_progress(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    if (total)
        fprintf(stderr, "\r%3d %%", (int)(100 * done / total));
}

static int backup(const char *path, const char *to, struct err *err)
{
    bool bar = isatty(STDERR_FILENO);
    int rc = store_backup(path, to, bar ? show_progress : NULL, NULL, err);
    if (bar)
        fprintf(stderr, "\r     \r");
    if (rc == 0)
        printf("%s is a copy of %s; to restore it, put it there while no server runs\n", to, path);
    return rc;
}

static int compact(const char *path, struct err *err)
{
    if (store_compact(path, err) < 0)
        return -1;
    printf("%s has no unused space left\n", path);
    return 0;
}

static int act(const struct args *a, struct err *err)
{
    const char *what = a->operands.at[0], *to = a->operands.n > 1 ? a->operands.at[1] : NULL;
    bool is_backup = !strcmp(what, "backup");
    AUTO_FREE char *path = NULL;
    if (strcmp(what, "check") != 0 && strcmp(what, "compact") != 0 && !is_backup)
        return err_set(err, ERR_INVALID, "'%s': expected check, backup or compact", what);
    if (is_backup != (to != NULL))
        return err_set(err, ERR_INVALID,
                       is_backup ? "backup needs the name of the copy" : "%s takes no file", what);
    if (find_db(a, &path, err) < 0)
        return -1;
    return is_backup                        ? backup(path, to, err)
           : *what == 'c' && what[1] == 'h' ? check(path, err)
                                            : compact(path, err);
}

static int run(const struct args *args)
{
    struct err err;
    return act(args, &err) < 0 ? command_fail(args->command, &err) : 0;
}

static const struct option options[] = {
    {"state", 's', "DIR", "state directory of the server (default: as for `trainyard serve`)",
     false},
    {.name = ""},
};

const struct command command_db = {
    .name = "db",
    .summary = "Check, copy or compact the server's database",
    .operands = "check|backup FILE|compact",
    .details =
        "Works while the server runs. `check` examines the whole database, `backup` writes a "
        "consistent copy, `compact` returns unused space to the file system.",
    .examples = "  trainyard db check\n"
                "  trainyard db backup yard-2026-11-16.db",
    .options = options,
    .min_operands = 1,
    .max_operands = 2,
    .completes = "check|backup|compact",
    .run = run,
};
