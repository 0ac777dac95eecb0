/* Owns how the address of an engine is read, and where the docker client keeps such addresses. */
#include "runtime/docker/endpoint.h"

#include <dirent.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

#define DEFAULT_SOCKET "/var/run/docker.sock"

/* ---- addresses ---------------------------------------------------------------- */

static const char *join(struct arena *a, const char *x, const char *y)
{
    struct str s = {0};
    str_addf(&s, "%s%s", x, y);
    const char *copy = arena_strdup(a, s.at);
    str_done(&s);
    return copy;
}

/* Letters that can neither end a word of a command line nor begin an option. */
static bool is_host(const char *text, size_t n)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  ".-_@:[]%";
    return n && *text != '-' && strspn(text, allowed) >= n;
}

static bool is_port(const char *text)
{
    int64_t port;
    struct err err;
    return str_parse_int(text, 1, 65535, &port, &err) == 0;
}

static int bad(struct err *err, const char *address, const char *want)
{
    return err_set(err, ERR_INVALID, "'%.100s': expected %s", address, want);
}

static int parse_tcp(const char *address, const char *rest, const char *tls, struct arena *a,
                     struct endpoint *out, struct err *err)
{
    size_t n = strcspn(rest, "/");
    const char *host = arena_strndup(a, rest, n), *colon = strrchr(host, ':');
    if (!is_host(host, n) || rest[n + (rest[n] == '/')])
        return bad(err, address, "tcp://HOST:PORT");
    if (!colon || strchr(colon, ']'))
        host = join(a, host, tls ? ":2376" : ":2375");
    else if (!is_port(colon + 1))
        return bad(err, address, "a port from 1 to 65535");
    *out = (struct endpoint){.kind = ENDPOINT_TCP, .host = host, .tls = tls};
    return 0;
}

static int parse_ssh(const char *address, const char *rest, struct arena *a, struct endpoint *out,
                     struct err *err)
{
    size_t n = strcspn(rest, "/");
    char *host = arena_strndup(a, rest, n), *colon = strrchr(host, ':');
    struct endpoint e = {.kind = ENDPOINT_SSH, .host = host};
    if (colon && !strchr(colon, ']')) {
        *colon = '\0';
        e.port = colon + 1;
    }
    if (!is_host(host, strlen(host)) || (e.port && !is_port(e.port)))
        return bad(err, address, "ssh://[USER@]HOST[:PORT]");
    if (rest[n] && rest[n + 1])
        e.path = arena_strdup(a, rest + n);
    *out = e;
    return 0;
}

int endpoint_parse(const char *address, const char *tls, struct arena *a, struct endpoint *out,
                   struct err *err)
{
    static const char *const schemes[] = {"unix://", "tcp://", "https://", "ssh://"};
    size_t i = 0;
    while (i < COUNT_OF(schemes) && strncmp(address, schemes[i], strlen(schemes[i])) != 0)
        i++;
    if (i == COUNT_OF(schemes))
        return bad(err, address, "unix:///PATH, tcp://HOST:PORT or ssh://HOST");
    const char *rest = address + strlen(schemes[i]);
    if (tls && (i == 0 || i == 3))
        return err_set(err, ERR_INVALID, "'%.100s': certificates need a tcp:// address", address);
    if (i == 2 && !tls)
        return err_set(err, ERR_INVALID, "'%.100s': needs the directory of its certificates",
                       address);
    if (i == 3)
        return parse_ssh(address, rest, a, out, err);
    if (i > 0)
        return parse_tcp(address, rest, tls ? arena_strdup(a, tls) : NULL, a, out, err);
    if (*rest != '/')
        return bad(err, address, "an absolute path after unix://");
    *out = (struct endpoint){.kind = ENDPOINT_UNIX, .path = arena_strdup(a, rest)};
    return 0;
}

/* ---- the docker client's files -------------------------------------------------- */

void endpoint_context_read(struct arena *a, struct endpoint_context *out)
{
    const char *config = getenv("DOCKER_CONFIG"), *home = getenv("HOME");
    *out = (struct endpoint_context){.docker_host = getenv("DOCKER_HOST"),
                                     .docker_context = getenv("DOCKER_CONTEXT"),
                                     .cert_path = getenv("DOCKER_CERT_PATH"),
                                     .tls_verify = getenv("DOCKER_TLS_VERIFY"),
                                     .config_dir = config ? config
                                                   : home ? join(a, home, "/.docker")
                                                          : NULL};
}

/* The address in the description of a context, if it is the one of this name. */
static int take_context(const char *meta, const char *name, struct arena *a, const char **address)
{
    json_t *object = json_load_file(meta, 0, NULL);
    const json_t *docker = json_object_get(json_object_get(object, "Endpoints"), "docker");
    const char *is = json_string_value(json_object_get(object, "Name"));
    const char *host = json_string_value(json_object_get(docker, "Host"));
    bool found = is && host && !strcmp(is, name);
    if (found)
        *address = arena_strdup(a, host);
    json_decref(object);
    return found ? 0 : -1;
}

/* Contexts are in directories that are named by a hash; each says its name itself. */
static int find_context(const char *name, const struct endpoint_context *c, struct arena *a,
                        struct endpoint *out, struct err *err)
{
    const char *root = join(a, c->config_dir ? c->config_dir : "", "/contexts/meta");
    DIR *dir = opendir(root);
    const char *address = NULL, *tls = NULL;
    const struct dirent *e;
    while (dir && !address && (e = readdir(dir))) {
        if (*e->d_name == '.')
            continue;
        const char *meta = join(a, join(a, join(a, root, "/"), e->d_name), "/meta.json");
        if (take_context(meta, name, a, &address) == 0)
            tls = join(a, join(a, join(a, c->config_dir, "/contexts/tls/"), e->d_name), "/docker");
    }
    if (dir)
        closedir(dir);
    if (!address)
        return err_set(err, ERR_INVALID, "no docker context '%s'; `docker context ls` lists them",
                       name);
    return endpoint_parse(address, tls && access(tls, R_OK) == 0 ? tls : NULL, a, out, err);
}

/* As in the client: without a path, certificates are where its configuration is. */
static const char *certs(const struct endpoint_context *c)
{
    bool verify = c->tls_verify && *c->tls_verify;
    return c->cert_path && *c->cert_path ? c->cert_path : verify ? c->config_dir : NULL;
}

/* As in the client: the variables, the context of its configuration, the usual socket. */
static int find_default(const struct endpoint_context *c, struct arena *a, struct endpoint *out,
                        struct err *err)
{
    const char *name = c->docker_context;
    if (c->docker_host && *c->docker_host)
        return endpoint_parse(
            c->docker_host, strncmp(c->docker_host, "tcp", 3) == 0 ? certs(c) : NULL, a, out, err);
    if (!name && c->config_dir) {
        json_t *config = json_load_file(join(a, c->config_dir, "/config.json"), 0, NULL);
        const char *current = json_string_value(json_object_get(config, "currentContext"));
        name = current ? arena_strdup(a, current) : NULL;
        json_decref(config);
    }
    if (name && *name && strcmp(name, "default") != 0)
        return find_context(name, c, a, out, err);
    *out = (struct endpoint){.kind = ENDPOINT_UNIX, .path = DEFAULT_SOCKET};
    return 0;
}

int endpoint_resolve(const char *text, const char *tls, const struct endpoint_context *c,
                     struct arena *a, struct endpoint *out, struct err *err)
{
    static const char prefix[] = "context:";
    if (!strcmp(text, "default"))
        return find_default(c, a, out, err);
    if (!strncmp(text, prefix, sizeof prefix - 1))
        return find_context(text + sizeof prefix - 1, c, a, out, err);
    return endpoint_parse(text, tls, a, out, err);
}

const char *endpoint_machine(const struct endpoint *e, struct arena *a)
{
    const char *user = e->host ? strrchr(e->host, '@') : NULL;
    const char *host = user ? user + 1 : e->host;
    if (e->kind == ENDPOINT_UNIX || !host)
        return NULL;
    if (*host == '[') /* an IPv6 address */
        return arena_strndup(a, host + 1, strcspn(host + 1, "]"));
    return arena_strndup(a, host, e->kind == ENDPOINT_TCP ? strcspn(host, ":") : strlen(host));
}
