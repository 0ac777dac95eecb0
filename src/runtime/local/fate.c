/* Owns the answer to what became of an attempt, and giving up attempts that have not
 * begun.
 *
 * Whether an attempt may run or is given up is decided by its claim file, and only
 * there: link(2) succeeds for one of those who try, a conductor or this server. */
#include "runtime/local/fate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/proc.h"
#include "protocol/claim.h"
#include "runtime/local/files.h"
#include "runtime/local/local.h"

/* A claim appears complete. One that is not was cut short by a crash of the machine, which
 * its conductor did not survive. */
static int look(int dir, struct claim *out, struct err *err)
{
    int rc = claim_look(dir, out, err);
    struct proc p;
    if (rc < 0 && err->code != ERR_INVALID)
        return rc;
    if (rc < 0)
        *out = (struct claim){.state = CLAIM_DEAD};
    /* A job can lock the file as well, but it cannot be its conductor. */
    if (out->state == CLAIM_HELD && (proc_read(out->pid, &p) < 0 || p.start != out->start))
        out->state = CLAIM_DEAD;
    return 0;
}

/* The claim, once it is decided if it has to be. */
static int decide(int dir, bool give_up, struct claim *out, struct err *err)
{
    if (look(dir, out, err) < 0)
        return -1;
    if (out->state != CLAIM_NONE || !give_up)
        return 0;
    if (claim_void(dir, err) < 0 && err->code != ERR_CONFLICT)
        return -1;
    return look(dir, out, err); /* a conductor may have been first */
}

/* A conductor that could not read its specification does not know whose it is. */
static bool is_of(const struct exit_record *r, struct attempt_id id)
{
    return !r->job || (r->job == id.job && r->attempt == id.n);
}

static int read_fate(struct runtime_op *op, int dir, enum claim_state claim, struct err *err)
{
    switch (claim) {
    case CLAIM_NONE:
        op->fate = FATE_PENDING;
        return 0;
    case CLAIM_VOID:
        op->fate = FATE_NEVER_RAN;
        return 0;
    case CLAIM_HELD:
        op->fate = FATE_RUNNING;
        return 0;
    case CLAIM_DEAD:
        break;
    }
    int rc = exit_record_read(dir, &op->arena, &op->record, err);
    if (rc < 0 && err->code == ERR_IO)
        return -1;
    op->fate = rc == 0 && is_of(&op->record, op->id) ? FATE_ENDED : FATE_LOST;
    return 0;
}

static int open_dir(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Answers for an attempt without a directory: nobody has begun it. To give it up, one is
 * made for the void claim, whose descriptor is returned; -1 when the answer is known, as
 * where a start could not make a directory either. */
static int settle_unbegun(struct runtime_op *op, const char *path)
{
    bool is_new;
    struct err err;
    op->fate = op->give_up ? FATE_NEVER_RAN : FATE_PENDING;
    return op->give_up && files_make_dir(path, &is_new, &err) == 0 ? open_dir(path) : -1;
}

int fate_settle(const struct runtime *r, struct runtime_op *op, struct err *err)
{
    AUTO_FREE char *path = files_dir(r, op->id);
    AUTO_CLOSE int dir = open_dir(path);
    struct claim claim;
    if (dir < 0 && errno != ENOENT)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (dir < 0 && (dir = settle_unbegun(op, path)) < 0)
        return 0;
    if (decide(dir, op->give_up, &claim, err) < 0)
        return -1;
    return read_fate(op, dir, claim.state, err);
}

int fate_is_decided(const char *path, bool *out, struct err *err)
{
    AUTO_CLOSE int dir = open_dir(path);
    struct claim claim;
    if (dir < 0)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (look(dir, &claim, err) < 0)
        return -1;
    *out = claim.state != CLAIM_NONE;
    return 0;
}
