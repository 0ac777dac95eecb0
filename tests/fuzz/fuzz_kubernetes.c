/* Owns the fuzzing of what is read from an API server, a kubeconfig and a plugin. Whatever the
 * bytes are, a reader says yes or no. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kubernetes/credentials.h"
#include "runtime/kubernetes/exec.h"
#include "runtime/kubernetes/objects.h"
#include "runtime/kubernetes/quantity.h"
#include "runtime/kubernetes/yaml.h"
#include "server/kubernetes/resource.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_resource(const json_t *v)
{
    struct resource r;
    if (!resource_read(v, &r))
        return;
    struct resource_news news = {.job = r.spec, .problem = "", .generation = r.generation};
    json_decref(resource_request(&r));
    json_decref(resource_finalizer_patch(v, true));
    json_auto_t *status = resource_status(&news, r.status);
    (void)resource_status_urgent(r.status, status);
    json_decref(resource_event(&r, "ns", status, news.now));
}

static void read_objects(const char *text, size_t n)
{
    json_auto_t *v = json_loadb(text, n, 0, NULL);
    struct kube_node_info node;
    struct kube_use use;
    struct kube_pod pod;
    if (!v)
        return;
    kube_node_read(v, v, &node);
    kube_use_read(v, &use);
    kube_pod_read(v, &pod);
    read_resource(v);
}

static void read_credentials(const char *text, size_t n)
{
    char *token, *cert, *key;
    usec_t expires;
    struct err err;
    if (credentials_parse(text, n, &token, &cert, &key, &expires, &err) < 0)
        return;
    free(token);
    free(cert);
    free(key);
}

static void read_texts(const char *text)
{
    struct err err;
    double amount;
    (void)kube_exec_check(text, "key", &err);
    (void)quantity_parse(text, &amount);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    json_t *v = NULL;
    struct err err;
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    read_objects(text, size);
    read_credentials(text, size);
    read_texts(text);
    if (yaml_to_json(text, size, &v, &err) == 0)
        json_decref(v);
    free(text);
    return 0;
}
