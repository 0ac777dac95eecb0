/* Owns opening, the turn's transaction and the settings.
 *
 * A database file is made under another name, so it appears complete, and an empty file is
 * damaged, never new. After a crash SQLite finds the last commit by the checksums of its log.
 * Opening must be quick however large the database is: all pages are examined only after a crash
 * if there are few, and when a backup was put in its place. See docs/store.md. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "store/connect.h"
#include "store/fault.h"
#include "store/place.h"
#include "store/query.h"
#include "store/schema.h"

/* Bytes of the largest database that is examined in full when it is opened. */
enum { CHECK_AT_OPEN = 4 << 20 };

static int make_tables(const char *path, struct err *err)
{
    AUTO_CONNECT sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return fault_set(db, path, rc, err);
    /* No one sees the file before place_file() has synced it. */
    if (connect_run(db, path, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", err) < 0)
        return -1;
    return schema_migrate(db, path, &schema_current, err);
}

static int create(const char *path, struct err *err)
{
    struct str name = {0};
    str_addf(&name, "%s%s.new", *path == '/' ? "" : "./", path);
    AUTO_FREE char *new = name.at;
    unlink(new);
    /* It holds what users submit, and tokens; its log files inherit the mode. */
    int fd = open(new, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0)
        return fault_errno(path, errno, err);
    close(fd);
    if (make_tables(new, err) == 0)
        return place_file(new, path, err);
    unlink(new);
    return -1;
}

/* Only the server's own database is in WAL mode; the header says so. */
static bool is_backup(const char *path)
{
    enum { VERSION_AT = 18, WAL = 2 };
    unsigned char version = WAL;
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 && pread(fd, &version, 1, VERSION_AT) == 1 && version != WAL;
}

/* A program that does not close the database leaves a log. */
static bool wants_check(const char *path)
{
    if (is_backup(path))
        return true;
    struct stat file, log;
    struct str name = {0};
    str_addf(&name, "%s-wal", path);
    bool wants = stat(name.at, &log) == 0 && log.st_size > 0 && stat(path, &file) == 0 &&
                 file.st_size <= CHECK_AT_OPEN;
    str_done(&name);
    return wants;
}

/* Examines the structure of every page, which takes some milliseconds per megabyte. */
static int check_pages(sqlite3 *db, const char *path, struct err *err)
{
    sqlite3_stmt *check = NULL;
    const char *result = NULL;
    if (sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &check, NULL) == SQLITE_OK &&
        sqlite3_step(check) == SQLITE_ROW)
        result = (const char *)sqlite3_column_text(check, 0);
    bool sound = result && !strcmp(result, "ok");
    sqlite3_finalize(check);
    return sound ? 0 : fault_set(NULL, path, SQLITE_CORRUPT, err);
}

int store_open(const char *path, struct store **out, struct err *err)
{
    int version;
    if (access(path, F_OK) < 0 && errno == ENOENT && create(path, err) < 0)
        return -1;
    bool check = wants_check(path);
    struct store *s = xcalloc(1, sizeof *s);
    s->path = xstrdup(path);
    if (connect_open(path, true, &s->db, err) < 0 ||
        schema_version(s->db, path, &schema_current, &version, err) < 0 ||
        (check && check_pages(s->db, path, err) < 0) ||
        connect_make_durable(s->db, path, err) < 0 ||
        schema_migrate(s->db, path, &schema_current, err) < 0) {
        store_close(s);
        return -1;
    }
    *out = s;
    return 0;
}

int store_open_to_read(const char *path, struct store **out, struct err *err)
{
    int version;
    struct store *s = xcalloc(1, sizeof *s);
    s->path = xstrdup(path);
    int rc = connect_open(path, false, &s->db, err);
    if (rc == 0)
        rc = schema_version(s->db, path, &schema_current, &version, err);
    if (rc == 0 && version < schema_current.n)
        rc = err_set(err, ERR_CONFLICT,
                     "%.100s was written by an older version; start the server once to upgrade "
                     "it",
                     path);
    if (rc < 0)
        store_close(s);
    else
        *out = s;
    return rc;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    store_rollback(s);
    query_forget(s);
    sqlite3_close(s->db);
    free(s->path);
    free(s);
}

int store_commit(struct store *s, struct err *err)
{
    if (s->lost.code != ERR_OK) {
        err_set(err, s->lost.code, "%s", s->lost.text);
        s->lost = (struct err){0};
        return -1;
    }
    if (!s->open)
        return 0;
    int rc = sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    if (rc == SQLITE_OK) {
        s->open = false;
        return 0;
    }
    fault_set(s->db, s->path, rc, err);
    store_rollback(s);
    return -1;
}

void store_rollback(struct store *s)
{
    if (s->open && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->open = false;
    s->lost = (struct err){0};
}

bool store_dirty(const struct store *s)
{
    return s->open || s->lost.code != ERR_OK;
}

char *store_meta_get(struct store *s, const char *key)
{
    AUTO_QUERY struct query q = query_open(s, "SELECT value FROM meta WHERE key = ?");
    query_text(&q, key);
    return query_next(&q, NULL) == 1 ? xstrdup(query_get_text(&q)) : NULL;
}

int store_meta_set(struct store *s, const char *key, const char *value, struct err *err)
{
    if (!value) {
        AUTO_QUERY struct query q = query_open(s, "DELETE FROM meta WHERE key = ?");
        query_text(&q, key);
        return query_run(&q, err);
    }
    AUTO_QUERY struct query q = query_open(s, "INSERT INTO meta VALUES (?, ?)"
                                              " ON CONFLICT DO UPDATE SET value = excluded.value");
    query_text(&q, key);
    query_text(&q, value);
    return query_run(&q, err);
}
