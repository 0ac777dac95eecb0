/* Owns the choice of directories: what the user said, those of the service for root, and those
 * of the XDG base directory specification for everyone else. */
#include "wire/dirs.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/* A variable that is set and not empty; NULL otherwise. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static const char *chosen_state(const char *given)
{
    return given ? given : variable("TRAINYARD_STATE");
}

static char *join(const char *dir, const char *name)
{
    struct str path = {0};
    str_addf(&path, "%s/%s", dir, name);
    return path.at;
}

int dirs_state(const char *given, char **out, struct err *err)
{
    const char *chosen = chosen_state(given), *xdg = variable("XDG_STATE_HOME");
    const char *home = variable("HOME");
    if (chosen)
        *out = xstrdup(chosen);
    else if (geteuid() == 0)
        *out = xstrdup("/var/lib/trainyard");
    else if (xdg && *xdg == '/')
        *out = join(xdg, "trainyard");
    else if (home)
        *out = join(home, ".local/state/trainyard");
    else
        return err_set(err, ERR_INVALID,
                       "HOME is not set; give a directory for the state with --state DIR");
    return 0;
}

int dirs_run(const char *given, const char *given_state, char **out, struct err *err)
{
    const char *chosen = chosen_state(given_state), *xdg = variable("XDG_RUNTIME_DIR");
    AUTO_FREE char *state = NULL;
    if (given || chosen) {
        *out = xstrdup(given ? given : chosen);
    } else if (geteuid() == 0) {
        *out = xstrdup("/run/trainyard");
    } else if (xdg && *xdg == '/') {
        *out = join(xdg, "trainyard");
    } else {
        if (dirs_state(NULL, &state, err) < 0)
            return -1;
        *out = join(state, "run");
    }
    return 0;
}
