/* The machine that a program sees: as many processors as its job has at its largest size, from
 * start to end. Otherwise a program that allocates a table when it sees few processors, and asks
 * again when there are more, would write past the end of the table (XGBoost does).
 *
 * The configured processors (_SC_NPROCESSORS_CONF) remain the real ones: they never change, and
 * bound what sched_getcpu returns.
 *
 * Requests to bind threads to processors are accepted and ignored. They are hints about speed,
 * and the processors a program sees may not belong to the job at the moment. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "malleable/next.h"
#include "malleable/real.h"
#include "malleable/target.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

EXPORTED int get_nprocs(void);
EXPORTED long sysconf(int name);
EXPORTED int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
EXPORTED int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set);
EXPORTED int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set);
EXPORTED int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set);
EXPORTED int pthread_attr_setaffinity_np(pthread_attr_t *attr, size_t size, const cpu_set_t *set);

int get_nprocs(void)
{
    unsigned processors = target_processors();
    return processors ? (int)processors : NEXT(get_nprocs)();
}

long sysconf(int name)
{
    unsigned processors = name == _SC_NPROCESSORS_ONLN ? target_processors() : 0;
    return processors ? (long)processors : NEXT(sysconf)(name);
}

/* Reduces or extends a set to the number of processors that the program sees: first those of the
 * set, then others, lowest first. */
static void pretend(size_t size, cpu_set_t *set)
{
    size_t wanted = target_processors(), bits = size * CHAR_BIT;
    size_t has = (size_t)CPU_COUNT_S(size, set);
    for (size_t i = bits; wanted && has > wanted && i-- > 0;)
        if (CPU_ISSET_S(i, size, set)) {
            CPU_CLR_S(i, size, set);
            has--;
        }
    for (size_t i = 0; has < wanted && i < bits; i++)
        if (!CPU_ISSET_S(i, size, set)) {
            CPU_SET_S(i, size, set);
            has++;
        }
}

/* Whether a thread belongs to this process. */
static bool is_own(pid_t thread)
{
    return thread == 0 || syscall(SYS_tgkill, getpid(), thread, 0) == 0;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    int saved = errno, result = NEXT(sched_getaffinity)(pid, size, set);
    if (result == 0 && is_own(pid)) {
        errno = saved;
        pretend(size, set);
    }
    return result;
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
    int code = NEXT(pthread_getaffinity_np)(thread, size, set);
    if (code == 0)
        pretend(size, set);
    return code;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    int saved = errno;
    if (target_processors() && is_own(pid))
        return 0;
    errno = saved;
    return NEXT(sched_setaffinity)(pid, size, set);
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
    return target_processors() ? 0 : NEXT(pthread_setaffinity_np)(thread, size, set);
}

int pthread_attr_setaffinity_np(pthread_attr_t *attr, size_t size, const cpu_set_t *set)
{
    return target_processors() ? 0 : NEXT(pthread_attr_setaffinity_np)(attr, size, set);
}
