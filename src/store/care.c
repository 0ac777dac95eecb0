/* Owns backup and compaction; check.c owns the examination. Both work while a server has the file
 * open: readers of a write-ahead log see a consistent state and block nobody. */
#include "store/care.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/connect.h"
#include "store/fault.h"
#include "store/place.h"
#include "store/schema.h"

/* Pages copied between two progress reports. */
enum { BACKUP_STEP = 1024 };

static int open_ours(const char *path, bool write, sqlite3 **out, struct err *err)
{
    int version;
    AUTO_CONNECT sqlite3 *db = NULL;
    if (connect_open(path, write, &db, err) < 0 ||
        schema_version(db, path, &schema_current, &version, err) < 0)
        return -1;
    *out = TAKE(db);
    return 0;
}

/* Only a backup may be replaced by a backup. The program's id is at a fixed place in the file
 * (bytes 68 to 71, big-endian). */
static int check_target(const char *path, const char *to, struct err *err)
{
    struct stat source, target;
    unsigned char head[72];
    if (stat(to, &target) < 0)
        return errno == ENOENT ? 0 : fault_errno(to, errno, err);
    if (stat(path, &source) == 0 && source.st_dev == target.st_dev &&
        source.st_ino == target.st_ino)
        return err_set(err, ERR_INVALID, "%.100s is the database itself; give another file", to);
    AUTO_CLOSE int fd = open(to, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (n == (ssize_t)sizeof head && !memcmp(head, "SQLite format 3", 16) &&
        (head[68] << 24 | head[69] << 16 | head[70] << 8 | head[71]) == SCHEMA_APPLICATION_ID)
        return 0;
    return err_set(err, ERR_CONFLICT,
                   "%.100s exists and is not a backup; remove it or give another file", to);
}

static int copy_pages(sqlite3 *from, sqlite3 *to, store_progress_fn progress, void *ctx)
{
    int rc;
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
    if (!b)
        return sqlite3_errcode(to);
    do {
        rc = sqlite3_backup_step(b, BACKUP_STEP);
        int total = sqlite3_backup_pagecount(b);
        if (progress && (rc == SQLITE_OK || rc == SQLITE_DONE))
            progress(ctx, (uint64_t)(total - sqlite3_backup_remaining(b)), (uint64_t)total);
    } while (rc == SQLITE_OK);
    sqlite3_backup_finish(b);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* A single file without a log next to it, so that it can be moved. */
static int copy_to(sqlite3 *from, const char *part, store_progress_fn progress, void *ctx,
                   struct err *err)
{
    AUTO_CONNECT sqlite3 *db = NULL;
    int fd = open(part, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return fault_errno(part, errno, err);
    close(fd);
    int rc = sqlite3_open_v2(part, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL,
                          NULL);
    if (rc == SQLITE_OK)
        rc = copy_pages(from, db, progress, ctx);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : fault_set(db, part, rc, err);
}

int store_backup(const char *path, const char *to, store_progress_fn progress, void *ctx,
                 struct err *err)
{
    AUTO_CONNECT sqlite3 *db = NULL;
    if (open_ours(path, false, &db, err) < 0 || check_target(path, to, err) < 0)
        return -1;
    struct str name = {0};
    str_addf(&name, "%s%s.part", *to == '/' ? "" : "./", to);
    AUTO_FREE char *part = name.at;
    unlink(part);
    /* An open transaction keeps the state fixed; otherwise every commit of the server would
     * restart the copy. */
    if (connect_run(db, path, "BEGIN; SELECT count(*) FROM meta", err) == 0 &&
        copy_to(db, part, progress, ctx, err) == 0)
        return place_file(part, to, err);
    unlink(part);
    return -1;
}

/* A busy server leaves short gaps between its turns. This looks for one every millisecond;
 * SQLite would look less and less often. */
static int wait_for_gap(void *ctx, int tries)
{
    usec_t *until = ctx, now = clock_read_steady();
    if (tries == 0)
        *until = now + CONNECT_WAIT_MS * 1000LL;
    usleep(1000);
    return now < *until;
}

int store_compact(const char *path, struct err *err)
{
    usec_t until = 0;
    AUTO_CONNECT sqlite3 *db = NULL;
    if (open_ours(path, true, &db, err) < 0 || connect_make_durable(db, path, err) < 0)
        return -1;
    sqlite3_busy_handler(db, wait_for_gap, &until);
    /* A reader of an older state keeps the log from being emptied; then the file shrinks when
     * that reader is gone. */
    if (connect_run(db, path, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", err) == 0)
        return 0;
    if (sqlite3_errcode(db) == SQLITE_FULL)
        err_prefix(err, "compacting needs as much free space as the database takes");
    return -1;
}
