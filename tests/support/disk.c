/* Owns a layer below SQLite that holds databases and their logs in memory. It serves one
 * connection at a time, so locks are granted. Other files are SQLite's own, on the real
 * disk; so is a database that is being made, because it appears by being renamed. */
#include "support/disk.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* SQLite asks for parts of this size. */
enum { SHARED_MAX = 16, SHARED_BYTES = 32768 };

struct medium {
    char *path;
    char *bytes;
    size_t size, room;
    void *shared[SHARED_MAX]; /* memory that connections share: the index of the log */
};

struct disk_file {
    sqlite3_file base;
    struct medium *medium;
};

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *below;
    VEC(struct medium *) media;
    enum disk_fault fault;
    uint64_t writes, fails_at;
} disk;

static struct medium *medium_of(sqlite3_file *f)
{
    return ((struct disk_file *)f)->medium;
}

static size_t find(const char *path)
{
    size_t i = 0;
    while (i < disk.media.n && strcmp(disk.media.at[i]->path, path) != 0)
        i++;
    return i;
}

static void drop_shared(struct medium *m)
{
    for (int i = 0; i < SHARED_MAX; i++) {
        free(m->shared[i]);
        m->shared[i] = NULL;
    }
}

static void drop(size_t i)
{
    struct medium *m = disk.media.at[i];
    drop_shared(m);
    free(m->bytes);
    free(m->path);
    free(m);
    disk.media.at[i] = disk.media.at[--disk.media.n];
}

static void resize(struct medium *m, size_t size)
{
    if (size > m->room) {
        m->room = 2 * size;
        m->bytes = xrealloc(m->bytes, m->room);
    }
    if (size > m->size)
        memset(m->bytes + m->size, 0, size - m->size);
    m->size = size;
}

/* What the real disk has of the file. */
static void load(struct medium *m)
{
    struct stat st;
    AUTO_CLOSE int fd = open(m->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return;
    resize(m, (size_t)st.st_size);
    if (pread(fd, m->bytes, m->size, 0) != (ssize_t)m->size)
        abort();
}

static struct medium *find_or_load(const char *path)
{
    size_t i = find(path);
    if (i < disk.media.n)
        return disk.media.at[i];
    struct medium *m = xcalloc(1, sizeof *m);
    m->path = xstrdup(path);
    load(m);
    VEC_PUSH(&disk.media, m);
    return m;
}

/* ---- files --------------------------------------------------------------- */

static int file_close(sqlite3_file *f)
{
    (void)f;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    const struct medium *m = medium_of(f);
    size_t from = (size_t)at, left = from < m->size ? m->size - from : 0;
    if (left >= (size_t)n) {
        memcpy(to, m->bytes + from, (size_t)n);
        return SQLITE_OK;
    }
    if (left)
        memcpy(to, m->bytes + from, left);
    memset((char *)to + left, 0, (size_t)n - left);
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
    struct medium *m = medium_of(f);
    size_t end = (size_t)at + (size_t)n;
    bool fails = disk.fault != DISK_SOUND && ++disk.writes >= disk.fails_at;
    if (fails && disk.fault == DISK_BROKEN)
        return SQLITE_IOERR_WRITE;
    if (fails && end > m->size)
        return SQLITE_FULL;
    if (end > m->size)
        resize(m, end);
    memcpy(m->bytes + at, from, (size_t)n);
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    resize(medium_of(f), (size_t)size);
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *f, int flags)
{
    (void)f, (void)flags;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
    *size = (sqlite3_int64)medium_of(f)->size;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *f, int level)
{
    (void)f, (void)level;
    return SQLITE_OK;
}

static int file_check_lock(sqlite3_file *f, int *out)
{
    (void)f;
    *out = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
    (void)f, (void)op, (void)arg;
    return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *f)
{
    (void)f;
    return 4096;
}

static int file_traits(sqlite3_file *f)
{
    (void)f;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int file_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    struct medium *m = medium_of(f);
    (void)extend;
    if (page >= SHARED_MAX)
        return SQLITE_IOERR_SHMMAP;
    if (!m->shared[page])
        m->shared[page] = xcalloc(1, (size_t)size);
    *out = m->shared[page];
    return SQLITE_OK;
}

static int file_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    (void)f, (void)offset, (void)n, (void)flags;
    return SQLITE_OK;
}

static void file_shm_barrier(sqlite3_file *f)
{
    (void)f;
}

static int file_shm_unmap(sqlite3_file *f, int remove)
{
    (void)remove;
    drop_shared(medium_of(f));
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

/* ---- the disk ------------------------------------------------------------ */

static bool is_ours(const char *path, int flags)
{
    const char *end = path ? strrchr(path, '.') : NULL;
    return flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL) && end && strcmp(end, ".new") != 0;
}

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *out)
{
    (void)vfs;
    if (!is_ours(path, flags))
        return disk.below->xOpen(disk.below, path, f, flags, out);
    *(struct disk_file *)f = (struct disk_file){{&methods}, find_or_load(path)};
    if (out)
        *out = flags;
    return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync)
{
    (void)vfs;
    size_t i = find(path);
    if (i == disk.media.n)
        return disk.below->xDelete(disk.below, path, sync);
    drop(i);
    return SQLITE_OK;
}

static int disk_access(sqlite3_vfs *vfs, const char *path, int flags, int *out)
{
    (void)vfs;
    *out = 1;
    return find(path) < disk.media.n ? SQLITE_OK
                                     : disk.below->xAccess(disk.below, path, flags, out);
}

void disk_begin(void)
{
    if (!disk.below) /* unless a test that failed has left it in place */
        disk.below = sqlite3_vfs_find(NULL);
    disk.vfs = *disk.below;
    disk.vfs.zName = "disk";
    if (disk.vfs.szOsFile < (int)sizeof(struct disk_file))
        disk.vfs.szOsFile = (int)sizeof(struct disk_file);
    disk.vfs.xOpen = disk_open;
    disk.vfs.xDelete = disk_delete;
    disk.vfs.xAccess = disk_access;
    disk.vfs.pNext = NULL;
    disk_set_fault(DISK_SOUND, 0);
    sqlite3_vfs_register(&disk.vfs, 1);
}

void disk_end(void)
{
    sqlite3_vfs_unregister(&disk.vfs);
    while (disk.media.n)
        drop(0);
    VEC_DONE(&disk.media);
}

void disk_set_fault(enum disk_fault fault, uint64_t n)
{
    disk.fault = fault;
    disk.writes = 0;
    disk.fails_at = n;
}

size_t disk_memory(void)
{
    size_t sum = 0;
    for (size_t i = 0; i < disk.media.n; i++) {
        const struct medium *m = disk.media.at[i];
        sum += m->room;
        for (int k = 0; k < SHARED_MAX; k++)
            sum += m->shared[k] ? SHARED_BYTES : 0;
    }
    return sum;
}

void disk_forget(const char *dir)
{
    size_t n = strlen(dir);
    for (size_t i = disk.media.n; i-- > 0;)
        if (!strncmp(disk.media.at[i]->path, dir, n) && disk.media.at[i]->path[n] == '/')
            drop(i);
}
