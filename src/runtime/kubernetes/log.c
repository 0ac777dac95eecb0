/* Owns the logs of attempts. While a pod runs, its conductor sends the log through the link.
 * Afterwards it is read from the node, which has the newest part of what the conductor copied to
 * standard output: its end is the end of the log, so offsets are counted from there. */
#include "runtime/kubernetes/log.h"

#include <string.h>

#include "protocol/exit_record.h"

#define CALL_LIMIT (120 * USEC_PER_SEC)
enum { LOG_BYTES_MAX = 48 << 20 };

static void complete(struct kube_attempt *a, int64_t end)
{
    struct runtime_host *h = a->runtime->host;
    a->link.log_offset = -1;
    h->log(h, a->id, end, NULL, 0);
}

static void log_came(void *ctx, const struct call_reply *r)
{
    struct kube_attempt *a = ctx;
    struct runtime_host *h = a->runtime->host;
    struct err err;
    int64_t wanted = a->link.log_offset, total = a->log_total;
    a->log_call = NULL;
    if (kube_check(r, &err) < 0) {
        if (err.code == ERR_NOT_FOUND || err.code == ERR_INVALID)
            complete(a, wanted); /* it went with its node or its container */
        return;                  /* otherwise the server asks again */
    }
    int64_t n = (int64_t)r->n, first = total > n ? total - n : 0;
    int64_t skip = wanted > first ? wanted - first : 0;
    if (skip < n)
        h->log(h, a->id, first + skip, r->body + skip, (size_t)(n - skip));
    complete(a, first + n);
}

static void read_log(struct kube_attempt *a, int64_t total)
{
    struct str path = {0}, rest = {0};
    a->log_total = total;
    str_addf(&rest, "/log?container=" KUBE_CONTAINER "&limitBytes=%d", LOG_BYTES_MAX);
    kube_add_pod_path(a->runtime, a->name, rest.at, &path);
    struct kube_request q = {
        .method = "GET", .path = path.at, .limit = CALL_LIMIT, .done = log_came, .ctx = a};
    a->log_call = kube_ask(a->runtime->api, &q);
    str_done(&path);
    str_done(&rest);
}

static void take_pod(struct kube_attempt *a, const struct kube_pod *p)
{
    struct arena arena = {0};
    struct exit_record record;
    struct err err;
    if (p->state == KUBE_RUNNING) {
        relay_link_want(&a->link);
        return;
    }
    if (p->state != KUBE_ENDED || !p->started) {
        complete(a, a->link.log_offset); /* there is none */
        return;
    }
    int rc = exit_record_parse(p->message, strlen(p->message), &arena, &record, &err);
    arena_done(&arena);
    read_log(a, rc == 0 ? record.log_bytes : -1);
}

static void inspected(void *ctx, const struct call_reply *r)
{
    struct kube_attempt *a = ctx;
    struct kube_pod p;
    struct err err;
    a->log_call = NULL;
    if (r->err.code == ERR_OK && r->status == 404) {
        complete(a, a->link.log_offset); /* it went with the pod */
        return;
    }
    if (kube_check(r, &err) < 0)
        return; /* the server asks again */
    json_auto_t *pod = json_loadb(r->body, r->n, 0, NULL);
    if (kube_pod_read(pod, &p))
        take_pod(a, &p);
    else
        complete(a, a->link.log_offset);
}

void kube_log_fetch(struct runtime *r, struct attempt_id id, const char *node, int64_t offset)
{
    struct kube_attempt *a = kube_find(r, id);
    struct str path = {0};
    (void)node;
    if (!a || a->log_call)
        return;
    a->link.log_offset = offset;
    if (relay_link_ask_log(&a->link))
        return;
    kube_add_pod_path(r, a->name, "", &path);
    struct kube_request q = {
        .method = "GET", .path = path.at, .limit = CALL_LIMIT, .done = inspected, .ctx = a};
    a->log_call = kube_ask(r->api, &q);
    str_done(&path);
}
