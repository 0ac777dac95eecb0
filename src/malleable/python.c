/* Owns the order in force on the main thread of a Python process.
 *
 * An operation of PyTorch queries the number of threads, allocates tables and oneDNN primitives
 * for that many, begins other regions, and only then begins the one it planned. If there were
 * more threads by then, they would write past the end of the tables. So the number may change
 * only between operations. Python knows such moments: with Py_AddPendingCall, the main thread
 * calls a function between two instructions, where a program could also call
 * torch.set_num_threads. */
#include "malleable/python.h"

#include "malleable/blas.h"
#include "malleable/real.h"
#include "malleable/target.h"

#include <sys/syscall.h>
#include <unistd.h>

enum role { ROLE_UNKNOWN, ROLE_MAIN, ROLE_OTHER };

static __thread struct {
    enum role role;
    pid_t pid;      /* when the role was determined; a child has one thread, its main one */
    uint64_t holds; /* the order in force */
    uint64_t asked; /* the order for which the interpreter was asked to call */
} mine;

typedef int add_pending_call(int (*function)(void *), void *data);

static add_pending_call *find_python(void)
{
    return (add_pending_call *)real_find(real_caller(__builtin_return_address(0)),
                                         REAL_Py_AddPendingCall);
}

static int take_up(void *data)
{
    (void)data;
    mine.holds = target_order();
    blas_follow(mine.holds);
    return 0;
}

static void find_role(uint64_t order)
{
    mine.pid = getpid();
    bool is_main = mine.pid == (pid_t)syscall(SYS_gettid) && find_python();
    mine.role = is_main ? ROLE_MAIN : ROLE_OTHER;
    mine.holds = mine.asked = order;
}

bool python_holds(uint64_t *order)
{
    if (mine.role == ROLE_UNKNOWN)
        find_role(*order);
    if (mine.role != ROLE_MAIN)
        return false;
    if (*order != mine.holds && (*order != mine.asked || getpid() != mine.pid)) {
        mine.pid = getpid();
        if (find_python()(take_up, NULL) == 0)
            mine.asked = *order;
    }
    *order = mine.holds;
    return true;
}
