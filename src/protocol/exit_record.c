/* Owns exit.json. Its blocks are reserved in a temporary file when the attempt begins; at the
 * end that file is overwritten and renamed. */
#include "protocol/exit_record.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

#define NAME "exit.json"
#define TEMP "exit.json.tmp"
#define AT(member) offsetof(struct exit_record, member)

/* clang-format off */
static const struct field members[] = {
    {"job", FIELD_I64, AT(job), 0, INT64_MAX, NULL},
    {"attempt", FIELD_I64, AT(attempt), 0, INT64_MAX, NULL},
    {"started_us", FIELD_I64, AT(started), 0, USEC_LIMIT, NULL},
    {"at_us", FIELD_I64, AT(at), 0, USEC_LIMIT, NULL},
    {"code", FIELD_I32, AT(code), INT32_MIN, INT32_MAX, NULL},
    {"signal", FIELD_I32, AT(signal), 0, INT32_MAX, NULL},
    {"oom", FIELD_FLAG, AT(oom), 0, 0, NULL},
    {"timeout", FIELD_FLAG, AT(timeout), 0, 0, NULL},
    {"untried", FIELD_FLAG | FIELD_OPTIONAL, AT(untried), 0, 0, NULL},
    {"no_workdir", FIELD_FLAG | FIELD_OPTIONAL, AT(no_workdir), 0, 0, NULL},
    {"stop", FIELD_CHARS | FIELD_OPTIONAL, AT(stop), 0, EXIT_TEXT_SIZE, NULL},
    {"reason", FIELD_CHARS, AT(reason), 0, EXIT_TEXT_SIZE, NULL},
    {"error", FIELD_CHARS | FIELD_OPTIONAL, AT(error), 0, EXIT_TEXT_SIZE, NULL},
    {"left_running", FIELD_CHARS | FIELD_OPTIONAL, AT(left_running), 0, EXIT_TEXT_SIZE, NULL},
    {"usage", FIELD_OBJECT | FIELD_OPTIONAL, AT(usage), 0, 0, &usage_record},
    {"log_bytes", FIELD_I64, AT(log_bytes), 0, INT64_MAX, NULL},
    {"log_dropped", FIELD_I64, AT(log_dropped), 0, INT64_MAX, NULL},
    {"warnings", FIELD_TEXTS | FIELD_OPTIONAL, AT(warnings), 0, 0, NULL},
    {0},
};
/* clang-format on */

static const struct exit_record defaults = {.usage = USAGE_UNKNOWN};

const struct record record_of_exit = {members, sizeof(struct exit_record), &defaults};

int exit_record_reserve(int dir)
{
    int fd = fd_open_regular(dir, TEMP, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0)
        (void)posix_fallocate(fd, 0, EXIT_RECORD_MAX_BYTES);
    return fd;
}

static int write_all(int fd, const char *text, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t w = pwrite(fd, text + done, n - done, (off_t)done);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return w < 0 ? errno : ENOSPC;
        done += (size_t)w;
    }
    return 0;
}

int exit_record_write(int dir, int fd, const char *text, size_t n, struct err *err)
{
    int own = fd < 0 ? exit_record_reserve(dir) : fd;
    int why = own < 0 ? errno : write_all(own, text, n);
    if (!why && (ftruncate(own, (off_t)n) < 0 || renameat(dir, TEMP, dir, NAME) < 0))
        why = errno;
    if (own >= 0 && (own != fd || !why))
        close(own);
    return why ? err_set(err, ERR_IO, "cannot write " NAME ": %s", strerror(why)) : 0;
}

int exit_record_sync(int dir, struct err *err)
{
    AUTO_CLOSE int fd = fd_open_regular(dir, NAME, O_RDONLY, 0);
    if (fd < 0 || fsync(fd) < 0 || fsync(dir) < 0)
        return err_set(err, ERR_IO, "cannot sync " NAME ": %s", strerror(errno));
    return 0;
}

int exit_record_parse(const char *text, size_t n, struct arena *a, struct exit_record *out,
                      struct err *err)
{
    json_error_t where;
    json_t *object = json_loadb(text, n, JSON_REJECT_DUPLICATES, &where);
    int rc = object ? record_decode(&record_of_exit, object, a, out, err)
                    : err_set(err, ERR_INVALID, "%s", where.text);
    json_decref(object);
    return rc < 0 ? err_prefix(err, NAME) : 0;
}

int exit_record_read(int dir, struct arena *a, struct exit_record *out, struct err *err)
{
    AUTO_CLOSE int fd = fd_open_regular(dir, NAME, O_RDONLY, 0);
    char bytes[EXIT_RECORD_MAX_BYTES + 1];
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    if (n < 0)
        return err_set(err,
                       errno == ENOENT            ? ERR_NOT_FOUND
                       : fd_is_not_regular(errno) ? ERR_INVALID
                                                  : ERR_IO,
                       "cannot read " NAME ": %s", fd_why(errno));
    if (n > EXIT_RECORD_MAX_BYTES)
        return err_set(err, ERR_INVALID, NAME ": more than %d bytes", EXIT_RECORD_MAX_BYTES);
    return exit_record_parse(bytes, (size_t)n, a, out, err);
}
