/* Owns the start of an attempt: the image, the container, its files, and last the start itself.
 *
 * Creating the container is what can happen once only: a name that is taken means that the
 * attempt was started or is being started. The container is started by its id, never by its
 * name, so once it is removed no request that is late can start it (settle.c). */
#include "runtime/docker/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/docker/container.h"
#include "runtime/docker/files.h"
#include "runtime/docker/link.h"
#include "runtime/docker/node.h"
#include "runtime/docker/operations.h"
#include "runtime/docker/pull.h"

#define PULL_LIMIT (4 * 3600 * USEC_PER_SEC)

struct docker_start {
    struct arena arena;
    struct launch_spec spec;
    struct runtime_container container;
    const char *script;
    const char *checkpoints;
    bool pulling;
    struct pull pull;
};

void start_done(struct docker_start *s)
{
    if (!s)
        return;
    pull_done(&s->pull);
    arena_done(&s->arena);
    free(s);
}

const struct launch_spec *start_spec(const struct docker_start *s)
{
    return &s->spec;
}

const char *start_script(const struct docker_start *s)
{
    return s->script;
}

/* The attempt can never start, whatever is tried: its job fails with this reason. */
static void fault(struct docker_attempt *a, const struct err *err)
{
    snprintf(a->fault, sizeof a->fault, "%.*s", (int)sizeof a->fault - 1, err->text);
    docker_complete(a, err);
}

/* ---- the last steps -------------------------------------------------------------------- */

static void started(void *ctx, const struct engine_reply *r)
{
    struct docker_attempt *a = ctx;
    if (!docker_succeeded(a, r))
        return;
    a->ran = true;
    link_want(a);
    docker_complete(a, NULL);
}

static void uploaded(void *ctx, const struct engine_reply *r)
{
    struct docker_attempt *a = ctx;
    struct str path = {0};
    if (!docker_succeeded(a, r))
        return;
    str_addf(&path, "/containers/%s/start", a->container);
    docker_ask(a, &(struct engine_request){.method = "POST", .path = path.at, .done = started});
    str_done(&path);
}

static void upload(struct docker_attempt *a)
{
    struct str path = {0}, archive = {0};
    str_addf(&path, "/containers/%s/archive?path=/", a->container);
    files_pack(a->node->runtime, a->start, &archive);
    docker_ask(a, &(struct engine_request){.method = "PUT",
                                           .path = path.at,
                                           .type = "application/x-tar",
                                           .body = archive.at,
                                           .n = archive.n,
                                           .done = uploaded});
    str_done(&archive);
    str_done(&path);
}

/* ---- the container ------------------------------------------------------------------------ */

static void created(void *ctx, const struct engine_reply *r)
{
    struct docker_attempt *a = ctx;
    struct err err;
    a->call = NULL;
    if (r->err.code == ERR_OK && r->status == 409) {
        docker_complete(a, NULL); /* it was started before, or given up */
        return;
    }
    if (r->err.code == ERR_OK && r->status == 400) {
        (void)engine_check(r, &err);
        fault(a, &err);
        return;
    }
    if (engine_check(r, &err) < 0 || answer_read_id(r->body, r->n, a->container, &err) < 0)
        docker_complete(a, &err);
    else
        upload(a);
}

/* Takes as many GPUs of its node as it was given, the lowest that are free. */
static int take_gpus(struct docker_attempt *a, struct err *err)
{
    units_t wanted = a->op->size.gpus / UNIT, has = a->node->wanted.gpus / UNIT;
    for (int i = 0; i < CONTAINER_GPUS_MAX && i < has && wanted > 0; i++) {
        uint64_t bit = 1ULL << i;
        if (a->node->gpus_used & bit)
            continue;
        a->gpus |= bit;
        a->node->gpus_used |= bit;
        wanted--;
    }
    return wanted > 0 ? err_set(err, ERR_LIMIT, "not enough of its GPUs are free") : 0;
}

static void create(struct docker_attempt *a)
{
    struct docker_start *s = a->start;
    const struct runtime *r = a->node->runtime;
    struct err err;
    if (take_gpus(a, &err) < 0) {
        docker_complete(a, &err);
        return;
    }
    struct str body = {0}, path = {0}, volume = {0};
    str_addf(&volume, "trainyard-%s-%lld", r->yard, (long long)a->id.job);
    struct container_request q = {
        .id = a->id,
        .yard = r->yard,
        .container = &s->container,
        .size = &a->op->size,
        .node_cpus = node_cpus(a->node),
        .workdir = s->spec.workdir,
        .volume = !strcmp(s->checkpoints, CONTAINER_CHECKPOINTS) ? volume.at : NULL,
        .log_part = s->spec.log_max_bytes,
        .gpus = a->gpus};
    container_add_create(&q, &body);
    str_addf(&path, "/containers/create?name=%s", a->name);
    docker_ask(a, &(struct engine_request){
                      .method = "POST", .path = path.at, .body = body.at, .done = created});
    str_done(&volume);
    str_done(&path);
    str_done(&body);
}

/* ---- the image ------------------------------------------------------------------------------ */

/* The image's entry point goes before the job's command, or before the image's own one. */
static int complete_command(struct docker_start *s, const struct answer_image *image,
                            struct err *err)
{
    const char **second = s->spec.command[0] ? s->spec.command : image->command;
    size_t n = 0, k = 0;
    while (image->entrypoint[n])
        n++;
    while (second[k])
        k++;
    if (!n && !k)
        return err_set(err, ERR_INVALID, "the image %s has no command, and the job gives none",
                       s->container.image);
    const char **all = ARENA_ARRAY(&s->arena, n + k + 1, const char *);
    memcpy(all, image->entrypoint, n * sizeof *all);
    memcpy(all + n, second, k * sizeof *all);
    s->spec.command = all;
    if (!s->spec.workdir || !*s->spec.workdir)
        s->spec.workdir = *image->workdir == '/' ? image->workdir : "/";
    return 0;
}

static void pull_image(struct docker_attempt *a);

static void inspected(void *ctx, const struct engine_reply *r)
{
    struct docker_attempt *a = ctx;
    struct docker_start *s = a->start;
    struct answer_image image;
    struct err err;
    a->call = NULL;
    if (r->err.code == ERR_OK && r->status == 404 && !s->pulling) {
        pull_image(a);
        return;
    }
    if (engine_check(r, &err) < 0 ||
        answer_read_image(r->body, r->n, &s->arena, &image, &err) < 0) {
        docker_complete(a, &err);
        return;
    }
    if (complete_command(s, &image, &err) < 0)
        fault(a, &err);
    else
        create(a);
}

static void inspect_image(struct docker_attempt *a)
{
    struct str path = {0};
    str_addf(&path, "/images/%s/json", a->start->container.image);
    docker_ask(a, &(struct engine_request){.method = "GET", .path = path.at, .done = inspected});
    str_done(&path);
}

static void take_progress(void *ctx, const char *bytes, size_t n)
{
    struct docker_attempt *a = ctx;
    pull_feed(&a->start->pull, bytes, n);
}

/* An image that cannot be had is the job's fault; an engine that cannot be reached is not. */
static void pulled(void *ctx, const struct engine_reply *r)
{
    struct docker_attempt *a = ctx;
    const struct docker_start *s = a->start;
    struct runtime_host *h = a->node->runtime->host;
    struct err err;
    int rc = engine_check(r, &err);
    a->call = NULL;
    h->waits(h, a->id, NULL);
    a->op->deadline = docker_now(a->node->runtime) + 60 * USEC_PER_SEC;
    if (rc == 0 && s->pull.err.code == ERR_OK) {
        inspect_image(a);
        return;
    }
    if (r->err.code != ERR_OK) {
        docker_complete(a, &err);
        return;
    }
    struct err why = rc < 0 ? err : s->pull.err;
    err_set(&err, ERR_NOT_FOUND,
            "the image %.60s is not there and cannot be pulled: %.90s; load it with `docker load`",
            s->container.image, why.text);
    fault(a, &err);
}

static void add_auth(const char *image, struct str *header)
{
    struct arena arena = {0};
    struct endpoint_context c;
    struct str registry = {0}, path = {0}, config = {0};
    endpoint_context_read(&arena, &c);
    pull_registry(image, &registry);
    str_addf(&path, "%s/config.json", c.config_dir ? c.config_dir : "");
    FILE *f = fopen(path.at, "re");
    char bytes[4096];
    for (size_t n; f && (n = fread(bytes, 1, sizeof bytes, f)) > 0;)
        str_add_n(&config, bytes, n);
    if (f)
        fclose(f);
    if (config.n)
        pull_add_credentials(config.at, registry.at, header);
    str_done(&registry);
    str_done(&path);
    str_done(&config);
    arena_done(&arena);
}

static void pull_image(struct docker_attempt *a)
{
    struct docker_start *s = a->start;
    struct str path = {0}, name = {0}, tag = {0}, header = {0};
    s->pulling = s->pull.changed = true;
    pull_split(s->container.image, &name, &tag);
    str_addf(&path, "/images/create?fromImage=%s&tag=%s", name.at, tag.at);
    add_auth(s->container.image, &header);
    struct engine_request q = {.method = "POST",
                               .path = path.at,
                               .header = header.n ? header.at : NULL,
                               .limit = PULL_LIMIT,
                               .bytes = take_progress,
                               .done = pulled,
                               .ctx = a};
    a->call = engine_ask(a->node->engine, &q);
    str_done(&path);
    str_done(&name);
    str_done(&tag);
    str_done(&header);
}

bool start_has_news(const struct docker_attempt *a)
{
    return a->start && a->start->pulling && a->start->pull.changed;
}

void start_say_waits(struct docker_attempt *a)
{
    struct runtime_host *h = a->node->runtime->host;
    struct str text = {0};
    pull_describe(&a->start->pull, a->start->container.image, &text);
    h->waits(h, a->id, text.at);
    str_done(&text);
}

/* ---- the beginning --------------------------------------------------------------------------- */

static const char **copy_list(const char **from, struct arena *a)
{
    size_t n = 0;
    while (from && from[n])
        n++;
    const char **to = ARENA_ARRAY(a, n + 1, const char *);
    for (size_t i = 0; i < n; i++)
        to[i] = arena_strdup(a, from[i]);
    return to;
}

/* What the server passes is valid during the call only. */
static struct docker_start *copy_start(const struct runtime_start *from)
{
    struct docker_start *s = xcalloc(1, sizeof *s);
    struct arena *a = &s->arena;
    record_copy(&launch_spec_record, from->spec, a, &s->spec);
    s->container = (struct runtime_container){
        .image = arena_strdup(a, from->container->image),
        .mounts = copy_list(from->container->mounts, a),
        .ulimits = copy_list(from->container->ulimits, a),
        .shm_mb = from->container->shm_mb,
    };
    s->script = from->script ? arena_strdup(a, from->script) : NULL;
    s->checkpoints = arena_strdup(a, from->checkpoints);
    s->spec.socket = CONTAINER_SOCKET;
    s->spec.echo = s->spec.inherit = true;
    s->spec.malleable.probe = s->spec.malleable.library != NULL;
    return s;
}

void start_container(struct docker_attempt *a)
{
    a->op->pid = 0;
    if (a->ran) {
        docker_complete(a, NULL);
        return;
    }
    a->start = copy_start(a->op->start);
    inspect_image(a);
}
