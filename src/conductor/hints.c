/* Owns reading the files that a command line names. progress/command.h and script.h extract
 * totals from them. */
#include "conductor/hints.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "progress/command.h"
#include "progress/script.h"

enum { FILES_MAX = 8, BYTES_MAX = 256 << 10 };

/* Anything but a small regular file could delay the start of the job. */
static char *read_small(int dir, const char *path, size_t *n)
{
    AUTO_CLOSE int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > BYTES_MAX)
        return NULL;
    char *text = xmalloc((size_t)st.st_size + 1);
    ssize_t got = pread(fd, text, (size_t)st.st_size, 0);
    *n = got > 0 ? (size_t)got : 0;
    return text;
}

static void read_files(const struct launch_spec *spec, struct progress_plan *out)
{
    AUTO_CLOSE int dir = open(spec->workdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    unsigned files = 0;
    for (const char **argument = spec->command; *argument && files < FILES_MAX; argument++) {
        const char *path;
        enum progress_file_kind kind = progress_command_file(*argument, &path);
        size_t n;
        if (kind == PROGRESS_FILE_OTHER)
            continue;
        files++;
        AUTO_FREE char *text = read_small(dir, path, &n);
        if (text)
            progress_script_read(out, kind, path, text, n);
    }
}

void hints_read(const struct launch_spec *spec, struct progress_plan *out)
{
    int n = 0;
    *out = (struct progress_plan){0};
    while (spec->command[n])
        n++;
    progress_command_read(out, n, spec->command);
    read_files(spec, out);
}
