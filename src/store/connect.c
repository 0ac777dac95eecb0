/* Owns the settings of a connection.
 *
 * WAL, so that readers (backup, check) never block the server; synchronous=FULL, because a commit
 * must be on disk when it returns; no memory-mapped reads, because an I/O error would then be a
 * signal. A damaged schema can contain anything, so nothing in it is trusted. */
#include "store/connect.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "store/fault.h"

int connect_run(sqlite3 *db, const char *path, const char *sql, struct err *err)
{
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : fault_set(db, path, rc, err);
}

void connect_close(sqlite3 **db)
{
    sqlite3_close(*db);
    *db = NULL;
}

static int look(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return fault_errno(path, errno, err);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "%.100s: not a file; give the path of the database", path);
    if (st.st_size == 0)
        return fault_set(NULL, path, SQLITE_CORRUPT, err);
    return 0;
}

static int configure(sqlite3 *db, const char *path, bool write, struct err *err)
{
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, CONNECT_WAIT_MS);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (write && sqlite3_db_readonly(db, "main") == 1)
        return fault_set(NULL, path, SQLITE_READONLY, err);
    return connect_run(db, path,
                       "PRAGMA foreign_keys = ON;"
                       "PRAGMA cell_size_check = ON;"
                       "PRAGMA mmap_size = 0",
                       err);
}

/* A log needs shared memory, which is a file next to it. On a read-only disk there is none, and
 * none is needed, because nothing changes there. */
static bool is_frozen(const char *path)
{
    struct statvfs fs;
    struct str log = {0};
    str_addf(&log, "%s-wal", path);
    bool frozen = statvfs(path, &fs) == 0 && fs.f_flag & ST_RDONLY && access(log.at, F_OK) < 0;
    str_done(&log);
    return frozen;
}

/* The name by which SQLite opens the file. A name that begins with "file:" is a URI. */
static char *file_name(const char *path, bool frozen)
{
    struct str name = {0};
    str_add(&name, frozen ? "file:" : "");
    str_add(&name, *path != '/' ? "./" : frozen ? "//" : "");
    for (const char *p = path; *p; p++)
        str_addf(&name, frozen && strchr("%?#", *p) ? "%%%02x" : "%c", *p);
    str_add(&name, frozen ? "?immutable=1" : "");
    return name.at;
}

int connect_open(const char *path, bool write, sqlite3 **out, struct err *err)
{
    if (look(path, err) < 0)
        return -1;
    AUTO_CONNECT sqlite3 *db = NULL;
    AUTO_FREE char *name = file_name(path, !write && is_frozen(path));
    int flags = (write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_URI;
    int rc = sqlite3_open_v2(name, &db, flags, NULL);
    if (rc != SQLITE_OK)
        return fault_set(db, path, rc, err);
    if (configure(db, path, write, err) < 0)
        return -1;
    *out = TAKE(db);
    return 0;
}

static int wal_is_on(void *on, int columns, char **values, char **names)
{
    (void)names;
    *(bool *)on = columns == 1 && values[0] && !strcmp(values[0], "wal");
    return 0;
}

int connect_make_durable(sqlite3 *db, const char *path, struct err *err)
{
    bool wal = false;
    int rc = sqlite3_exec(db, "PRAGMA journal_mode = WAL", wal_is_on, &wal, NULL);
    if (rc != SQLITE_OK)
        return fault_set(db, path, rc, err);
    if (!wal)
        return err_set(err, ERR_IO,
                       "%.100s: the file system has no shared memory for a write-ahead log; use "
                       "a --state directory on a local disk",
                       path);
    return connect_run(db, path,
                       "PRAGMA synchronous = FULL;"
                       "PRAGMA wal_autocheckpoint = 1000;"
                       "PRAGMA journal_size_limit = 16777216;"
                       "PRAGMA secure_delete = OFF",
                       err);
}
