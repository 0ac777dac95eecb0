/* Owns the reading of a pull's progress, and of the docker client's credentials. */
#include "runtime/docker/pull.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { LINE_MAX_BYTES = 65536, LAYERS_MAX = 1000 };

/* ---- progress -------------------------------------------------------------------------- */

static struct pull_layer *find_layer(struct pull *p, const char *id)
{
    for (size_t i = 0; i < p->layers.n; i++)
        if (!strcmp(p->layers.at[i].id, id))
            return &p->layers.at[i];
    if (p->layers.n == LAYERS_MAX)
        return NULL;
    struct pull_layer new = {0};
    snprintf(new.id, sizeof new.id, "%s", id);
    VEC_PUSH(&p->layers, new);
    return &p->layers.at[p->layers.n - 1];
}

static void take_line(struct pull *p, const char *line, size_t n)
{
    struct answer_pull a;
    struct err err;
    if (n <= 1)
        return;
    if (answer_read_pull(line, n, &a, &err) < 0) {
        p->err = p->err.code == ERR_OK ? err : p->err;
        return;
    }
    if (strcmp(a.status, "Downloading") != 0 || a.total <= 0 || a.current < 0)
        return;
    struct pull_layer *layer = find_layer(p, a.layer);
    if (layer) {
        layer->current = a.current;
        layer->total = a.total;
        p->changed = true;
    }
}

void pull_feed(struct pull *p, const char *bytes, size_t n)
{
    while (n) {
        const char *newline = memchr(bytes, '\n', n);
        size_t part = newline ? (size_t)(newline - bytes) : n;
        if (p->line.n + part <= LINE_MAX_BYTES)
            str_add_n(&p->line, bytes, part);
        if (newline) {
            if (p->line.n)
                take_line(p, p->line.at, p->line.n);
            p->line.n = 0;
            part++;
        }
        bytes += part;
        n -= part;
    }
}

void pull_describe(struct pull *p, const char *image, struct str *out)
{
    double current = 0, total = 0;
    for (size_t i = 0; i < p->layers.n; i++) {
        current += (double)p->layers.at[i].current;
        total += (double)p->layers.at[i].total;
    }
    p->changed = false;
    out->n = 0;
    str_addf(out, "pulling the image %s", image);
    if (total > 0)
        str_addf(out, ": %.0f of %.0f MB", current / 1e6, total / 1e6);
}

void pull_done(struct pull *p)
{
    str_done(&p->line);
    VEC_DONE(&p->layers);
}

/* ---- names and credentials -------------------------------------------------------------- */

/* The first part of a name is a registry if it looks like a host. */
static size_t registry_length(const char *image)
{
    size_t n = strcspn(image, "/");
    bool host = image[n] && (memchr(image, '.', n) || memchr(image, ':', n) ||
                             (n == 9 && !strncmp(image, "localhost", n)));
    return host ? n : 0;
}

void pull_registry(const char *image, struct str *out)
{
    size_t n = registry_length(image);
    bool hub = (n == 9 && !strncmp(image, "docker.io", n)) ||
               (n == 15 && !strncmp(image, "index.docker.io", n));
    if (n && !hub)
        str_add_n(out, image, n);
    else
        str_add(out, "https://index.docker.io/v1/");
}

void pull_split(const char *image, struct str *name, struct str *tag)
{
    size_t registry = registry_length(image);
    const char *rest = image + registry, *at = strchr(rest, '@'), *colon = strrchr(rest, ':');
    const char *end = at ? at : colon && !strchr(colon, '/') ? colon : NULL;
    if (registry && colon == rest)
        end = NULL;
    str_add_n(name, image, end ? (size_t)(end - image) : strlen(image));
    str_add(tag, end && end[1] ? end + 1 : "latest");
}

static void add_base64url(struct str *out, const char *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)(unsigned char)bytes[i] << 16;
        v |= i + 1 < n ? (unsigned)(unsigned char)bytes[i + 1] << 8 : 0;
        v |= i + 2 < n ? (unsigned char)bytes[i + 2] : 0;
        char four[] = {digits[v >> 18], digits[v >> 12 & 63], i + 1 < n ? digits[v >> 6 & 63] : '=',
                       i + 2 < n ? digits[v & 63] : '='};
        str_add_n(out, four, 4);
    }
}

static int value_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static void add_decoded(struct str *out, const char *text)
{
    unsigned v = 0, bits = 0;
    for (; value_of(*text) >= 0; text++) {
        v = v << 6 | (unsigned)value_of(*text);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            str_add_n(out, &(char){(char)(v >> bits & 255)}, 1);
        }
    }
}

/* Takes the object over. */
static void add_header(json_t *who, struct str *out)
{
    AUTO_FREE char *text = who ? json_dumps(who, JSON_COMPACT) : NULL;
    if (text) {
        str_add(out, "X-Registry-Auth: ");
        add_base64url(out, text, strlen(text));
    }
    json_decref(who);
}

void pull_add_credentials(const char *config, const char *registry, struct str *out)
{
    json_t *v = json_loads(config, 0, NULL);
    const json_t *entry = json_object_get(json_object_get(v, "auths"), registry);
    const char *auth = json_string_value(json_object_get(entry, "auth"));
    struct str pair = {0};
    if (auth)
        add_decoded(&pair, auth);
    char *colon = pair.n ? strchr(pair.at, ':') : NULL;
    if (colon) {
        *colon = '\0';
        add_header(json_pack("{s:s, s:s, s:s}", "username", pair.at, "password", colon + 1,
                             "serveraddress", registry),
                   out);
    }
    str_done(&pair);
    json_decref(v);
}

/* A name of a file in PATH, nothing else: the configuration is the user's own. */
void pull_add_helper(const char *config, const char *registry, struct str *out)
{
    json_t *v = json_loads(config, 0, NULL);
    const json_t *one = json_object_get(json_object_get(v, "credHelpers"), registry);
    const char *name = json_string_value(one ? one : json_object_get(v, "credsStore"));
    if (name && *name && !strchr(name, '/'))
        str_addf(out, "docker-credential-%s", name);
    json_decref(v);
}

void pull_add_secret(const char *output, const char *registry, struct str *out)
{
    json_t *v = json_loads(output, 0, NULL);
    const char *name = json_string_value(json_object_get(v, "Username"));
    const char *secret = json_string_value(json_object_get(v, "Secret"));
    if (name && secret && !strcmp(name, "<token>"))
        add_header(json_pack("{s:s, s:s}", "identitytoken", secret, "serveraddress", registry),
                   out);
    else if (name && secret)
        add_header(json_pack("{s:s, s:s, s:s}", "username", name, "password", secret,
                             "serveraddress", registry),
                   out);
    json_decref(v);
}
