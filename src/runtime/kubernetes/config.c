/* Owns the reading of kubeconfigs and service accounts. Several kubeconfigs are merged as kubectl
 * does it: of each name the first entry counts, and paths are relative to the file they are in. */
#include "runtime/kubernetes/config.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "runtime/kubernetes/yaml.h"

enum { FILE_MAX_BYTES = 4 << 20, FILES_MAX = 16 };

struct kubeconfig {
    json_t *at[FILES_MAX];
    const char *dir[FILES_MAX];
    size_t n;
};

/* ---- files --------------------------------------------------------------------------- */

static int read_file(const char *path, struct arena *a, const char **out, size_t *n,
                     struct err *err)
{
    struct str text = {0};
    char bytes[65536];
    FILE *f = fopen(path, "re");
    if (!f)
        return err_set(err, ERR_NOT_FOUND, "cannot read %s: %s", path, strerror(errno));
    for (size_t k; text.n <= FILE_MAX_BYTES && (k = fread(bytes, 1, sizeof bytes, f)) > 0;)
        str_add_n(&text, bytes, k);
    bool failed = ferror(f) || text.n > FILE_MAX_BYTES;
    fclose(f);
    if (!failed) {
        *out = arena_strndup(a, text.n ? text.at : "", text.n);
        *n = text.n;
    }
    str_done(&text);
    return failed ? err_set(err, ERR_IO, "cannot read %s, or it is too large", path) : 0;
}

/* The text of a small file without blanks around it. */
static int read_word(const char *path, struct arena *a, const char **out, struct err *err)
{
    const char *text;
    size_t n;
    if (read_file(path, a, &text, &n, err) < 0)
        return -1;
    *out = arena_strndup(a, text, strcspn(text, " \r\n"));
    return 0;
}

static const char *join(struct arena *a, const char *dir, const char *name)
{
    struct str path = {0};
    if (*name == '/' || !dir)
        return arena_strdup(a, name);
    str_addf(&path, "%s/%s", dir, name);
    const char *copy = arena_strdup(a, path.at);
    str_done(&path);
    return copy;
}

void kube_places_find(struct arena *a, struct kube_places *out)
{
    const char *named = getenv("KUBECONFIG"), *home = getenv("HOME");
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    *out = (struct kube_places){.account = "/var/run/secrets/kubernetes.io/serviceaccount"};
    if (named && *named)
        out->kubeconfig = arena_strdup(a, named);
    else if (home && *home)
        out->kubeconfig = join(a, home, ".kube/config");
    if (host && *host && port && *port) {
        out->host = arena_strdup(a, host);
        out->port = arena_strdup(a, port);
    }
}

static void free_kubeconfig(struct kubeconfig *k)
{
    for (size_t i = 0; i < k->n; i++)
        json_decref(k->at[i]);
}

static const char *directory_of(const char *path, struct arena *a)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_strndup(a, path, (size_t)(slash - path) + (slash == path)) : ".";
}

static int add_file(struct kubeconfig *k, const char *path, struct arena *a, struct err *err)
{
    const char *text;
    size_t n;
    if (k->n == FILES_MAX)
        return err_set(err, ERR_LIMIT, "KUBECONFIG names too many files");
    if (read_file(path, a, &text, &n, err) < 0)
        return err->code == ERR_NOT_FOUND ? 0 : -1; /* kubectl does not mind either */
    if (yaml_to_json(text, n, &k->at[k->n], err) < 0)
        return err_prefix(err, "%s", path);
    k->dir[k->n++] = directory_of(path, a);
    return 0;
}

static int add_files(struct kubeconfig *k, const char *paths, struct arena *a, struct err *err)
{
    while (*paths) {
        size_t n = strcspn(paths, ":");
        if (n && add_file(k, arena_strndup(a, paths, n), a, err) < 0)
            return -1;
        paths += n + (paths[n] == ':');
    }
    return 0;
}

/* ---- entries -------------------------------------------------------------------------- */

/* The entry of a list that has this name, and the directory that its paths are relative to. */
static const json_t *find_entry(const struct kubeconfig *k, const char *list, const char *name,
                                const char *kind, const char **dir)
{
    for (size_t i = 0; name && i < k->n; i++) {
        const json_t *all = json_object_get(k->at[i], list), *one;
        size_t at;
        json_array_foreach(all, at, one)
        {
            const char *own = json_string_value(json_object_get(one, "name"));
            if (own && !strcmp(own, name)) {
                *dir = k->dir[i];
                return json_object_get(one, kind);
            }
        }
    }
    return NULL;
}

static const char *text_of(const json_t *o, const char *name, struct arena *a)
{
    const char *text = json_string_value(json_object_get(o, name));
    return text && *text ? arena_strdup(a, text) : NULL;
}

/* "NAME-data" has the content in base64, NAME the path of a file. */
static int read_content(const json_t *o, const char *name, const char *data, const char *dir,
                        struct arena *a, const char **out, struct err *err)
{
    const char *encoded = json_string_value(json_object_get(o, data));
    const char *path = json_string_value(json_object_get(o, name));
    size_t n;
    if (encoded && *encoded) {
        gnutls_datum_t in = {(unsigned char *)encoded, (unsigned)strlen(encoded)}, got;
        if (gnutls_base64_decode2(&in, &got) < 0)
            return err_set(err, ERR_INVALID, "%s is not base64", data);
        *out = arena_strndup(a, (const char *)got.data, got.size);
        gnutls_free(got.data);
        return 0;
    }
    return path && *path ? read_file(join(a, dir, path), a, out, &n, err) : 0;
}

static const char **read_words(const json_t *list, struct arena *a)
{
    const char **words = ARENA_ARRAY(a, json_array_size(list) + 1, const char *);
    size_t i, n = 0;
    const json_t *v;
    json_array_foreach(list, i, v)
    {
        if (json_is_string(v))
            words[n++] = arena_strdup(a, json_string_value(v));
    }
    return words;
}

static const char **read_env(const json_t *list, struct arena *a)
{
    const char **env = ARENA_ARRAY(a, json_array_size(list) + 1, const char *);
    size_t i, n = 0;
    const json_t *v;
    json_array_foreach(list, i, v)
    {
        const char *name = json_string_value(json_object_get(v, "name"));
        const char *value = json_string_value(json_object_get(v, "value"));
        struct str line = {0};
        if (!name || !value)
            continue;
        str_addf(&line, "%s=%s", name, value);
        env[n++] = arena_strdup(a, line.at);
        str_done(&line);
    }
    return env;
}

static void read_plugin(const json_t *exec, const char *dir, struct arena *a,
                        struct kube_plugin *out)
{
    const char *command = json_string_value(json_object_get(exec, "command"));
    if (!command)
        return;
    /* A path with a slash is relative to the file; another is searched for. */
    out->command = strchr(command, '/') ? join(a, dir, command) : arena_strdup(a, command);
    out->args = read_words(json_object_get(exec, "args"), a);
    out->env = read_env(json_object_get(exec, "env"), a);
    out->version = text_of(exec, "apiVersion", a);
    out->hint = text_of(exec, "installHint", a);
}

static int read_cluster(const json_t *o, const char *dir, struct arena *a, struct kube_config *out,
                        struct err *err)
{
    const char *server = json_string_value(json_object_get(o, "server"));
    if (!server || (strncmp(server, "https://", 8) != 0 && strncmp(server, "http://", 7) != 0))
        return err_set(err, ERR_INVALID, "the server of the cluster must be https://HOST[:PORT]");
    size_t n = strlen(server);
    while (n && server[n - 1] == '/')
        n--;
    out->server = arena_strndup(a, server, n);
    out->insecure = json_is_true(json_object_get(o, "insecure-skip-tls-verify"));
    out->server_name = text_of(o, "tls-server-name", a);
    return read_content(o, "certificate-authority", "certificate-authority-data", dir, a, &out->ca,
                        err);
}

static int read_user(const json_t *o, const char *dir, struct arena *a, struct kube_config *out,
                     struct err *err)
{
    const char *file = json_string_value(json_object_get(o, "tokenFile"));
    if (json_object_get(o, "auth-provider"))
        return err_set(err, ERR_INVALID,
                       "auth-provider is not supported; use an exec plugin or a token");
    out->token = text_of(o, "token", a);
    out->token_file = file && *file ? join(a, dir, file) : NULL;
    out->user = text_of(o, "username", a);
    out->password = text_of(o, "password", a);
    read_plugin(json_object_get(o, "exec"), dir, a, &out->plugin);
    if (read_content(o, "client-certificate", "client-certificate-data", dir, a, &out->cert, err) <
        0)
        return -1;
    return read_content(o, "client-key", "client-key-data", dir, a, &out->key, err);
}

static const char *current_context(const struct kubeconfig *k)
{
    for (size_t i = 0; i < k->n; i++) {
        const char *name = json_string_value(json_object_get(k->at[i], "current-context"));
        if (name && *name)
            return name;
    }
    return NULL;
}

static int read_context(const struct kubeconfig *k, const char *name, struct arena *a,
                        struct kube_config *out, struct err *err)
{
    const char *dir = NULL, *cluster_dir = NULL, *user_dir = NULL;
    const json_t *context = find_entry(k, "contexts", name, "context", &dir);
    if (!context)
        return err_set(err, ERR_NOT_FOUND,
                       "the kubeconfig has no context '%s'; see "
                       "`kubectl config get-contexts`",
                       name);
    const char *cluster = json_string_value(json_object_get(context, "cluster"));
    const char *user = json_string_value(json_object_get(context, "user"));
    const json_t *c = find_entry(k, "clusters", cluster, "cluster", &cluster_dir);
    const json_t *u = find_entry(k, "users", user, "user", &user_dir);
    if (!c)
        return err_set(err, ERR_NOT_FOUND, "the kubeconfig has no cluster '%s'",
                       cluster ? cluster : "");
    out->name = arena_strdup(a, name);
    out->namespace = text_of(context, "namespace", a);
    if (read_cluster(c, cluster_dir, a, out, err) < 0 ||
        (u && read_user(u, user_dir, a, out, err) < 0))
        return err_prefix(err, "context %s", name);
    return 0;
}

/* ---- the service account ---------------------------------------------------------------- */

static int read_account(const struct kube_places *p, struct arena *a, struct kube_config *out,
                        struct err *err)
{
    struct str server = {0};
    size_t n;
    if (!p->host)
        return err_set(err, ERR_NOT_FOUND,
                       "this is not a pod of a cluster: KUBERNETES_SERVICE_HOST is not set");
    str_addf(&server, strchr(p->host, ':') ? "https://[%s]:%s" : "https://%s:%s", p->host, p->port);
    out->server = arena_strdup(a, server.at);
    str_done(&server);
    out->name = "in-cluster";
    out->token_file = join(a, p->account, "token");
    if (read_file(join(a, p->account, "ca.crt"), a, &out->ca, &n, err) < 0)
        return -1;
    return read_word(join(a, p->account, "namespace"), a, &out->namespace, err);
}

int kube_config_read(const struct kube_places *p, const char *context, struct arena *a,
                     struct kube_config *out, struct err *err)
{
    struct kubeconfig k = {0};
    struct kube_config c = {0};
    int rc = 0;
    bool own = context && !strcmp(context, "in-cluster");
    if (!own && p->kubeconfig)
        rc = add_files(&k, p->kubeconfig, a, err);
    if (rc == 0 && (own || (!context && !k.n && p->host))) {
        rc = read_account(p, a, &c, err);
    } else if (rc == 0) {
        const char *name = context ? context : current_context(&k);
        rc = name ? read_context(&k, name, a, &c, err)
                  : err_set(err, ERR_NOT_FOUND,
                            "there is no kubeconfig with a current context; set KUBECONFIG");
    }
    free_kubeconfig(&k);
    if (rc < 0)
        return -1;
    if (!c.namespace)
        c.namespace = "default";
    *out = c;
    return 0;
}
