/* trainyard-conductor DIR: runs one attempt of a job. It is the parent of all processes
 * of the job, and outlives the server that started it. One attempt may follow another.
 * trainyard-conductor link DIR: connects a conductor with a server behind an engine.
 * trainyard-conductor install DIR INPUT: puts our programs and the files of an attempt there. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "conductor/conductor.h"
#include "conductor/install.h"
#include "conductor/next.h"
#include "conductor/relay.h"

enum { DONE = 0, FAILED = 1, USAGE = 2 };

static const char help[] =
    "usage: trainyard-conductor DIRECTORY\n"
    "       trainyard-conductor link DIRECTORY\n"
    "       trainyard-conductor install DIRECTORY INPUT\n"
    "Runs the attempt of a job that DIRECTORY/spec.json describes. The server of\n"
    "Trainyard starts it; docs/conductor.md tells what it does. With link, connects the\n"
    "conductor of this attempt with a server at the other end of the standard streams.\n"
    "With install, puts the programs next to this one and the files of INPUT below\n"
    "DIRECTORY, for the conductor of a container.\n"
    "exit status: 0 the job is over and recorded in exit.json, 1 it could not be\n"
    "started, 2 usage, 3 the attempt is claimed by another\n";

/* Descriptors 0 to 2 are open, and none above. */
static void settle_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0u, 0);
}

/* Shows the current attempt in `ps`, as far as the space of the arguments allows. */
static void show_attempt(char *arguments, size_t room, const char *directory)
{
    memset(arguments, 0, room);
    snprintf(arguments, room, "trainyard-conductor %s", directory);
}

static int open_directory(const char *directory)
{
    int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        fprintf(stderr, "trainyard-conductor: cannot open %s: %s\n", directory, strerror(errno));
    return dir;
}

static int run_link(const char *directory)
{
    int dir = open_directory(directory);
    return dir < 0 ? FAILED : relay_run(dir);
}

static int run_attempt(const char *directory, struct link_kept *kept)
{
    int dir = open_directory(directory);
    if (dir < 0)
        return FAILED;
    int status = conductor_run(dir, kept);
    close(dir);
    return status;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(help, stdout);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "link") == 0) {
        settle_descriptors();
        return run_link(argv[2]);
    }
    if (argc == 4 && strcmp(argv[1], "install") == 0)
        return install_run(argv[2], argv[3]);
    if (argc != 2 || *argv[1] == '-') {
        fputs(help, stderr);
        return USAGE;
    }
    settle_descriptors();
    proc_guard_from_oom();
    struct link_kept kept = {.fd = -1};
    struct str directory = {0};
    size_t room = (size_t)(argv[1] - argv[0]) + strlen(argv[1]) + 1;
    int status = run_attempt(argv[1], &kept);
    while (status == DONE && next_wait(&kept, &directory) == 0) {
        show_attempt(argv[0], room, directory.at);
        status = run_attempt(directory.at, &kept);
    }
    str_done(&directory);
    return status;
}
