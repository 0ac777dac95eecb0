/* Owns the translation of SQLite's and the system's failures into errors that say what to do. A
 * long path is cut so that the advice fits. */
#include "store/fault.h"

#include <errno.h>
#include <string.h>

#define PATH "%.100s: "

int fault_errno(const char *path, int number, struct err *err)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
        return err_set(err, ERR_IO,
                       PATH "no space left%s; free some space; nothing that was accepted is lost",
                       path, number == EDQUOT ? " in the quota of its owner" : "");
    case EROFS:
    case EACCES:
    case EPERM:
        return err_set(err, ERR_IO,
                       PATH "cannot write (%s); make the file and its directory writable, or "
                            "use another --state directory",
                       path, strerror(number));
    case ENOENT:
    case ENOTDIR:
        return err_set(err, ERR_NOT_FOUND, PATH "no such file or directory", path);
    default:
        return err_set(err, ERR_IO, PATH "%s; check the disk and the kernel log", path,
                       strerror(number));
    }
}

int fault_set(sqlite3 *db, const char *path, int rc, struct err *err)
{
    int number = db ? sqlite3_system_errno(db) : 0;
    switch (rc & 0xff) {
    case SQLITE_FULL:
        return fault_errno(path, ENOSPC, err);
    case SQLITE_READONLY:
        return fault_errno(path, number == EROFS ? EROFS : EACCES, err);
    case SQLITE_IOERR:
        /* The number may come from an earlier call that was allowed to fail. */
        return fault_errno(path, number && number != ENOENT ? number : EIO, err);
    case SQLITE_CANTOPEN:
        return fault_errno(path, number ? number : EIO, err);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
        return err_set(err, ERR_IO,
                       PATH "the database is damaged; stop the server, move it away with its -wal "
                            "and -shm, put the last backup in its place ('trainyard db check' "
                            "lists the damage)",
                       path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(err, ERR_IO,
                       PATH "another program uses it (trainyard db compact?); wait for its end "
                            "and try again",
                       path);
    case SQLITE_TOOBIG:
        return err_set(err, ERR_LIMIT, PATH "a text is too long to be stored", path);
    case SQLITE_NOMEM:
        return err_set(err, ERR_INTERNAL, PATH "out of memory", path);
    case SQLITE_CONSTRAINT:
        return err_set(err, ERR_CONFLICT, PATH "%s", path, db ? sqlite3_errmsg(db) : "conflict");
    default:
        return err_set(err, ERR_INTERNAL, PATH "SQLite %d, %s", path, rc,
                       db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
    }
}
