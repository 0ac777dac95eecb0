/* Owns the start of an attempt: the image, the container, its files, and last the start itself.
 *
 * Creating the container is what can happen once only: a name that is taken means that the
 * attempt was started or is being started. The container is started by its id, never by its
 * name, so once it is removed no request that is late can start it (settle.c). */
#include "runtime/docker/start.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/url.h"
#include "runtime/docker/bring.h"
#include "runtime/docker/container.h"
#include "runtime/docker/files.h"
#include "runtime/docker/image.h"
#include "runtime/docker/node.h"
#include "runtime/docker/operations.h"

#define UPLOAD_LIMIT (4 * 3600 * USEC_PER_SEC)
#define AFTER_UPLOAD (60 * USEC_PER_SEC)

struct docker_start {
    struct arena arena;
    struct launch_spec spec;
    struct runtime_container container;
    const char *script;
    const char *checkpoints;
    uint32_t home, bring_home; /* as in struct runtime_start */
    const char *bring_from;
    const char *volume, *bring_volume; /* NULL = none */
    struct bring *bring;
    struct image_search image;
    int64_t upload_bytes, uploaded; /* of the job's files */
    bool uploading, upload_news, files_there;
};

void start_done(struct docker_start *s)
{
    if (!s)
        return;
    bring_cancel(s->bring);
    image_done(&s->image);
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

const char *start_home(const struct docker_start *s)
{
    return s->volume ? s->checkpoints : NULL;
}

/* Nothing is known of what the engine has done: the server settles that. */
void start_abort(struct docker_attempt *a)
{
    struct err err;
    struct runtime_host *h = a->node->runtime->host;
    call_cancel(a->call);
    a->call = NULL;
    h->waits(h, a->id, NULL);
    err_set(&err, ERR_UNREACHABLE, "the node was lost while the job started");
    docker_complete(a, &err);
}

/* The attempt can never start, whatever is tried: its job fails with this reason. */
static void fault(struct docker_attempt *a, const struct err *err)
{
    snprintf(a->fault, sizeof a->fault, "%.*s", (int)sizeof a->fault - 1, err->text);
    docker_complete(a, err);
}

/* ---- the last steps -------------------------------------------------------------------- */

static void started(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    struct err err;
    if (a->gpus && r->err.code == ERR_OK && engine_check(r, &err) < 0 &&
        strstr(err.text, "could not select device driver"))
        node_lose_gpus(a->node);
    if (!docker_succeeded(a, r))
        return;
    a->ran = true;
    if (a->start->bring_volume)
        bring_remove_source(a, a->start->bring_from, a->start->bring_volume);
    relay_link_want(&a->link);
    docker_complete(a, NULL);
}

static void run_container(struct docker_attempt *a)
{
    struct str path = {0};
    str_addf(&path, "/containers/%s/start", a->container);
    docker_ask(a, &(struct engine_request){.method = "POST", .path = path.at, .done = started});
    str_done(&path);
}

static void upload(struct docker_attempt *a);

/* ---- the job's files --------------------------------------------------------------------- */

static void note_sent(void *ctx, int64_t bytes)
{
    struct docker_start *s = ((struct docker_attempt *)ctx)->start;
    s->uploaded = bytes;
    s->upload_news = true;
}

static void files_sent(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    struct runtime_host *h = a->node->runtime->host;
    a->start->uploading = a->start->upload_news = false;
    a->op->deadline = docker_now(a->node->runtime) + AFTER_UPLOAD;
    h->waits(h, a->id, NULL);
    a->start->files_there = true;
    if (docker_succeeded(a, r))
        upload(a); /* again: its conductor compares the age of our files with the time */
}

/* It has no deadline: the engine may be at the end of a slow line. */
static void send_files(struct docker_attempt *a)
{
    struct docker_start *s = a->start;
    struct str path = {0};
    struct stat st;
    struct err err;
    int fd = open(s->container.upload, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0) {
        if (fd >= 0)
            close(fd);
        err_set(&err, ERR_NOT_FOUND, "the uploaded files no longer exist");
        fault(a, &err);
        return;
    }
    s->uploading = s->upload_news = true;
    s->upload_bytes = st.st_size;
    str_addf(&path, "/containers/%s/archive?path=", a->container);
    url_add_escaped(&path, s->spec.workdir);
    struct engine_request q = {.method = "PUT",
                               .path = path.at,
                               .type = "application/x-tar",
                               .file = fd,
                               .file_bytes = st.st_size,
                               .limit = UPLOAD_LIMIT,
                               .sent = note_sent,
                               .done = files_sent,
                               .ctx = a};
    a->call = engine_ask(a->node->engine, &q);
    str_done(&path);
}

static void uploaded(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    if (!docker_succeeded(a, r))
        return;
    if (a->start->container.upload && !a->start->files_there)
        send_files(a);
    else
        run_container(a);
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

/* ---- checkpoints ------------------------------------------------------------------------- */

/* The files of the attempt come last: its conductor compares their age with the time. */
static void brought(struct docker_attempt *a, const struct err *err)
{
    struct docker_start *s = a->start;
    bring_cancel(s->bring);
    s->bring = NULL;
    a->op->deadline = docker_now(a->node->runtime) + 60 * USEC_PER_SEC;
    if (err)
        docker_complete(a, err);
    else
        upload(a);
}

static void bring(struct docker_attempt *a)
{
    struct docker_start *s = a->start;
    s->bring = bring_begin(a, &(struct bring_request){.from = s->bring_from,
                                                      .volume = s->bring_volume,
                                                      .image = s->container.image,
                                                      .checkpoints = s->checkpoints,
                                                      .done = brought});
}

struct bring *start_bring(const struct docker_attempt *a)
{
    return a->start ? a->start->bring : NULL;
}

static const char *name_volume(struct docker_attempt *a, uint32_t home)
{
    struct str name = {0};
    str_addf(&name, "trainyard-%s-%lld-%u", a->node->runtime->yard, (long long)a->id.job, home);
    const char *copy = arena_strdup(&a->start->arena, name.at);
    str_done(&name);
    return copy;
}

/* Checkpoints are in a volume, unless the job has them on one of its mounts. */
static void find_volumes(struct docker_attempt *a)
{
    struct docker_start *s = a->start;
    if (container_mounts_path(&s->container, s->checkpoints))
        return;
    s->volume = name_volume(a, s->home ? s->home : a->id.n);
    if (s->bring_from)
        s->bring_volume = name_volume(a, s->bring_home);
}

/* ---- the container ------------------------------------------------------------------------ */

static void created(void *ctx, const struct call_reply *r)
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
    else if (a->start->bring_volume)
        bring(a);
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
    return wanted > 0 ? err_set(err, ERR_LIMIT, "the node has too few free GPUs") : 0;
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
    struct str body = {0}, path = {0};
    struct container_request q = {.id = a->id,
                                  .yard = r->yard,
                                  .container = &s->container,
                                  .size = &a->op->size,
                                  .node_cpus = node_cpus(a->node),
                                  .workdir = s->spec.workdir,
                                  .volume = s->volume,
                                  .checkpoints = s->checkpoints,
                                  .log_part = s->spec.log_max_bytes,
                                  .gpus = a->gpus};
    container_add_create(&q, &body);
    str_addf(&path, "/containers/create?name=%s", a->name);
    docker_ask(a, &(struct engine_request){
                      .method = "POST", .path = path.at, .body = body.at, .done = created});
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
        s->spec.workdir = s->container.upload      ? CONTAINER_WORK
                          : *image->workdir == '/' ? image->workdir
                                                   : "/";
    return 0;
}

static void image_found(struct docker_attempt *a, const struct answer_image *image)
{
    struct err err;
    if (complete_command(a->start, image, &err) < 0)
        fault(a, &err);
    else
        create(a);
}

static void image_missing(struct docker_attempt *a, const struct err *err, bool never)
{
    if (never)
        fault(a, err);
    else
        docker_complete(a, err);
}

struct image_search *start_image(struct docker_attempt *a)
{
    return &a->start->image;
}

bool start_has_news(const struct docker_attempt *a)
{
    return a->start && (a->start->upload_news || image_has_news(&a->start->image));
}

void start_say_waits(struct docker_attempt *a)
{
    struct runtime_host *h = a->node->runtime->host;
    struct docker_start *s = a->start;
    char text[160];
    if (!s->uploading) {
        image_say_news(&s->image);
        return;
    }
    s->upload_news = false;
    snprintf(text, sizeof text, "copying its files to %.80s: %.1f of %.1f MB", a->node->wanted.name,
             (double)s->uploaded / 1e6, (double)s->upload_bytes / 1e6);
    h->waits(h, a->id, text);
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* What the server passes is valid during the call only. */
static struct docker_start *copy_start(const struct runtime_start *from)
{
    struct docker_start *s = xcalloc(1, sizeof *s);
    struct arena *a = &s->arena;
    record_copy(&launch_spec_record, from->spec, a, &s->spec);
    s->container = runtime_container_copy(from->container, a);
    s->script = from->script ? arena_strdup(a, from->script) : NULL;
    s->checkpoints = arena_strdup(a, from->checkpoints);
    s->home = from->home;
    s->bring_home = from->bring_home;
    s->bring_from = from->bring_from ? arena_strdup(a, from->bring_from) : NULL;
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
    struct docker_start *s = a->start = copy_start(a->op->start);
    find_volumes(a);
    s->image = (struct image_search){.attempt = a,
                                     .image = s->container.image,
                                     .arena = &s->arena,
                                     .found = image_found,
                                     .missing = image_missing};
    image_find(&s->image);
}
