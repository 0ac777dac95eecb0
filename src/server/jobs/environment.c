/* Owns the files env/REQUEST in the state directory: variables as KEY=VALUE, each followed by a
 * NUL byte. A file appears complete or not at all. */
#include "server/jobs/environment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/str.h"
#include "wire/spec_lists.h"

/* More than the kernel would take. */
enum { BYTES_MAX = 4 << 20 };

static int open_dir(const char *state_dir, bool make, struct err *err)
{
    struct str path = {0};
    str_addf(&path, "%s/env", state_dir);
    AUTO_FREE char *name = path.at;
    int code = make ? fs_make_dirs(name, 0700) : 0;
    if (code && code != EEXIST)
        return err_set(err, ERR_IO, "cannot create %s: %s", name, strerror(code));
    int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot open %s: %s", name,
                       strerror(errno));
    return fd;
}

static int write_all(int fd, const struct str *text)
{
    for (size_t done = 0; done < text->n;) {
        ssize_t n = write(fd, text->at + done, text->n - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        done += (size_t)n;
    }
    return fsync(fd);
}

int environment_keep(const char *state_dir, int64_t request, const struct spec_list *variables,
                     struct err *err)
{
    char name[24], part[32];
    __attribute__((cleanup(str_done))) struct str text = {0};
    AUTO_CLOSE int dir = open_dir(state_dir, true, err);
    if (dir < 0)
        return -1;
    for (uint32_t i = 0; i < variables->n; i++)
        str_add_n(&text, variables->at[i], strlen(variables->at[i]) + 1);
    snprintf(name, sizeof name, "%lld", (long long)request);
    snprintf(part, sizeof part, "%s.part", name);
    unlinkat(dir, part, 0);
    AUTO_CLOSE int fd = openat(dir, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write_all(fd, &text) < 0 || renameat(dir, part, dir, name) < 0 ||
        fsync(dir) < 0) {
        int code = errno;
        unlinkat(dir, part, 0);
        return err_set(err, ERR_IO, "cannot keep the environment of the job: %s", strerror(code));
    }
    return 0;
}

static int read_variables(int fd, size_t size, struct spec *s, struct err *err)
{
    AUTO_FREE char *text = xmalloc(size + 1);
    size_t n = 0;
    for (ssize_t got; n < size && (got = read(fd, text + n, size - n)) > 0;)
        n += (size_t)got;
    text[n] = '\0';
    for (size_t at = 0; at < n; at += strlen(text + at) + 1)
        if (spec_env_add(s, &s->environment, text + at, err) < 0)
            return -1;
    return 0;
}

int environment_read(const char *state_dir, int64_t request, struct spec *s, struct err *err)
{
    char name[24];
    struct stat st;
    AUTO_CLOSE int dir = open_dir(state_dir, false, err);
    if (dir < 0)
        return -1;
    snprintf(name, sizeof name, "%lld", (long long)request);
    AUTO_CLOSE int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot open env/%s: %s",
                       name, strerror(errno));
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > BYTES_MAX)
        return err_set(err, ERR_IO, "env/%s is not a regular file, or exceeds %d bytes", name,
                       BYTES_MAX);
    return read_variables(fd, (size_t)st.st_size, s, err);
}

void environment_forget(const char *state_dir, int64_t request)
{
    char name[24];
    struct err err;
    AUTO_CLOSE int dir = open_dir(state_dir, false, &err);
    snprintf(name, sizeof name, "%lld", (long long)request);
    if (dir >= 0)
        unlinkat(dir, name, 0);
}

void environment_sweep(const char *state_dir, bool (*is_live)(void *ctx, int64_t request),
                       void *ctx)
{
    struct err err;
    int fd = open_dir(state_dir, false, &err);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        int64_t request;
        if (*e->d_name == '.')
            continue;
        if (str_parse_int(e->d_name, 1, INT64_MAX, &request, &err) < 0 || !is_live(ctx, request))
            unlinkat(fd, e->d_name, 0);
    }
    if (dir)
        closedir(dir);
}
