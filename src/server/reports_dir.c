/* Owns the directory of simulator reports. A name never leaves it: it has no '/', does not begin
 * with '.', and links are not followed. */
#include "server/reports_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/str.h"

static const char ending[] = ".html";

bool report_name_is(const char *name)
{
    size_t n = strlen(name);
    return n && n <= 100 && name[0] != '.' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == n;
}

static char *reports_path(const char *state_dir, const char *name, const char *more)
{
    struct str path = {0};
    str_addf(&path, "%s/reports%s%s%s", state_dir, *name ? "/" : "", name, more);
    return path.at;
}

static bool entry_is_report(const char *entry, char *name, size_t size)
{
    size_t n = strlen(entry), end = sizeof ending - 1;
    if (n <= end || strcmp(entry + n - end, ending) != 0 || n - end >= size)
        return false;
    snprintf(name, size, "%.*s", (int)(n - end), entry);
    return report_name_is(name);
}

int reports_list(const char *state_dir, report_fn fn, void *ctx, struct err *err)
{
    AUTO_FREE char *path = reports_path(state_dir, "", "");
    DIR *dir = opendir(path);
    unsigned n = 0;
    if (!dir)
        return errno == ENOENT ? 0 : err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    for (struct dirent *e; n < REPORTS_MAX && (e = readdir(dir));) {
        char name[128];
        struct stat s;
        if (!entry_is_report(e->d_name, name, sizeof name) ||
            fstatat(dirfd(dir), e->d_name, &s, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(s.st_mode))
            continue;
        fn(ctx, name, s.st_size, s.st_mtim.tv_sec * USEC_PER_SEC);
        n++;
    }
    closedir(dir);
    return 0;
}

static int no_such_report(const char *name, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "no report '%s'", name);
}

static int read_whole(int fd, const char *path, char **bytes, size_t *n, struct err *err)
{
    struct stat s;
    if (fstat(fd, &s) < 0 || !S_ISREG(s.st_mode))
        return err_set(err, ERR_IO, "%s: not a file", path);
    if (s.st_size > REPORT_BYTES_MAX)
        return err_set(err, ERR_LIMIT, "%s has more than %d MB", path, REPORT_BYTES_MAX >> 20);
    AUTO_FREE char *all = xmalloc((size_t)s.st_size + 1);
    size_t done = 0;
    for (ssize_t got = 1; got > 0 && done < (size_t)s.st_size; done += (size_t)got)
        if ((got = read(fd, all + done, (size_t)s.st_size - done)) < 0)
            return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    *n = done;
    *bytes = TAKE(all);
    return 0;
}

int report_read(const char *state_dir, const char *name, char **bytes, size_t *n, struct err *err)
{
    AUTO_FREE char *path = reports_path(state_dir, name, ending);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? no_such_report(name, err)
                               : err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    return read_whole(fd, path, bytes, n, err);
}

static void count_report(void *ctx, const char *name, int64_t bytes, usec_t changed)
{
    (void)name, (void)bytes, (void)changed;
    ++*(unsigned *)ctx;
}

static int write_new(const char *path, const char *bytes, size_t n, struct err *err)
{
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    for (size_t done = 0; fd >= 0 && done < n;) {
        ssize_t wrote = write(fd, bytes + done, n - done);
        if (wrote < 0)
            return err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(errno));
        done += (size_t)wrote;
    }
    return fd < 0 || fsync(fd) < 0 ? err_set(err, ERR_IO, "%s: %s", path, strerror(errno)) : 0;
}

int report_write_file(const char *state_dir, const char *name, const char *bytes, size_t n,
                      struct err *err)
{
    AUTO_FREE char *dir = reports_path(state_dir, "", ""),
                   *path = reports_path(state_dir, name, ending),
                   *part = reports_path(state_dir, name, ".part");
    unsigned there = 0;
    int code = fs_make_dirs(dir, 0700);
    if (code && code != EEXIST)
        return err_set(err, ERR_IO, "cannot create %s: %s", dir, strerror(code));
    if (reports_list(state_dir, count_report, &there, err) < 0)
        return -1;
    if (there >= REPORTS_MAX && access(path, F_OK) < 0)
        return err_set(err, ERR_LIMIT, "there are %d reports already; remove some first",
                       REPORTS_MAX);
    if (write_new(part, bytes, n, err) < 0) {
        unlink(part);
        return -1;
    }
    if (rename(part, path) < 0)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    return 0;
}

int report_remove(const char *state_dir, const char *name, struct err *err)
{
    AUTO_FREE char *path = reports_path(state_dir, name, ending);
    if (unlink(path) == 0)
        return 0;
    return errno == ENOENT ? no_such_report(name, err)
                           : err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
}
