/* Owns preloading our libraries into jobs. Once per attempt, the job's dynamic linker is asked
 * to load them. A program built with AddressSanitizer refuses to start after an unexpected
 * library; ours override nothing that it intercepts, so its check is turned off. */
#include "conductor/library.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINK_ORDER "verify_asan_link_order"

#if defined __x86_64__
static const char linker[] = "/lib64/ld-linux-x86-64.so.2";
#elif defined __aarch64__
static const char linker[] = "/lib/ld-linux-aarch64.so.1";
#else
#error "the path of the dynamic linker on this architecture is not known"
#endif

static _Noreturn void run_linker(const char *path)
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    execl(linker, linker, "--list", path, (char *)NULL);
    _exit(127);
}

static int load(const char *path, struct err *err)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        run_linker(path);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return err_set(err, ERR_IO, "cannot make a process: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return err_set(err, ERR_INVALID,
                       "the library %s needs a newer C library (glibc) than there is", path);
    return 0;
}

int library_check(const char *path, bool probe, struct err *err)
{
    if (access(path, R_OK) < 0)
        return err_set(err, ERR_IO, "cannot read the library %s: %s", path, strerror(errno));
    if (strpbrk(path, ": "))
        return err_set(err, ERR_INVALID, "the library's path %s must have no blank and no colon",
                       path);
    if (!probe)
        return 0;
    if (access(linker, X_OK) < 0)
        return err_set(err, ERR_INVALID,
                       "there is no C library (glibc) here, which the library %s needs", path);
    return load(path, err);
}

static void calm_sanitizer(struct launch_spec *spec, struct arena *a)
{
    const char *own = launch_spec_get(spec, "ASAN_OPTIONS");
    if (own && strstr(own, LINK_ORDER))
        return;
    launch_spec_set(spec, a, "ASAN_OPTIONS", "%s%s" LINK_ORDER "=0", own ? own : "",
                    own && *own ? ":" : "");
}

void library_preload(struct launch_spec *spec, struct arena *a, const char *path)
{
    const char *own = launch_spec_get(spec, "LD_PRELOAD");
    bool preloads = own && *own;
    launch_spec_set(spec, a, "LD_PRELOAD", "%s%s%s", path, preloads ? " " : "",
                    preloads ? own : "");
    calm_sanitizer(spec, a);
}
