/* Owns the copies of logs. Bytes that the copy already has are skipped by their offset, so
 * lost bytes can be requested again. Bytes that cannot be written now are requested later. */
#include "server/jobs/log_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/fs.h"
#include "protocol/logfile.h"
#include "protocol/logread.h"
#include "server/api/log_follow.h"
#include "server/jobs/attempts.h"
#include "server/log.h"
#include "server/nodes.h"

static int open_dir(const struct yard *y, const struct attempt *a, struct err *err)
{
    AUTO_FREE char *path = attempt_part_dir(y, a);
    int code = fs_make_dirs(path, 0700);
    if (code && code != EEXIST)
        return err_set(err, ERR_IO, "cannot create %s: %s", path, strerror(code));
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return dir < 0 ? err_set(err, ERR_IO, "%s: %s", path, strerror(errno)) : dir;
}

void log_copy_ask(struct yard *y, struct attempt *a)
{
    const struct yard_runtime *r = nodes_runtime(y, a->node);
    struct err err;
    int64_t first;
    if (!a->fetch || y->nodes.at[a->node].orphan)
        return;
    if (a->log_end < 0) {
        AUTO_CLOSE int dir = open_dir(y, a, &err);
        if (dir < 0 || logread_span(dir, ATTEMPT_LOG_MAX, &first, &a->log_end, &err) < 0) {
            log_warning("job=%lld attempt=%u log: %s", (long long)a->job, a->n, err.text);
            return;
        }
    }
    r->ops->fetch_log(r->runtime, attempt_id_of(a), y->nodes.at[a->node].name, a->log_end);
}

static int append_bytes(const struct yard *y, struct attempt *a, int64_t offset, const char *bytes,
                        size_t n, struct err *err)
{
    AUTO_CLOSE int dir = open_dir(y, a, err);
    struct logfile l;
    if (dir < 0 || logfile_resume(&l, dir, ATTEMPT_LOG_MAX, ATTEMPT_LOG_KEEP, err) < 0)
        return -1;
    int rc = 0;
    if (offset > logfile_bytes(&l))
        rc = logfile_skip(&l, offset, err);
    if (rc == 0)
        rc = logfile_append(&l, bytes, n, err);
    a->log_end = logfile_bytes(&l);
    logfile_done(&l);
    return rc;
}

static void complete_copy(struct yard *y, struct attempt *a)
{
    a->fetch = false;
    attempt_touch(y, a);
    turn_pursue(y, a);
    log_follow_poke(y, a->job);
}

void log_copy_take(struct runtime_host *h, struct attempt_id id, int64_t offset, const char *bytes,
                   size_t n)
{
    struct yard *y = h->ctx;
    struct attempt *a = attempt_find(y, id);
    struct err err;
    if (!a || !a->fetch || a->log_end < 0)
        return;
    if (!n) {
        complete_copy(y, a);
        return;
    }
    int64_t known = a->log_end > offset ? a->log_end - offset : 0;
    if (known >= (int64_t)n)
        return;
    if (append_bytes(y, a, offset + known, bytes + known, n - (size_t)known, &err) < 0)
        log_warning("job=%lld attempt=%u log: %s", (long long)a->job, a->n, err.text);
    log_follow_poke(y, a->job);
}

int64_t log_copy_bytes(const struct yard *y, int64_t job, uint32_t n)
{
    AUTO_FREE char *path = attempt_dir(y, job, n);
    AUTO_CLOSE int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t first = 0, end = 0;
    if (dir >= 0)
        (void)logread_span(dir, ATTEMPT_LOG_MAX, &first, &end, NULL);
    return end;
}
