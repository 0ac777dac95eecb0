/* Owns a layer below SQLite that knows what is on the disk and what only on its
 * way there. For each file it holds the bytes that are safe, and the writes since
 * the last sync. The real file has all of them: it is what the running program
 * sees. */
#include "support/power.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { SECTOR = 512 };

struct change {
    char *bytes; /* NULL = the file is cut to `at` bytes */
    size_t at, n;
};

struct medium {
    char *path;
    char *safe;
    size_t size, room;
    VEC(struct change) pending;
};

struct power_file {
    sqlite3_file base;
    struct medium *medium; /* NULL = a file that need not survive */
    sqlite3_file *real;    /* behind this struct */
};

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *below;
    VEC(struct medium *) media;
    uint64_t operations, fails_at;
} disk;

/* Whether this write or sync happens. */
static bool is_on(void)
{
    return ++disk.operations < disk.fails_at;
}

static void apply(struct medium *m, const struct change *c)
{
    size_t end = c->bytes ? c->at + c->n : c->at;
    if (end > m->room) {
        m->room = 2 * end;
        m->safe = xrealloc(m->safe, m->room);
    }
    if (end > m->size)
        memset(m->safe + m->size, 0, end - m->size);
    if (end > m->size || !c->bytes)
        m->size = end;
    if (c->bytes)
        memcpy(m->safe + c->at, c->bytes, c->n);
}

static void forget_pending(struct medium *m)
{
    for (size_t i = 0; i < m->pending.n; i++)
        free(m->pending.at[i].bytes);
    m->pending.n = 0;
}

/* ---- files --------------------------------------------------------------- */

static sqlite3_file *real(sqlite3_file *f)
{
    return ((struct power_file *)f)->real;
}

static int file_close(sqlite3_file *f)
{
    return real(f)->pMethods->xClose(real(f));
}

static int file_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    return real(f)->pMethods->xRead(real(f), to, n, at);
}

static int file_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
    struct medium *m = ((struct power_file *)f)->medium;
    if (m && !is_on())
        return SQLITE_IOERR_WRITE;
    if (m) {
        struct change c = {xmalloc((size_t)n), (size_t)at, (size_t)n};
        memcpy(c.bytes, from, c.n);
        VEC_PUSH(&m->pending, c);
    }
    return real(f)->pMethods->xWrite(real(f), from, n, at);
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    struct medium *m = ((struct power_file *)f)->medium;
    if (m && !is_on())
        return SQLITE_IOERR_TRUNCATE;
    if (m)
        VEC_PUSH(&m->pending, (struct change){.at = (size_t)size});
    return real(f)->pMethods->xTruncate(real(f), size);
}

/* The real sync would prove nothing here. */
static int file_sync(sqlite3_file *f, int flags)
{
    (void)flags;
    struct medium *m = ((struct power_file *)f)->medium;
    if (!m)
        return SQLITE_OK;
    if (!is_on())
        return SQLITE_IOERR_FSYNC;
    for (size_t i = 0; i < m->pending.n; i++)
        apply(m, &m->pending.at[i]);
    forget_pending(m);
    return SQLITE_OK;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real(f)->pMethods->xFileSize(real(f), size);
}

static int file_lock(sqlite3_file *f, int level)
{
    return real(f)->pMethods->xLock(real(f), level);
}

static int file_unlock(sqlite3_file *f, int level)
{
    return real(f)->pMethods->xUnlock(real(f), level);
}

static int file_check_lock(sqlite3_file *f, int *out)
{
    return real(f)->pMethods->xCheckReservedLock(real(f), out);
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
    return real(f)->pMethods->xFileControl(real(f), op, arg);
}

static int file_sector(sqlite3_file *f)
{
    return real(f)->pMethods->xSectorSize(real(f));
}

static int file_traits(sqlite3_file *f)
{
    return real(f)->pMethods->xDeviceCharacteristics(real(f));
}

static int file_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
}

static int file_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return real(f)->pMethods->xShmLock(real(f), at, n, flags);
}

static void file_shm_barrier(sqlite3_file *f)
{
    real(f)->pMethods->xShmBarrier(real(f));
}

static int file_shm_unmap(sqlite3_file *f, int remove)
{
    return real(f)->pMethods->xShmUnmap(real(f), remove);
}

/* Version 2: no memory-mapped reads. */
static const sqlite3_io_methods methods = {
    2,           file_close,   file_read,     file_write,       file_truncate,  file_sync,
    file_size,   file_lock,    file_unlock,   file_check_lock,  file_control,   file_sector,
    file_traits, file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, NULL,
    NULL,
};

/* ---- the disk ------------------------------------------------------------ */

static struct medium *find_medium(const char *path)
{
    for (size_t i = 0; i < disk.media.n; i++)
        if (!strcmp(disk.media.at[i]->path, path))
            return disk.media.at[i];
    struct medium *m = xcalloc(1, sizeof *m);
    m->path = xstrdup(path);
    VEC_PUSH(&disk.media, m);
    AUTO_CLOSE int fd = open(path, O_RDONLY);
    off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    m->room = (size_t)(size > 0 ? size : 1);
    m->safe = xmalloc(m->room);
    if (size > 0 && pread(fd, m->safe, (size_t)size, 0) == size)
        m->size = (size_t)size;
    return m;
}

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *out)
{
    (void)vfs;
    struct power_file *p = (struct power_file *)f;
    *p = (struct power_file){.real = (sqlite3_file *)(p + 1)};
    if (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL))
        p->medium = find_medium(path);
    int rc = disk.below->xOpen(disk.below, path, p->real, flags, out);
    if (p->real->pMethods)
        p->base.pMethods = &methods;
    return rc;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync)
{
    (void)vfs;
    return is_on() ? disk.below->xDelete(disk.below, path, sync) : SQLITE_IOERR_DELETE;
}

void power_begin(void)
{
    disk.below = sqlite3_vfs_find(NULL);
    disk.vfs = *disk.below;
    disk.vfs.zName = "power";
    disk.vfs.szOsFile = (int)sizeof(struct power_file) + disk.below->szOsFile;
    disk.vfs.xOpen = disk_open;
    disk.vfs.xDelete = disk_delete;
    disk.vfs.pNext = NULL;
    disk.operations = 0;
    disk.fails_at = UINT64_MAX;
    sqlite3_vfs_register(&disk.vfs, 1);
}

void power_end(void)
{
    sqlite3_vfs_unregister(&disk.vfs);
    VEC_DONE(&disk.media);
}

void power_fail_after(uint64_t n)
{
    disk.fails_at = disk.operations + n;
}

uint64_t power_operations(void)
{
    return disk.operations;
}

/* Of what was on its way: each write whole, not at all, or some of its sectors. */
static void settle(struct medium *m, struct rng *r)
{
    uint64_t mood = rng_below(r, 3);
    for (size_t i = 0; i < m->pending.n; i++) {
        struct change *c = &m->pending.at[i];
        if (mood == 0 || (mood == 1 && rng_below(r, 2)))
            continue;
        if (!c->bytes || rng_below(r, 2)) {
            apply(m, c);
            continue;
        }
        for (size_t at = 0; at < c->n; at += SECTOR) {
            size_t n = c->n - at < SECTOR ? c->n - at : SECTOR;
            struct change part = {c->bytes + at, c->at + at, n};
            if (rng_below(r, 2))
                apply(m, &part);
        }
    }
}

void power_return(struct rng *r)
{
    for (size_t i = 0; i < disk.media.n; i++) {
        struct medium *m = disk.media.at[i];
        settle(m, r);
        forget_pending(m);
        AUTO_CLOSE int fd = open(m->path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        if (fd < 0 || write(fd, m->safe, m->size) != (ssize_t)m->size)
            abort();
        VEC_DONE(&m->pending);
        free(m->safe);
        free(m->path);
        free(m);
    }
    disk.media.n = 0;
    disk.fails_at = UINT64_MAX;
}
