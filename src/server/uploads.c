/* Owns the directory `uploads` of the state. A complete upload is DIGEST.tar. One that is under way
 * is DIGEST.part, and its running digest is in memory: after a restart it begins again. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "server/uploads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"

enum { UNDER_WAY_MAX = 64 };

static char *path_of(const struct yard *y, const char *digest, const char *kind)
{
    struct str path = {0};
    str_addf(&path, "%s/uploads/%s%s", y->config.state_dir, digest, kind);
    return path.at;
}

/* ---- under way ----------------------------------------------------------------------------- */

static struct upload *find(const struct yard *y, const char *digest)
{
    for (size_t i = 0; i < y->uploads.n; i++)
        if (!strcmp(y->uploads.at[i]->digest, digest))
            return y->uploads.at[i];
    return NULL;
}

static void drop(struct yard *y, struct upload *u)
{
    size_t i = 0;
    while (y->uploads.at[i] != u)
        i++;
    y->uploads.at[i] = y->uploads.at[--y->uploads.n];
    close(u->fd);
    free(u);
}

static void abandon(struct yard *y, struct upload *u)
{
    AUTO_FREE char *part = path_of(y, u->digest, ".part");
    unlink(part);
    drop(y, u);
}

void uploads_done(struct yard *y)
{
    while (y->uploads.n)
        abandon(y, y->uploads.at[0]);
    VEC_DONE(&y->uploads);
}

static struct upload *begin(struct yard *y, const char *digest, struct err *err)
{
    AUTO_FREE char *dir = path_of(y, "", ""), *part = path_of(y, digest, ".part");
    int code = fs_make_dirs(dir, 0700);
    if (y->uploads.n == UNDER_WAY_MAX)
        abandon(y, y->uploads.at[0]); /* its client is gone, or begins again */
    int fd = code && code != EEXIST
                 ? -1
                 : open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        err_set(err, ERR_IO, "cannot create %s: %s", part, strerror(errno));
        return NULL;
    }
    struct upload *u = xcalloc(1, sizeof *u);
    memcpy(u->digest, digest, DIGEST_SIZE);
    u->fd = fd;
    digest_begin(&u->sum);
    VEC_PUSH(&y->uploads, u);
    return u;
}

static int append(struct upload *u, const char *bytes, size_t n, struct err *err)
{
    if (u->bytes + (int64_t)n > UPLOADS_MAX)
        return err_set(err, ERR_LIMIT, "the upload has more than %lld MB",
                       (long long)(UPLOADS_MAX >> 20));
    for (size_t done = 0; done < n;) {
        ssize_t wrote = pwrite(u->fd, bytes + done, n - done, u->bytes + (int64_t)done);
        if (wrote < 0)
            return err_set(err, ERR_IO, "cannot write the upload: %s", strerror(errno));
        done += (size_t)wrote;
    }
    digest_add(&u->sum, bytes, n);
    u->bytes += (int64_t)n;
    return 0;
}

static int complete(struct yard *y, struct upload *u, struct err *err)
{
    AUTO_FREE char *part = path_of(y, u->digest, ".part"), *whole = path_of(y, u->digest, ".tar");
    char digest[DIGEST_SIZE];
    digest_end(&u->sum, digest);
    if (strcmp(digest, u->digest) != 0)
        return err_set(err, ERR_INVALID, "digest mismatch: the content has %s", digest);
    if (fsync(u->fd) < 0 || rename(part, whole) < 0)
        return err_set(err, ERR_IO, "cannot keep the upload: %s", strerror(errno));
    drop(y, u);
    return 0;
}

int uploads_take(struct yard *y, const char *digest, int64_t offset, const char *bytes, size_t n,
                 bool last, struct err *err)
{
    struct upload *u = find(y, digest);
    if (u && !offset) {
        abandon(y, u);
        u = NULL;
    }
    if (!u && !(u = begin(y, digest, err)))
        return -1;
    if (offset != u->bytes)
        return err_set(err, ERR_CONFLICT, "the upload continues at %lld", (long long)u->bytes);
    if (append(u, bytes, n, err) < 0 || (last && complete(y, u, err) < 0)) {
        abandon(y, u);
        return -1;
    }
    return 0;
}

/* ---- complete ----------------------------------------------------------------------------------
 */

int64_t uploads_known(const struct yard *y, const char *digest, bool *complete)
{
    AUTO_FREE char *path = path_of(y, digest, ".tar");
    const struct upload *u = find(y, digest);
    struct stat st;
    *complete = stat(path, &st) == 0;
    return *complete ? st.st_size : u ? u->bytes : 0;
}

char *uploads_use(const struct yard *y, const char *digest)
{
    char *path = path_of(y, digest, ".tar");
    if (utimensat(AT_FDCWD, path, NULL, 0) == 0)
        return path;
    free(path);
    return NULL;
}

static bool is_needed(const struct yard *y, const char *name)
{
    for (const struct live_job *j = y->jobs.first; j; j = j->next) {
        const char *upload = j->submission->spec.upload;
        if (upload && !strncmp(upload, name, DIGEST_SIZE - 1))
            return true;
    }
    return false;
}

void uploads_trim(const struct yard *y)
{
    AUTO_FREE char *dir = path_of(y, "", "");
    DIR *d = opendir(dir);
    int64_t oldest = (clock_wall(&y->clock) - y->config.keep) / USEC_PER_SEC;
    struct stat st;
    for (const struct dirent *e; d && (e = readdir(d));) {
        const char *end = strrchr(e->d_name, '.');
        if (!end || strcmp(end, ".tar") != 0 || fstatat(dirfd(d), e->d_name, &st, 0) < 0)
            continue;
        if (st.st_mtime < oldest && !is_needed(y, e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        closedir(d);
}
