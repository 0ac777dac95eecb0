/* Owns starting conductors.
 *
 * An intermediate process starts the conductor and exits at once, so the conductor
 * belongs to init and leaves us no zombie. The intermediate process shares our memory
 * (CLONE_VM and CLONE_VFORK: we are suspended meanwhile). So no page table is copied,
 * however large the server is, and it can leave the result in a variable. It sends no
 * SIGCHLD, so the server's event loop does not notice it. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "runtime/local/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

enum { STACK_BYTES = 64 * 1024 };

struct start {
    const char *program, *dir;
    const posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attributes;
    uint64_t descriptors;
    pid_t pid;
    int code;
};

static int run_middle(void *arg)
{
    struct start *s = arg;
    char *argv[] = {(char *)s->program, (char *)s->dir, NULL};
    /* It needs nothing of the server's environment, which may have secrets: every process of
     * this user could read it there. */
    char *environment[] = {NULL};
    struct rlimit limit;
    /* Limits are this process' own, unlike its memory. */
    if (s->descriptors && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = s->descriptors < limit.rlim_max ? s->descriptors : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    s->code = posix_spawn(&s->pid, s->program, s->actions, s->attributes, argv, environment);
    return 0;
}

static int set_actions(posix_spawn_file_actions_t *a)
{
    int code = posix_spawn_file_actions_addopen(a, 0, "/dev/null", O_RDWR, 0);
    for (int fd = 1; fd <= 2 && !code; fd++)
        code = posix_spawn_file_actions_adddup2(a, 0, fd);
    if (!code)
        code = posix_spawn_file_actions_addclosefrom_np(a, 3);
    return code ? code : posix_spawn_file_actions_addchdir_np(a, "/");
}

static int set_attributes(posix_spawnattr_t *a)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(a, &none);
    posix_spawnattr_setsigdefault(a, &all);
    return posix_spawnattr_setflags(a, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                           POSIX_SPAWN_SETSIGDEF);
}

/* Runs the middle process to its end; 0 or an errno. */
static int run_start(struct start *s)
{
    char *stack AUTO_FREE = xmalloc(STACK_BYTES);
    pid_t middle = clone(run_middle, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, s);
    int code = middle < 0 ? errno : 0;
    while (middle > 0 && waitpid(middle, NULL, __WALL) < 0 && errno == EINTR)
        ;
    return code ? code : s->code;
}

int spawn_detached(const char *program, const char *dir, uint64_t descriptors, int64_t *pid,
                   struct err *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    struct start s = {program, dir, &actions, &attributes, descriptors, 0, 0};
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int code = set_actions(&actions);
    if (!code)
        code = set_attributes(&attributes);
    if (!code)
        code = run_start(&s);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (code)
        return err_set(err, ERR_IO, "cannot start %s: %s", program, strerror(code));
    *pid = s.pid;
    return 0;
}
