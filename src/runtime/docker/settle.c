/* Owns the fate of attempts: the one place that decides whether an attempt has run.
 *
 * A container that was created and never started is removed to give its attempt up. The engine
 * removes it only while it does not run, and a container that is removed cannot be started: the
 * start is asked for by its id, which is never used again. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "runtime/docker/settle.h"

#include <stdio.h>
#include <string.h>

#include "protocol/exit_record.h"
#include "runtime/docker/files.h"
#include "runtime/docker/operations.h"

enum { NOT_STARTED = 125 };

static void answer(struct docker_attempt *a, enum runtime_fate fate)
{
    a->op->fate = fate;
    docker_complete(a, NULL);
}

/* The job's own failure: its command could not even be tried. */
static void answer_failed(struct docker_attempt *a, const char *reason)
{
    const struct runtime_host *h = a->node->runtime->host;
    struct exit_record *e = &a->op->record;
    *e = (struct exit_record){.job = a->id.job,
                              .attempt = a->id.n,
                              .at = h->wall(h),
                              .code = NOT_STARTED,
                              .usage = USAGE_UNKNOWN};
    snprintf(e->reason, sizeof e->reason, "%s", reason);
    answer(a, FATE_ENDED);
}

/* Nothing of the attempt is there. */
static void answer_without(struct docker_attempt *a)
{
    if (*a->fault)
        answer_failed(a, a->fault);
    else if (a->ran)
        answer(a, FATE_LOST);
    else
        answer(a, a->op->give_up ? FATE_NEVER_RAN : FATE_PENDING);
}

/* ---- it was never started ------------------------------------------------------------- */

static void removed(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    struct err err;
    a->call = NULL;
    if (r->err.code == ERR_OK && r->status == 409) {
        settle_container(a); /* it was started meanwhile, or is being removed */
        return;
    }
    if (engine_check(r, &err) < 0 && err.code != ERR_NOT_FOUND)
        docker_complete(a, &err);
    else
        answer_without(a);
}

static void give_up(struct docker_attempt *a)
{
    struct str path = {0};
    if (!a->op->give_up) {
        answer(a, FATE_PENDING);
        return;
    }
    str_addf(&path, "/containers/%s?v=1", a->container);
    docker_ask(a, &(struct engine_request){.method = "DELETE", .path = path.at, .done = removed});
    str_done(&path);
}

/* ---- it has ended ---------------------------------------------------------------------- */

/* An engine says the same of a file and of a container that it does not have. */
static bool is_removed(const struct err *err)
{
    return err->code == ERR_NOT_FOUND && strcasestr(err->text, "no such container");
}

static void take_claim(struct docker_attempt *a, const struct str *text, const struct err *err)
{
    (void)text;
    if (is_removed(err))
        answer_without(a);
    else if (err->code == ERR_OK)
        answer(a, FATE_LOST);
    else if (err->code == ERR_NOT_FOUND)
        answer_failed(a, "the conductor could not run in the image");
    else
        docker_complete(a, err);
}

static void take_record(struct docker_attempt *a, const struct str *text, const struct err *err)
{
    struct err bad;
    if (err->code == ERR_OK && exit_record_parse(text->n ? text->at : "", text->n, &a->op->arena,
                                                 &a->op->record, &bad) == 0)
        answer(a, FATE_ENDED);
    else if (err->code == ERR_OK || err->code == ERR_NOT_FOUND)
        file_read(a, "claim", take_claim);
    else
        docker_complete(a, err);
}

/* ---- what the engine says ----------------------------------------------------------------- */

static void inspected(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    struct answer_container c;
    struct err err;
    a->call = NULL;
    if (r->err.code == ERR_OK && r->status == 404) {
        answer_without(a);
        return;
    }
    if (engine_check(r, &err) < 0 || answer_read_container(r->body, r->n, &c, &err) < 0) {
        docker_complete(a, &err);
        return;
    }
    memcpy(a->container, c.id, sizeof c.id);
    a->ran |= c.state != CONTAINER_CREATED;
    switch (c.state) {
    case CONTAINER_CREATED:
        give_up(a);
        break;
    case CONTAINER_RUNNING:
        relay_link_want(&a->link);
        answer(a, FATE_RUNNING);
        break;
    case CONTAINER_ENDED:
        file_read(a, "exit.json", take_record);
        break;
    case CONTAINER_LEAVING:
        err_set(&err, ERR_IO, "the container is being removed");
        docker_complete(a, &err);
        break;
    }
}

void settle_container(struct docker_attempt *a)
{
    struct str path = {0};
    str_addf(&path, "/containers/%s/json", a->name);
    docker_ask(a, &(struct engine_request){.method = "GET", .path = path.at, .done = inspected});
    str_done(&path);
}
