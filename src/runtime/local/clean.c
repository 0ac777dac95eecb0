/* Owns attempts whose processes are dying. SIGKILL takes a while to have its effect, so
 * they are looked at again, less and less often. */
#include "runtime/local/clean.h"

#include <signal.h>

#include "runtime/local/files.h"
#include "runtime/local/local.h"
#include "runtime/local/process.h"

/* Between two looks, at first and at most. */
enum { LOOK_FIRST = 5000, LOOK_LAST = 200000 };

/* Kills the processes of an attempt without groups; 1 while there are any. */
static int kill_processes(const struct runtime *r, const struct held *h)
{
    pid_list pids = {0};
    held_processes(r, h, &pids);
    process_signal(&pids, SIGKILL);
    int left = pids.n > 0;
    VEC_DONE(&pids);
    return left;
}

/* Ends all of it but its conductor. 1 while processes are dying. */
static int end_attempt(struct runtime *r, struct attempt_id id, struct err *err)
{
    struct held *h = held_find(r, id);
    struct held nothing = held_nothing(id);
    const struct held *which = h ? h : &nothing;
    int left = r->cgroups.n ? cgroup_destroy(&r->cgroups, which->name, err) : 0;
    if (left < 0)
        return -1;
    if (!which->grouped)
        left |= kill_processes(r, which);
    if (left)
        return left;
    files_forget(r, id);
    if (!h)
        return 0;
    held_drop(r, h);
    held_weigh(r);
    return 0;
}

static void look_again(struct runtime *r, struct attempt_id id, struct runtime_op *op)
{
    VEC_PUSH(&r->dying, (struct dying){id, op});
    r->look_at = 0; /* most are gone by the next turn */
    r->look_pause = LOOK_FIRST;
}

int clean_begin(struct runtime *r, struct runtime_op *op, struct err *err)
{
    int left = end_attempt(r, op->id, err);
    if (left == 1)
        look_again(r, op->id, op);
    return left;
}

void clean_unknown(struct runtime *r, struct attempt_id id)
{
    struct err err; /* nobody is there to be told */
    if (end_attempt(r, id, &err) == 1)
        look_again(r, id, NULL);
}

usec_t clean_due(const struct runtime *r)
{
    usec_t due = r->dying.n ? r->look_at : USEC_NEVER;
    for (size_t i = 0; i < r->dying.n; i++) {
        const struct runtime_op *op = r->dying.at[i].op;
        due = op && op->deadline < due ? op->deadline : due;
    }
    return due;
}

/* Whether that was the last look at it. */
static bool look(struct runtime *r, const struct dying *d, usec_t now)
{
    struct runtime_op *op = d->op;
    struct err err = {.code = ERR_OK};
    if (!op)
        return end_attempt(r, d->id, &err) <= 0;
    int left = end_attempt(r, op->id, &err);
    if (left == 1 && now < op->deadline)
        return false;
    if (left == 1)
        err_set(&err, ERR_IO, "job %lld, attempt %u: processes of it do not end",
                (long long)d->id.job, d->id.n);
    op->err = err;
    runtime_complete(r->host, op);
    return true;
}

void clean_turn(struct runtime *r, usec_t now)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->dying.n; i++)
        if (!look(r, &r->dying.at[i], now))
            r->dying.at[kept++] = r->dying.at[i];
    r->dying.n = kept;
    r->look_at = now + r->look_pause;
    r->look_pause = r->look_pause * 2 < LOOK_LAST ? r->look_pause * 2 : LOOK_LAST;
}
