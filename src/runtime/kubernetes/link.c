/* Owns the connections to conductors: each is an exec of the relay in the pod. */
#include "runtime/kubernetes/link.h"

#include "runtime/kubernetes/exec.h"
#include "runtime/kubernetes/pod.h"

static void link_opened(void *ctx)
{
    struct kube_attempt *a = ctx;
    relay_link_opened(&a->link);
}

static void take_bytes(void *ctx, const char *bytes, size_t n)
{
    struct kube_attempt *a = ctx;
    relay_link_take(&a->link, bytes, n);
}

static void closed(void *ctx, const struct err *why)
{
    struct kube_attempt *a = ctx;
    (void)why; /* whoever looks at the pod finds out */
    a->exec = NULL;
    relay_link_closed(&a->link, a->state != KUBE_ENDED && (a->known || !a->runtime->swept));
}

static void link_connect(void *ctx)
{
    static const struct kube_exec_user user = {link_opened, take_bytes, closed};
    struct kube_attempt *a = ctx;
    struct str path = {0};
    if (!kube_api_ready(a->runtime->api)) {
        relay_link_closed(&a->link, true);
        return;
    }
    kube_add_pod_path(a->runtime, a->name,
                      "/exec?container=" KUBE_CONTAINER "&stdin=true&stdout=true&stderr=true"
                      "&command=" POD_CONDUCTOR "&command=link&command=" POD_ATTEMPT,
                      &path);
    a->exec = kube_exec_open(a->runtime->api, path.at, &user, a);
    str_done(&path);
}

static void link_write(void *ctx, const char *bytes, size_t n)
{
    const struct kube_attempt *a = ctx;
    kube_exec_send(a->exec, bytes, n);
}

static void link_hang_up(void *ctx)
{
    struct kube_attempt *a = ctx;
    kube_exec_close(a->exec);
    a->exec = NULL;
}

void kube_link_init(struct kube_attempt *a)
{
    static const struct relay_link_ops ops = {link_connect, link_write, link_hang_up};
    relay_link_init(&a->link, &ops, a, a->runtime, a->runtime->host, a->id);
}
