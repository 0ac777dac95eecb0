/* Owns the fate of attempts: the one place that decides whether an attempt has run.
 *
 * A pod that was created and has no node is deleted to give its attempt up: on the condition that
 * it is still the same and has not been bound meanwhile. The API server binds no pod that is being
 * deleted, and we bind it by its uid, which is never used again. A pod that is on a node, but whose
 * job has not started, is deleted too; then its node says what became of it, and our finaliser
 * keeps the pod until we have read that.
 *
 * Where the cluster's own scheduler places pods, a late request could create the pod after it was
 * found missing. So the name is occupied by a pod that no scheduler places. */
#include "runtime/kubernetes/settle.h"

#include <stdio.h>
#include <string.h>

#include "protocol/exit_record.h"
#include "runtime/kubernetes/operations.h"
#include "runtime/kubernetes/pod.h"

enum { NOT_STARTED = 125, KILLED = 137, SIGNAL_KILL = 9 };

static void answer(struct kube_attempt *a, enum runtime_fate fate)
{
    a->op->fate = fate;
    kube_operation_complete(a, NULL);
}

static void make_record(struct kube_attempt *a, int code, const char *reason)
{
    const struct runtime_host *h = a->runtime->host;
    struct exit_record *e = &a->op->record;
    *e = (struct exit_record){.job = a->id.job,
                              .attempt = a->id.n,
                              .at = h->wall(h),
                              .code = code,
                              .usage = USAGE_UNKNOWN};
    snprintf(e->reason, sizeof e->reason, "%s", reason);
}

/* The job's own failure: its command could not even be tried. */
static void answer_failed(struct kube_attempt *a, const char *reason)
{
    make_record(a, NOT_STARTED, reason);
    answer(a, FATE_ENDED);
}

/* Nothing of the attempt is there, or what was there never ran. */
static void answer_without(struct kube_attempt *a)
{
    if (*a->fault)
        answer_failed(a, a->fault);
    else if (a->ran)
        answer(a, FATE_LOST);
    else
        answer(a, a->op->give_up ? FATE_NEVER_RAN : FATE_PENDING);
}

/* ---- giving up --------------------------------------------------------------------------- */

static void again(struct kube_attempt *a)
{
    a->at = kube_now(a->runtime) + USEC_PER_SEC / 4;
}

static void occupied(void *ctx, const struct call_reply *r)
{
    struct kube_attempt *a = ctx;
    struct err err;
    a->call = NULL;
    if (kube_check(r, &err) == 0)
        answer_without(a);
    else if (err.code == ERR_CONFLICT)
        again(a); /* it was created after all */
    else
        kube_operation_complete(a, &err);
}

static void occupy(struct kube_attempt *a)
{
    const struct runtime *r = a->runtime;
    struct str path = {0}, body = {0};
    struct pod_request q = {
        .id = a->id, .name = a->name, .yard = r->yard, .tools = r->options.image};
    kube_add_pod_path(r, "", "", &path);
    pod_add_void(&q, &body);
    kube_operation_ask_at(a, "POST", path.at, NULL, body.at, occupied);
    str_done(&path);
    str_done(&body);
}

static void take_missing(struct kube_attempt *a)
{
    bool may_come = a->runtime->options.delegate && a->op->give_up && !a->ran && !*a->fault;
    if (may_come)
        occupy(a);
    else
        answer_without(a);
}

static void deleted(void *ctx, const struct call_reply *r)
{
    struct kube_attempt *a = ctx;
    struct err err;
    a->call = NULL;
    if (kube_check(r, &err) < 0 && err.code != ERR_NOT_FOUND && err.code != ERR_CONFLICT)
        kube_operation_complete(a, &err);
    else
        again(a); /* what it has become is read from the pod */
}

static void delete_pod(struct kube_attempt *a, const struct kube_pod *p)
{
    struct str body = {0};
    bool bound = p->state != KUBE_UNBOUND;
    pod_add_delete(p->uid, bound ? NULL : p->version, bound ? 1 : -1, &body);
    kube_operation_ask(a, "DELETE", "", NULL, body.at, deleted);
    str_done(&body);
}

/* It has not started; with give_up it never shall. */
static void take_waiting(struct kube_attempt *a, const struct kube_pod *p)
{
    if (!a->op->give_up && !*a->fault) {
        answer(a, FATE_PENDING);
    } else if (!p->deleting) {
        delete_pod(a, p);
    } else if (p->confirmed || kube_operation_is_orphan(a, p)) {
        answer_without(a);
    } else {
        again(a);
    }
}

/* ---- it has ended ---------------------------------------------------------------------------- */

static void describe(const struct kube_pod *p, char *out, size_t size)
{
    const char *more = *p->detail ? p->detail : p->message;
    snprintf(out, size, "%.60s%s%.120s", *p->reason ? p->reason : "unknown reason",
             *more ? ": " : "", more);
}

static void take_ended(struct kube_attempt *a, const struct kube_pod *p)
{
    struct err bad;
    char why[200], text[256];
    size_t n = strlen(p->message);
    if (n && exit_record_parse(p->message, n, &a->op->arena, &a->op->record, &bad) == 0) {
        answer(a, FATE_ENDED);
        return;
    }
    describe(p, why, sizeof why);
    if (p->oom) {
        make_record(a, KILLED, "the pod was killed because it used more memory than its limit");
        a->op->record.oom = true;
        a->op->record.signal = SIGNAL_KILL;
        answer(a, FATE_ENDED);
    } else if (p->started || a->ran) {
        a->ran = true;
        answer(a, FATE_LOST);
    } else if (p->code > 0) {
        snprintf(text, sizeof text, "the conductor could not run in the image: %s", why);
        answer_failed(a, text);
    } else {
        answer_without(a);
    }
}

/* ---- what the API server says ------------------------------------------------------------------
 */

static void take_pod(struct kube_attempt *a, const struct kube_pod *p)
{
    a->ran |= p->started;
    if (p->void_) {
        answer_without(a);
        return;
    }
    switch (p->state) {
    case KUBE_UNBOUND:
    case KUBE_WAITING:
        take_waiting(a, p);
        break;
    case KUBE_RUNNING:
        if (kube_operation_is_orphan(a, p)) {
            answer(a, FATE_LOST);
            break;
        }
        relay_link_want(&a->link);
        answer(a, FATE_RUNNING);
        break;
    case KUBE_ENDED:
        take_ended(a, p);
        break;
    }
}

static void inspected(void *ctx, const struct call_reply *r)
{
    struct kube_attempt *a = ctx;
    struct kube_pod p;
    a->call = NULL;
    if (r->err.code == ERR_OK && r->status == 404) {
        take_missing(a);
        return;
    }
    a->call = NULL;
    if (!kube_operation_succeeded(a, r))
        return;
    json_auto_t *pod = json_loadb(r->body, r->n, 0, NULL);
    if (kube_pod_read(pod, &p)) {
        take_pod(a, &p);
    } else {
        struct err err;
        err_set(&err, ERR_CONFLICT, "the pod %s is not Trainyard's", a->name);
        kube_operation_complete(a, &err);
    }
}

void kube_settle_pod(struct kube_attempt *a)
{
    kube_operation_ask(a, "GET", "", NULL, NULL, inspected);
}

void kube_settle_look(struct kube_attempt *a, usec_t now)
{
    if (a->at <= now)
        kube_settle_pod(a);
}
