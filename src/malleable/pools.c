/* Owns the parking of a pool's workers: no more of them are awake than were ordered.
 *
 * Limiting CPUs is not enough for a pool whose idle workers spin before they wait: with fewer CPUs
 * than workers, they take time from those that have work.
 *
 * A worker that wakes up while enough others are awake is parked before it notices:
 * pthread_cond_wait returns later, without holding the mutex, as if the thread had been slow to
 * acquire it. The pool no longer counts it as waiting and wakes up others, which take its task, as
 * any worker of such a pool does (workers.c).
 *
 * No wake-up is lost. A parked worker looks up after 10, 20, 40 and 80 ms. It continues if the
 * order has changed and allows it; if no worker has begun or ended a wait since its last look,
 * because then all may be waiting for it; and in any case after the last look. A worker that
 * waits inside a task (its condition variable is on its own stack) is not parked afterwards, and
 * while it waits a parked one takes its place at once. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "malleable/next.h"
#include "malleable/target.h"
#include "malleable/workers.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 4, FIRST_LOOK_NS = 10 * 1000 * 1000 };

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                            void *arg);
EXPORTED int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);

/* Process-wide, because a preloaded library has no caller that could hold it. */
static struct {
    uint32_t workers, awake;
    uint32_t turns;    /* how often a worker began or ended a wait */
    uint32_t parked;   /* number of parked workers */
    uint32_t releases; /* how often one of them was asked to take another's place */
} pool;

static __thread const char *stack_top; /* of a worker; NULL = this thread is not one */

/* Wakes up if fewer workers are awake than were ordered. */
static bool try_wake(void)
{
    uint64_t order = target_order();
    uint32_t workers = __atomic_load_n(&pool.workers, __ATOMIC_RELAXED);
    uint32_t limit = page_threads(order), awake = __atomic_load_n(&pool.awake, __ATOMIC_ACQUIRE);
    limit = limit && limit < workers ? limit : workers;
    target_obey(order, limit);
    while (awake < limit)
        if (__atomic_compare_exchange_n(&pool.awake, &awake, awake + 1, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return true;
    return false;
}

static void note_turn(void)
{
    __atomic_fetch_add(&pool.turns, 1, __ATOMIC_ACQ_REL);
}

/* Sleeps until a parked worker is needed. */
static bool sleep_for(uint32_t releases, long ns)
{
    struct timespec pause = {0, ns};
    syscall(SYS_futex, &pool.releases, FUTEX_WAIT_PRIVATE, releases, &pause, NULL, 0);
    return releases != __atomic_load_n(&pool.releases, __ATOMIC_ACQUIRE);
}

static void release_one(void)
{
    if (__atomic_load_n(&pool.parked, __ATOMIC_SEQ_CST) == 0)
        return;
    __atomic_fetch_add(&pool.releases, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &pool.releases, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Returns awake. */
static void park(void)
{
    uint64_t order = target_order();
    bool awake = false;
    long pause = FIRST_LOOK_NS;
    __atomic_fetch_add(&pool.parked, 1, __ATOMIC_SEQ_CST);
    for (int look = 0; look < LOOKS && !awake; look++, pause *= 2) {
        uint32_t releases = __atomic_load_n(&pool.releases, __ATOMIC_SEQ_CST);
        uint32_t turns = __atomic_load_n(&pool.turns, __ATOMIC_ACQUIRE);
        bool asked = sleep_for(releases, pause);
        awake = (asked || order != target_order()) && try_wake();
        if (!asked && turns == __atomic_load_n(&pool.turns, __ATOMIC_ACQUIRE))
            break;
    }
    __atomic_fetch_sub(&pool.parked, 1, __ATOMIC_SEQ_CST);
    if (!awake)
        __atomic_fetch_add(&pool.awake, 1, __ATOMIC_ACQ_REL);
}

static bool is_on_stack(const void *address)
{
    return (const char *)address > (const char *)__builtin_frame_address(0) &&
           (const char *)address < stack_top;
}

static int wait_in_task(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    __atomic_fetch_sub(&pool.awake, 1, __ATOMIC_SEQ_CST);
    note_turn();
    release_one();
    int code = NEXT(pthread_cond_wait)(cond, mutex);
    note_turn();
    __atomic_fetch_add(&pool.awake, 1, __ATOMIC_ACQ_REL);
    return code;
}

static int wait_for_task(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    __atomic_fetch_sub(&pool.awake, 1, __ATOMIC_ACQ_REL);
    note_turn();
    int code = NEXT(pthread_cond_wait)(cond, mutex);
    note_turn();
    if (try_wake())
        return code;
    pthread_mutex_unlock(mutex);
    park();
    pthread_mutex_lock(mutex);
    return code;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    if (!stack_top)
        return NEXT(pthread_cond_wait)(cond, mutex);
    return is_on_stack(cond) ? wait_in_task(cond, mutex) : wait_for_task(cond, mutex);
}

struct beginning {
    void *(*start)(void *);
    void *arg;
};

static void end_worker(void *unused)
{
    (void)unused;
    stack_top = NULL;
    __atomic_fetch_sub(&pool.workers, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&pool.awake, 1, __ATOMIC_ACQ_REL);
    note_turn();
}

static void *begin_worker(void *data)
{
    struct beginning b = *(struct beginning *)data;
    void *result;
    free(data);
    stack_top = __builtin_frame_address(0);
    __atomic_fetch_add(&pool.workers, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&pool.awake, 1, __ATOMIC_ACQ_REL);
    note_turn();
    pthread_cleanup_push(end_worker, NULL);
    result = b.start(b.arg);
    pthread_cleanup_pop(1);
    return result;
}

static int create_worker(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                         void *arg)
{
    struct beginning *b = malloc(sizeof *b);
    if (!b)
        return EAGAIN;
    *b = (struct beginning){start, arg};
    int code = NEXT(pthread_create)(thread, attr, begin_worker, b);
    if (code)
        free(b);
    return code;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    enum worker kind = target_is_set() ? workers_recognise(start, arg) : WORKER_NONE;
    if (kind == WORKER_ONNX)
        target_misfit(PAGE_ONNX_RUNTIME);
    return kind == WORKER_STEALS ? create_worker(thread, attr, start, arg)
                                 : NEXT(pthread_create)(thread, attr, start, arg);
}
