/* Owns the search for the cause of a failure: the end of the log, the first line of a script,
 * the processes that are left. */
#include "conductor/cause.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"
#include "conductor/notes.h"
#include "conductor/program.h"
#include "progress/failure.h"
#include "protocol/logread.h"

enum { TAIL = 16 << 10, FIRST_LINE = 256, NAMED_MAX = 5, COMMAND = 64 };

void cause_of_log(const struct logfile *log, char *text, size_t size)
{
    char line[PROGRESS_FAILURE_BYTES];
    int64_t end = logfile_bytes(log), from = end > TAIL ? end - TAIL : 0;
    AUTO_FREE char *tail = xmalloc(TAIL);
    size_t n = 0;
    *text = '\0';
    if (logread(log->dir, log->max, &from, tail, TAIL, &n, NULL) < 0 ||
        !progress_failure_find(tail, n, line))
        return;
    snprintf(text, size, "%s", line);
    notes_clean(text);
}

/* ---- a script without its interpreter ------------------------------------------------ */

bool cause_interpreter(const struct launch_spec *spec, char *text, size_t size)
{
    char line[FIRST_LINE + 1];
    AUTO_CLOSE int fd = program_open(spec);
    ssize_t n = fd < 0 ? -1 : pread(fd, line, FIRST_LINE, 0);
    line[n > 0 ? n : 0] = '\0';
    if (strncmp(line, "#!", 2) != 0)
        return false;
    char *name = line + 2 + strspn(line + 2, " \t");
    name[strcspn(name, " \t\n")] = '\0';
    if (!*name || access(name, F_OK) == 0)
        return false;
    size_t length = strlen(name);
    bool windows = name[length - 1] == '\r';
    name[length - windows] = '\0';
    snprintf(text, size, "cannot run %.80s: its interpreter %.100s does not exist%s",
             spec->command[0], name, windows ? "; its lines end as on Windows, with CR" : "");
    return true;
}

/* ---- processes that are left ----------------------------------------------------------- */

/* "python3 worker.py", or the short name of a process that has lost its command line. */
static void name_process(const struct proc *p, char command[COMMAND])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)p->pid);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, command, COMMAND - 1);
    if (n <= 0) {
        snprintf(command, COMMAND, "process");
        return;
    }
    while (n > 0 && !command[n - 1])
        n--;
    for (ssize_t i = 0; i < n; i++)
        if (!command[i])
            command[i] = ' ';
    command[n] = '\0';
    notes_clean(command);
}

void cause_left_running(const struct tree *t, char *text, size_t size)
{
    struct proc_list all = {0};
    char command[COMMAND];
    size_t used = 0;
    *text = '\0';
    tree_list(t, &all);
    for (size_t i = 0; i < all.n && i < NAMED_MAX && used < size; i++) {
        name_process(&all.at[i], command);
        used += (size_t)snprintf(text + used, size - used, "%s%s (%ld)", i ? ", " : "", command,
                                 (long)all.at[i].pid);
    }
    if (all.n > NAMED_MAX && used < size)
        snprintf(text + used, size - used, " and %zu more", all.n - NAMED_MAX);
    text[str_valid_utf8(text)] = '\0'; /* it may have been cut */
    VEC_DONE(&all);
}
