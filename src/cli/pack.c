/* Owns the packing of a folder: which files, in which order, and the archive that tar makes of
 * them.
 *
 * The archive depends on names, contents and the right to execute only. Owners and times are left
 * out, and everybody may write: in a container nobody else is there, and its user is not known. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "cli/pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cli/ignore.h"

struct packing {
    const char *root;
    int fd; /* of the root */
    struct ignore ignore;
    struct str names; /* each ends with a NUL */
    int64_t bytes;
    uint32_t files;
};

/* ---- which files -------------------------------------------------------------------------- */

/* Adds the rules of a file, if it is there. */
static bool read_rules(struct packing *p, const char *dir, const char *name)
{
    struct str path = {0}, text = {0};
    char bytes[4096];
    str_addf(&path, "%s%s%s", dir, *dir ? "/" : "", name);
    AUTO_CLOSE int fd = openat(p->fd, path.at, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0;)
        str_add_n(&text, bytes, (size_t)n);
    if (text.n)
        ignore_add(&p->ignore, dir, text.at);
    str_done(&path);
    str_done(&text);
    return fd >= 0;
}

static int add_dir(struct packing *p, const char *dir, struct err *err);

static int add_entry(struct packing *p, const char *dir, const char *name, struct err *err)
{
    struct str path = {0};
    struct stat st;
    int rc = 0;
    str_addf(&path, "%s%s%s", dir, *dir ? "/" : "", name);
    if (fstatat(p->fd, path.at, &st, AT_SYMLINK_NOFOLLOW) < 0)
        rc = err_set(err, ERR_IO, "%s/%s: %s", p->root, path.at, strerror(errno));
    bool is_dir = rc == 0 && S_ISDIR(st.st_mode);
    bool left_out = ignore_matches(&p->ignore, path.at, is_dir);
    bool packed = is_dir || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode);
    if (rc == 0 && packed && !left_out) {
        str_add_n(&p->names, path.at, path.n + 1);
        p->files += !is_dir;
        p->bytes += is_dir ? 0 : st.st_size;
    }
    if (rc == 0 && p->bytes > PACK_MAX)
        rc = err_set(err, ERR_LIMIT,
                     "%s has more than %lld MB; leave out what the job does not need with a "
                     ".dockerignore or .gitignore file, or mount it",
                     p->root, (long long)(PACK_MAX >> 20));
    /* A rule of docker's may bring back what is deeper. */
    if (rc == 0 && is_dir && (!left_out || p->ignore.kind == IGNORE_DOCKER))
        rc = add_dir(p, path.at, err);
    str_done(&path);
    return rc;
}

static int is_wanted(const struct dirent *e)
{
    static const char *const never[] = {".", "..", ".git", "__pycache__"};
    for (size_t i = 0; i < COUNT_OF(never); i++)
        if (!strcmp(e->d_name, never[i]))
            return 0;
    return 1;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_dir(struct packing *p, const char *dir, struct err *err)
{
    struct dirent **list = NULL;
    int rc = 0, n = scandirat(p->fd, *dir ? dir : ".", &list, is_wanted, by_bytes);
    if (n < 0)
        return err_set(err, ERR_IO, "%s/%s: %s", p->root, dir, strerror(errno));
    if (p->ignore.kind == IGNORE_GIT)
        read_rules(p, dir, ".gitignore");
    for (int i = 0; i < n; i++) {
        if (rc == 0)
            rc = add_entry(p, dir, list[i]->d_name, err);
        free(list[i]);
    }
    free(list);
    return rc;
}

/* ---- the archive ----------------------------------------------------------------------------- */

static void run_tar(const struct packing *p, int list, int archive)
{
    const char *const words[] = {"tar",
                                 "--create",
                                 "--file=-",
                                 "--format=gnu",
                                 "--null",
                                 "--no-recursion",
                                 "--mtime=@0",
                                 "--owner=0",
                                 "--group=0",
                                 "--mode=a+rwX",
                                 "--numeric-owner",
                                 "--verbatim-files-from",
                                 "--files-from=-",
                                 NULL};
    if (fchdir(p->fd) == 0 && dup2(list, STDIN_FILENO) >= 0 && dup2(archive, STDOUT_FILENO) >= 0)
        execvp(words[0], (char *const *)words);
    _exit(127);
}

static int write_all(int fd, const char *bytes, size_t n, struct err *err)
{
    while (n) {
        ssize_t wrote = write(fd, bytes, n);
        if (wrote < 0)
            return err_set(err, ERR_IO, "cannot write a temporary file: %s", strerror(errno));
        bytes += wrote;
        n -= (size_t)wrote;
    }
    return lseek(fd, 0, SEEK_SET) < 0 ? err_set(err, ERR_IO, "%s", strerror(errno)) : 0;
}

static int make_archive(const struct packing *p, int archive, struct err *err)
{
    AUTO_CLOSE int list = memfd_create("names", MFD_CLOEXEC);
    int status = 0;
    if (list < 0)
        return err_set(err, ERR_IO, "memfd_create: %s", strerror(errno));
    if (write_all(list, p->names.at, p->names.n, err) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        run_tar(p, list, archive);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return err_set(err, ERR_IO, "cannot run tar: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return err_set(err, ERR_IO, "--upload needs the program tar");
    return status ? err_set(err, ERR_IO, "tar could not pack %s", p->root) : 0;
}

/* A file without a name, where temporary files go. */
static int open_nameless(struct err *err)
{
    const char *dir = getenv("TMPDIR");
    int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd >= 0 ? fd
                   : err_set(err, ERR_IO, "cannot create a temporary file in %s: %s",
                             dir && *dir ? dir : "/tmp", strerror(errno));
}

static int read_digest(struct pack *p, struct err *err)
{
    static char bytes[1 << 16];
    struct digest d;
    ssize_t n;
    digest_begin(&d);
    p->bytes = 0;
    while ((n = pread(p->fd, bytes, sizeof bytes, p->bytes)) > 0) {
        digest_add(&d, bytes, (size_t)n);
        p->bytes += n;
    }
    digest_end(&d, p->digest);
    return n < 0 ? err_set(err, ERR_IO, "cannot read the archive: %s", strerror(errno)) : 0;
}

int pack_make(const char *dir, struct pack *out, struct err *err)
{
    struct packing p = {.root = dir};
    struct pack made = {.fd = -1};
    AUTO_CLOSE int fd = p.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_NOT_FOUND, "--upload: %s: %s", dir, strerror(errno));
    p.ignore.kind = IGNORE_DOCKER;
    if (!read_rules(&p, "", ".dockerignore"))
        p.ignore.kind = IGNORE_GIT;
    int rc = add_dir(&p, "", err);
    if (rc == 0 && !p.files)
        rc = err_set(err, ERR_INVALID, "--upload: %s has no files", dir);
    if (rc == 0)
        rc = (made.fd = open_nameless(err)) < 0 ? -1 : 0;
    if (rc == 0 && (rc = make_archive(&p, made.fd, err)) == 0)
        rc = read_digest(&made, err);
    made.files = p.files;
    ignore_done(&p.ignore);
    str_done(&p.names);
    if (rc < 0)
        pack_done(&made);
    else
        *out = made;
    return rc;
}

void pack_done(struct pack *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}
