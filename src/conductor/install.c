/* Owns the installation of our files in a volume that the container of a job shares. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "conductor/install.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "protocol/launch_spec.h"

enum { DONE = 0, FAILED = 1 };

/* Next to this program; those that are not there are left out. */
static const char *const programs[] = {"trainyard-conductor",   "libtrainyard-malleable.so",
                                       "libtrainyard-lines.so", "trainyard_torchrun.py",
                                       "trainyard_hosts.py",    "trainyard.py"};
static const char *const inputs[] = {"spec.json", "script"};

static int fail(const char *what, const char *path)
{
    fprintf(stderr, "trainyard-conductor: cannot %s %s: %s\n", what, path, strerror(errno));
    return -1;
}

/* The mode counts, whatever the umask is: the job may run as another user. */
static int make_dir(const char *root, const char *name, mode_t mode)
{
    struct str path = {0};
    str_addf(&path, "%s/%s", root, name);
    int rc = mkdir(path.at, mode) < 0 && errno != EEXIST ? fail("create", path.at) : 0;
    if (rc == 0 && chmod(path.at, mode) < 0 && errno != EPERM)
        rc = fail("change the mode of", path.at);
    str_done(&path);
    return rc;
}

static int copy_bytes(int from, int to)
{
    char bytes[65536];
    for (ssize_t n; (n = read(from, bytes, sizeof bytes)) != 0;) {
        if (n < 0)
            return -1;
        for (ssize_t done = 0, k; done < n; done += k)
            if ((k = write(to, bytes + done, (size_t)(n - done))) < 0)
                return -1;
    }
    return 0;
}

static int copy_file(const char *from_dir, const char *to_dir, const char *name, mode_t mode)
{
    struct str from = {0}, to = {0};
    int rc = 0;
    str_addf(&from, "%s/%s", from_dir, name);
    str_addf(&to, "%s/%s", to_dir, name);
    AUTO_CLOSE int in = open(from.at, O_RDONLY | O_CLOEXEC);
    AUTO_CLOSE int out = in < 0 ? -1 : open(to.at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (in < 0)
        rc = errno == ENOENT ? 0 : fail("read", from.at);
    else if (out < 0 || copy_bytes(in, out) < 0 || fchmod(out, mode) < 0)
        rc = fail("write", to.at);
    str_done(&from);
    str_done(&to);
    return rc;
}

static int install_programs(const char *root)
{
    char own[PATH_MAX];
    struct str bin = {0};
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    if (n < 0)
        return fail("read", "/proc/self/exe");
    own[n] = '\0';
    *strrchr(own, '/') = '\0';
    str_addf(&bin, "%s/bin", root);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < COUNT_OF(programs); i++)
        rc = copy_file(own, bin.at, programs[i], 0755);
    str_done(&bin);
    return rc;
}

int install_run(const char *root, const char *input)
{
    struct str attempt = {0};
    str_addf(&attempt, "%s/attempt", root);
    int rc = make_dir(root, "bin", 0755) < 0 || make_dir(root, "attempt", 0777) < 0 ||
                     make_dir(root, "attempt/" LAUNCH_JOB_FILES, 0777) < 0 ||
                     make_dir(root, "checkpoints", 0777) < 0 || install_programs(root) < 0
                 ? -1
                 : 0;
    for (size_t i = 0; rc == 0 && i < COUNT_OF(inputs); i++)
        rc = copy_file(input, attempt.at, inputs[i], 0755);
    str_done(&attempt);
    return rc < 0 ? FAILED : DONE;
}
