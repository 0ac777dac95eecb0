/* Owns the directories of a server and the locks on them.
 *
 * Two servers with one run directory would take each other's sockets away, so it is locked as
 * the state is. Clean-up jobs of a machine and users remove files and directories that look
 * old: the run directory is watched, and made and locked again. */
#include "server/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/str.h"
#include "server/log.h"

/* After the first change, the others of the same command follow. */
enum { SOON_MS = 50, RETRY_MS = 2000 };

struct place {
    char *path; /* absolute */
    int lock;   /* -1 = not locked */
};

struct places {
    struct place state, run; /* the same path: only the state is locked */
    gid_t group;             /* whose members may reach the sockets; 0 = none */
    uv_fs_event_t watch;
    uv_timer_t soon;
    void (*changed)(void *ctx);
    void *ctx;
    bool watching, warned;
};

/* ---- directories and locks ---------------------------------------------------------- */

static int make_dir(const char *path, char **full, struct err *err)
{
    int code = fs_make_dirs(path, 0700);
    if (code && code != EEXIST)
        return err_set(err, ERR_IO, "cannot create %s: %s; use --state to set another directory",
                       path, strerror(code));
    AUTO_FREE char *found = realpath(path, NULL);
    if (!found)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (access(found, W_OK | X_OK) < 0)
        return err_set(err, ERR_IO, "cannot write to %s: %s; use --state to set another directory",
                       found, strerror(errno));
    *full = TAKE(found);
    return 0;
}

/* Locks the file; the process holds the lock until it closes it or ends. The lock belongs to the
 * process, not to the descriptor, so that a child between fork and exec does not keep it. */
static int lock_file(int fd, const char *dir, struct err *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char pid[24];
    int n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (fcntl(fd, F_SETLK, &lock) < 0) {
        bool held = errno == EACCES || errno == EAGAIN;
        err_set(err, ERR_IO, "cannot lock %s/server.lock: %s", dir, strerror(errno));
        if (held && fcntl(fd, F_GETLK, &lock) == 0)
            err_set(err, ERR_CONFLICT,
                    "another server, pid %ld, uses %s; stop it, or use another --state or --run "
                    "directory",
                    (long)lock.l_pid, dir);
        return -1;
    }
    if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)n, 0) != n)
        return err_set(err, ERR_IO, "cannot write %s/server.lock: %s", dir, strerror(errno));
    return 0;
}

static int lock_place(struct place *p, struct err *err)
{
    struct str name = {0};
    str_addf(&name, "%s/server.lock", p->path);
    int fd = open(name.at, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int rc = fd < 0 ? err_set(err, ERR_IO, "cannot open %s: %s", name.at, strerror(errno))
                    : lock_file(fd, p->path, err);
    str_done(&name);
    if (rc == 0)
        p->lock = fd;
    else if (fd >= 0)
        close(fd);
    return rc;
}

int places_open(const char *state, const char *run, struct places **out, struct err *err)
{
    struct places *p = xcalloc(1, sizeof *p);
    p->state.lock = p->run.lock = -1;
    if (make_dir(state, &p->state.path, err) == 0 && make_dir(run, &p->run.path, err) == 0 &&
        lock_place(&p->state, err) == 0 &&
        (!strcmp(p->state.path, p->run.path) || lock_place(&p->run, err) == 0)) {
        *out = p;
        return 0;
    }
    places_close(p);
    return -1;
}

void places_close(struct places *p)
{
    if (p->state.lock >= 0)
        close(p->state.lock);
    if (p->run.lock >= 0)
        close(p->run.lock);
    free(p->state.path);
    free(p->run.path);
    free(p);
}

const char *places_state(const struct places *p)
{
    return p->state.path;
}

const char *places_run(const struct places *p)
{
    return p->run.path;
}

/* Members of the group may reach the sockets, whose modes say which; they cannot list. */
int places_share(struct places *p, gid_t group, struct err *err)
{
    if (!strcmp(p->state.path, p->run.path))
        return err_set(err, ERR_INVALID,
                       "--group needs a directory for the sockets apart from the state; set --run");
    if (chown(p->run.path, (uid_t)-1, group) < 0 || chmod(p->run.path, 0710) < 0)
        return err_set(err, ERR_IO, "cannot share %s: %s", p->run.path, strerror(errno));
    p->group = group;
    return 0;
}

/* ---- the watch ------------------------------------------------------------------------ */

/* Whether the file that is locked is still the one in its place. */
static bool has_lock(const struct place *p)
{
    struct str name = {0};
    struct stat is, ours;
    str_addf(&name, "%s/server.lock", p->path);
    bool same = p->lock >= 0 && stat(name.at, &is) == 0 && fstat(p->lock, &ours) == 0 &&
                is.st_dev == ours.st_dev && is.st_ino == ours.st_ino;
    str_done(&name);
    return same;
}

/* Makes the run directory again, and locks it, if it is not there. */
static int restore_run(struct places *p, struct err *err)
{
    struct place *place = p->run.lock >= 0 ? &p->run : &p->state;
    int code = fs_make_dirs(p->run.path, 0700);
    if (code && code != EEXIST)
        return err_set(err, ERR_IO, "cannot create %s: %s", p->run.path, strerror(code));
    if (p->group && places_share(p, p->group, err) < 0)
        return -1;
    if (has_lock(place))
        return 0;
    int old = place->lock;
    if (lock_place(place, err) < 0)
        return -1;
    close(old);
    return 0;
}

static void look(uv_timer_t *timer);

static void notice(uv_fs_event_t *watch, const char *name, int events, int status)
{
    struct places *p = watch->data;
    (void)name;
    /* Files that are written do not matter: the database may be in this directory. */
    if (status == 0 && !(events & UV_RENAME))
        return;
    if (!uv_is_active((uv_handle_t *)&p->soon))
        uv_timer_start(&p->soon, look, SOON_MS, 0);
}

/* The directory may be another one than before: the watch is set again. */
static void look(uv_timer_t *timer)
{
    struct places *p = timer->data;
    struct err err;
    uv_fs_event_stop(&p->watch);
    int rc = restore_run(p, &err);
    if (rc == 0 && uv_fs_event_start(&p->watch, notice, p->run.path, 0) < 0)
        rc = err_set(&err, ERR_IO, "cannot watch %s", p->run.path);
    if (rc == 0) {
        p->warned = false;
        p->changed(p->ctx);
        return;
    }
    if (!p->warned)
        log_warning("the run directory was removed, and clients cannot connect: %s", err.text);
    p->warned = true;
    uv_timer_start(&p->soon, look, RETRY_MS, 0);
}

int places_watch(struct places *p, struct uv_loop_s *loop, void (*changed)(void *ctx), void *ctx,
                 struct err *err)
{
    p->changed = changed;
    p->ctx = ctx;
    uv_timer_init(loop, &p->soon);
    uv_fs_event_init(loop, &p->watch);
    p->soon.data = p->watch.data = p;
    p->watching = true;
    int rc = uv_fs_event_start(&p->watch, notice, p->run.path, 0);
    return rc < 0 ? err_set(err, ERR_IO, "cannot watch %s: %s", p->run.path, uv_strerror(rc)) : 0;
}

void places_unwatch(struct places *p)
{
    if (!p->watching)
        return;
    uv_close((uv_handle_t *)&p->watch, NULL);
    uv_close((uv_handle_t *)&p->soon, NULL);
    p->watching = false;
}
