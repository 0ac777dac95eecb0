/* Owns the writing of result files. The file has no name until it is whole, so that
 * whoever is killed leaves nothing behind. It then gets a temporary name in the directory
 * of the final one, so that the rename cannot cross file systems, with the process id, so
 * that two runs do not share it. Where the file system knows no files without a name, it
 * has the temporary one from the beginning. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): O_TMPFILE */
#include "sim/report/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

static int cannot_write(const char *path, int why, struct err *err)
{
    return err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(why));
}

/* A temporary name, for the n-th try. */
static char *name_beside(const char *place, unsigned n)
{
    struct str name = {0};
    str_addf(&name, "%s.%ld-%u.tmp", place, (long)getpid(), n);
    return name.at;
}

enum { TRIES = 100 };

/* Opens a file that was not there; its name goes to *temp. */
static int open_beside(const char *place, char **temp)
{
    for (unsigned n = 0; n < TRIES; n++) {
        AUTO_FREE char *name = name_beside(place, n);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            *temp = TAKE(name);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Opens a file without a name in the directory of the place. */
static int open_nameless(const char *place)
{
    AUTO_FREE char *dir = xstrdup(place);
    char *slash = strrchr(dir, '/');
    if (slash)
        slash[1] = '\0';
    return open(slash ? dir : ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
}

/* Gives the nameless file a temporary name: 0 or errno. */
static int give_name(int fd, const char *place, char **temp)
{
    char self[32];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    for (unsigned n = 0; n < TRIES; n++) {
        AUTO_FREE char *name = name_beside(place, n);
        if (linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            *temp = TAKE(name);
            return 0;
        }
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

/* 0, or the errno that says why the path cannot be written to. */
static int find_place(const char *path, char **place, bool *directly)
{
    struct stat old;
    *directly = false;
    if (stat(path, &old) < 0) {
        if (errno != ENOENT || !*path)
            return errno;
        *place = xstrdup(path);
        return 0;
    }
    if (S_ISDIR(old.st_mode))
        return EISDIR;
    /* Renaming would replace even a file that may not be written to. */
    if (access(path, W_OK) < 0)
        return errno;
    *directly = !S_ISREG(old.st_mode);
    *place = *directly ? xstrdup(path) : realpath(path, NULL);
    return *place ? 0 : errno;
}

int outfile_open(struct outfile *f, const char *path, struct err *err)
{
    AUTO_FREE char *place = NULL, *temp = NULL;
    bool directly;
    int why = find_place(path, &place, &directly);
    if (why)
        return cannot_write(path, why, err);
    int fd = directly ? open(place, O_WRONLY | O_CLOEXEC | O_NOCTTY) : open_nameless(place);
    bool nameless = !directly && fd >= 0;
    if (!directly && !nameless)
        fd = open_beside(place, &temp);
    if (fd < 0)
        return cannot_write(path, errno, err);
    FILE *stream = fdopen(fd, "w");
    if (!stream) {
        why = errno;
        close(fd);
        if (temp)
            unlink(temp);
        return cannot_write(path, why, err);
    }
    *f = (struct outfile){stream, xstrdup(path), TAKE(place), TAKE(temp), nameless};
    return 0;
}

static int put_in_place(const struct outfile *f)
{
    struct stat old;
    if (!f->temp)
        return 0;
    if (stat(f->place, &old) == 0 && chmod(f->temp, old.st_mode & 0777) < 0)
        return errno;
    return rename(f->temp, f->place) < 0 ? errno : 0;
}

int outfile_commit(struct outfile *f, struct err *err)
{
    /* The errno of an earlier failed write is gone by now; a full disk is what
     * it mostly was, and the flush then says so itself. */
    int why = fflush(f->stream) < 0 ? errno : ferror(f->stream) ? EIO : 0;
    if (!why && f->nameless)
        why = give_name(fileno(f->stream), f->place, &f->temp);
    if (fclose(f->stream) < 0 && !why)
        why = errno;
    if (!why)
        why = put_in_place(f);
    if (why && f->temp)
        unlink(f->temp);
    int rc = why ? cannot_write(f->name, why, err) : 0;
    free(f->name);
    free(f->place);
    free(f->temp);
    *f = (struct outfile){0};
    return rc;
}
