/* Owns the channel of a job's output to the conductor. A terminal is raw: it passes bytes
 * unchanged, echoes nothing, and is nobody's controlling terminal. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "conductor/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "conductor/library.h"
#include "conductor/program.h"

#define PIPE_VARIABLE "TRAINYARD_STDOUT"

/* PIPE_BYTES: large, for fewer switches between a job that prints a lot and its reader. */
enum { PIPE_BYTES = 1 << 20, ROWS = 40, COLUMNS = 120 };

static int cannot_make(const char *what, struct err *err)
{
    return err_set(err, ERR_IO, "cannot make %s: %s", what, strerror(errno));
}

static int open_pipe(struct output *out, struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return cannot_make("a pipe", err);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES);
    *out = (struct output){ends[0], ends[1]};
    return 0;
}

static int open_terminal(struct output *out, struct err *err)
{
    AUTO_CLOSE int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    struct winsize size = {.ws_row = ROWS, .ws_col = COLUMNS};
    struct termios mode;
    if (master < 0 || unlockpt(master) < 0)
        return cannot_make("a terminal", err);
    AUTO_CLOSE int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0 || tcgetattr(slave, &mode) < 0)
        return cannot_make("a terminal", err);
    cfmakeraw(&mode);
    mode.c_cc[VMIN] = 0; /* nobody types: reading from it gives the end at once */
    if (tcsetattr(slave, TCSANOW, &mode) < 0 || ioctl(slave, TIOCSWINSZ, &size) < 0)
        return cannot_make("a terminal", err);
    *out = (struct output){fd_take(&master), fd_take(&slave)};
    return 0;
}

int output_open(const struct launch_spec *spec, struct output *out, struct err *err)
{
    bool terminal = spec->pty == PTY_YES || (spec->pty == PTY_AUTO && program_is_static(spec));
    return terminal ? open_terminal(out, err) : open_pipe(out, err);
}

void output_preload(struct launch_spec *spec, struct arena *a)
{
    struct err err; /* in an image that cannot load it, the job runs without it */
    if (!spec->lines || strpbrk(spec->lines, ": ") || access(spec->lines, R_OK) < 0 ||
        (spec->inherit && library_check(spec->lines, true, &err) < 0) ||
        launch_spec_get(spec, PIPE_VARIABLE)) {
        spec->lines = NULL;
        return;
    }
    library_preload(spec, a, spec->lines);
}

void output_name_pipe(const struct launch_spec *spec)
{
    char pipe[64];
    struct stat st;
    if (!spec->lines || fstat(STDOUT_FILENO, &st) < 0 || !S_ISFIFO(st.st_mode))
        return;
    snprintf(pipe, sizeof pipe, "%llu:%llu", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    setenv(PIPE_VARIABLE, pipe, 1);
}
