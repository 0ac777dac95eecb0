/* Owns the files that an attempt starts with. */
#include "runtime/local/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/fs.h"
#include "base/str.h"
#include "runtime/local/local.h"

char *files_dir(const struct runtime *r, struct attempt_id id)
{
    struct str path = {0};
    str_addf(&path, "%s/%lld/%u", r->jobs_dir, (long long)id.job, id.n);
    return path.at;
}

int files_make_dir(const char *dir, bool *is_new, struct err *err)
{
    int code = fs_make_dirs(dir, 0700);
    if (code && code != EEXIST)
        return err_set(err, ERR_IO, "cannot create %s: %s", dir, strerror(code));
    *is_new = code == 0;
    return 0;
}

/* Nobody looks at it before the conductor is started. */
static int write_file(const char *path, const char *text, size_t n, mode_t mode, struct err *err)
{
    AUTO_CLOSE int fd = fd_open_regular(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    ssize_t written = fd < 0 ? -1 : write(fd, text, n);
    if (written == (ssize_t)n)
        return 0;
    return err_set(err, ERR_IO, "cannot write %s: %s", path, fd_why(written < 0 ? errno : ENOSPC));
}

static int write_spec(const char *dir, const struct launch_spec *spec, struct err *err)
{
    struct str path = {0}, text = {0};
    str_addf(&path, "%s/spec.json", dir);
    record_encode(&launch_spec_record, spec, &text);
    int rc = write_file(path.at, text.at, text.n, 0600, err);
    str_done(&path);
    str_done(&text);
    return rc;
}

int files_write(const char *dir, const struct runtime_start *start, struct err *err)
{
    bool is_new;
    if (start->script &&
        write_file(start->script_path, start->script, strlen(start->script), 0700, err) < 0)
        return -1;
    if (start->checkpoints && files_make_dir(start->checkpoints, &is_new, err) < 0)
        return -1;
    return write_spec(dir, start->spec, err);
}

void files_forget(const struct runtime *r, struct attempt_id id)
{
    struct str path = {0};
    AUTO_FREE char *dir = files_dir(r, id);
    str_addf(&path, "%s/spec.json", dir);
    unlink(path.at);
    str_done(&path);
}
