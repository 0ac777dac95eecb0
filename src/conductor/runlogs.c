/* Owns the files that are followed, and the times at which they are read. runlogs_find.c finds
 * them. */
#include "conductor/runlogs.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "conductor/runlogs_find.h"
#include "progress/log.h"

/* Limits for one file, and for all files in one look. */
enum { FIRST = 1000000, EVERY = 2000000, LONGEST = 30000000 };
enum { CHUNK = 16 << 10, LOOK_BYTES = 4 << 20 };

/* A network file system may not respond, and the conductor must never block. */
static bool is_local(int dir)
{
    static const long local[] = {
        EXT4_SUPER_MAGIC,      XFS_SUPER_MAGIC,  BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
        OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, RAMFS_MAGIC,       0x2fc12fc1 /* ZFS */};
    struct statfs fs;
    if (fstatfs(dir, &fs) < 0)
        return false;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if ((long)fs.f_type == local[i])
            return true;
    return false;
}

void runlogs_init(struct runlogs *l, const char *workdir, usec_t now, usec_t wall)
{
    *l =
        (struct runlogs){.since = wall, .next = now + FIRST, .search = now + FIRST, .pause = FIRST};
    l->dir = open(workdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (l->dir >= 0 && !is_local(l->dir)) {
        close(l->dir);
        l->dir = -1;
    }
    /* Every conductor holds a shared lock, so that one can find out whether it is alone. */
    if (l->dir >= 0)
        flock(l->dir, LOCK_SH | LOCK_NB);
}

static void drop_log(struct run_log *f)
{
    close(f->fd);
    free(f->path);
    progress_log_free(f->log);
}

void runlogs_done(struct runlogs *l)
{
    for (size_t i = 0; i < l->n; i++)
        drop_log(&l->at[i]);
    if (l->dir >= 0)
        close(l->dir);
    *l = (struct runlogs){.dir = -1};
}

/* A file that has become shorter is read from its beginning. */
static bool read_log(struct run_log *f, struct progress_reader *reader, int64_t *left)
{
    char bytes[CHUNK];
    struct stat st;
    bool news = false;
    if (fstat(f->fd, &st) < 0)
        return false;
    if (st.st_size < f->offset) {
        progress_log_free(f->log);
        f->log = progress_log_create(f->path);
        f->offset = 0;
    }
    while (f->offset<st.st_size && * left> 0) {
        ssize_t n = pread(f->fd, bytes, sizeof bytes, f->offset);
        if (n <= 0)
            break;
        news |= progress_feed_log(reader, f->log, bytes, (size_t)n);
        f->offset += n;
        *left -= n;
    }
    return news;
}

bool runlogs_read(struct runlogs *l, struct progress_reader *reader)
{
    int64_t left = LOOK_BYTES;
    bool news = false;
    for (size_t i = 0; i < l->n; i++)
        news |= read_log(&l->at[i], reader, &left);
    return news;
}

/* Whether the output already tells the step and the total. Then log files are not needed. */
static bool is_told(const struct progress *p, const struct runlogs *l)
{
    return !l->n && (p->has & PROGRESS_STEP) && (p->has & PROGRESS_TOTAL) && !p->weak &&
           (p->has & PROGRESS_LOSS);
}

bool runlogs_look(struct runlogs *l, usec_t now, const struct tree *tree,
                  struct progress_reader *reader)
{
    l->next = now + EVERY;
    if (l->search <= now) {
        l->pause = l->pause * 2 < LONGEST ? l->pause * 2 : LONGEST;
        l->search = now + l->pause;
        if (!is_told(progress_now(reader), l))
            runlogs_find(l, tree);
    }
    if (!l->n)
        l->next = l->search;
    return runlogs_read(l, reader);
}
