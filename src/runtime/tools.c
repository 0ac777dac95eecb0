/* Owns where our own files are: named by a variable, or next to this program. */
#include "runtime/tools.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

static const struct {
    const char *variable;  /* names it; empty = there shall be none */
    const char *places[2]; /* from the program's directory: in the build tree, installed */
} tools[TOOL_COUNT] = {
    [TOOL_MALLEABLE] = {"TRAINYARD_MALLEABLE",
                        {"libtrainyard-malleable.so",
                         "../lib/trainyard/libtrainyard-malleable.so"}},
    [TOOL_LINES] = {"TRAINYARD_LINES",
                    {"libtrainyard-lines.so", "../lib/trainyard/libtrainyard-lines.so"}},
    [TOOL_TORCHRUN] = {"TRAINYARD_TORCHRUN",
                       {"../python/trainyard_torchrun.py",
                        "../share/trainyard/python/trainyard_torchrun.py"}},
    [TOOL_HOSTS] = {"TRAINYARD_HOSTS",
                    {"../python/trainyard_hosts.py",
                     "../share/trainyard/python/trainyard_hosts.py"}},
    [TOOL_PYTHON] = {"TRAINYARD_PYTHON", {"../python", "../share/trainyard/python"}},
};

/* The file, from the directory of this program. */
static char *find_beside(const char *exe, const char *place)
{
    struct str path = {0};
    str_addf(&path, "%.*s/%s", (int)(strrchr(exe, '/') - exe), exe, place);
    char *full = realpath(path.at, NULL);
    str_done(&path);
    return full;
}

void tools_find(char *out[TOOL_COUNT])
{
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    for (size_t i = 0; i < COUNT_OF(tools); i++) {
        const char *given = getenv(tools[i].variable);
        out[i] = NULL;
        if (given && *given)
            out[i] = xstrdup(given);
        for (size_t k = 0; !given && n > 0 && !out[i] && k < COUNT_OF(tools[i].places); k++)
            out[i] = find_beside(exe, tools[i].places[k]);
    }
}

int tools_find_conductor(char **out, struct err *err)
{
    char exe[PATH_MAX];
    const char *named = getenv("TRAINYARD_CONDUCTOR");
    struct str path = {0};
    if (named && *named) {
        str_add(&path, named);
    } else {
        ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
        if (n < 0)
            return err_set(err, ERR_IO, "cannot read /proc/self/exe: %s", strerror(errno));
        exe[n] = 0;
        *strrchr(exe, '/') = 0;
        str_addf(&path, "%s/trainyard-conductor", exe);
    }
    char *full = realpath(path.at, NULL);
    if (!full || access(full, X_OK)) {
        int code = errno;
        free(full);
        err_set(err, ERR_NOT_FOUND,
                "cannot execute the conductor %s: %s; install it next to trainyard, or set "
                "TRAINYARD_CONDUCTOR to its path",
                path.at, strerror(code));
        str_done(&path);
        return -1;
    }
    str_done(&path);
    *out = full;
    return 0;
}
