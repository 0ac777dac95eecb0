/* Owns the search for an image: a look at the node, then a pull with the credentials that the
 * docker client of the server's user has, from its file or from the helper that the file names. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "runtime/docker/image.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "runtime/docker/helper.h"
#include "runtime/docker/operations.h"
#include "runtime/docker/start.h"

#define PULL_LIMIT (4 * 3600 * USEC_PER_SEC)
#define HELPER_LIMIT (30 * USEC_PER_SEC)
#define AFTER_PULL (60 * USEC_PER_SEC)

/* ---- a look ------------------------------------------------------------------------------- */

static void find_credentials(struct image_search *s);

static void inspected(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    struct image_search *s = start_image(a);
    struct answer_image image;
    struct err err;
    a->call = NULL;
    if (r->err.code == ERR_OK && r->status == 404 && !s->pulling)
        find_credentials(s);
    else if (engine_check(r, &err) < 0 ||
             answer_read_image(r->body, r->n, s->arena, &image, &err) < 0)
        s->missing(a, &err, false);
    else
        s->found(a, &image);
}

void image_find(struct image_search *s)
{
    struct str path = {0};
    str_addf(&path, "/images/%s/json", s->image);
    docker_ask(s->attempt,
               &(struct engine_request){.method = "GET", .path = path.at, .done = inspected});
    str_done(&path);
}

/* ---- the pull ------------------------------------------------------------------------------- */

static void take_progress(void *ctx, const char *bytes, size_t n)
{
    pull_feed(&start_image(ctx)->pull, bytes, n);
}

/* An image that cannot be had is the job's fault; an engine that cannot be reached is not. */
static void pulled(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    struct image_search *s = start_image(a);
    struct runtime_host *h = a->node->runtime->host;
    struct err err;
    int rc = engine_check(r, &err);
    a->call = NULL;
    h->waits(h, a->id, NULL);
    a->op->deadline = docker_now(a->node->runtime) + AFTER_PULL;
    if (rc == 0 && s->pull.err.code == ERR_OK) {
        image_find(s);
        return;
    }
    if (r->err.code != ERR_OK) {
        s->missing(a, &err, false);
        return;
    }
    struct err why = rc < 0 ? err : s->pull.err;
    err_set(&err, ERR_NOT_FOUND,
            "cannot pull the image %.50s: %.110s%s%.60s; log in, or load it with `docker load`",
            s->image, why.text, *s->complaint ? "; " : "", s->complaint);
    s->missing(a, &err, true);
}

static void pull(struct image_search *s, const char *header)
{
    struct docker_attempt *a = s->attempt;
    struct str path = {0}, name = {0}, tag = {0};
    s->pulling = s->pull.changed = true;
    pull_split(s->image, &name, &tag);
    str_addf(&path, "/images/create?fromImage=%s&tag=%s", name.at, tag.at);
    struct engine_request q = {.method = "POST",
                               .path = path.at,
                               .header = header,
                               .limit = PULL_LIMIT,
                               .bytes = take_progress,
                               .done = pulled,
                               .ctx = a};
    a->call = engine_ask(a->node->engine, &q);
    str_done(&path);
    str_done(&name);
    str_done(&tag);
}

bool image_has_news(const struct image_search *s)
{
    return s->pulling && s->pull.changed;
}

void image_say_news(struct image_search *s)
{
    struct runtime_host *h = s->attempt->node->runtime->host;
    struct str text = {0};
    pull_describe(&s->pull, s->image, &text);
    h->waits(h, s->attempt->id, text.at);
    str_done(&text);
}

/* ---- credentials ------------------------------------------------------------------------------
 */

static void read_file(const char *path, struct str *out)
{
    FILE *f = fopen(path, "re");
    char bytes[4096];
    for (size_t n; f && (n = fread(bytes, 1, sizeof bytes, f)) > 0;)
        str_add_n(out, bytes, n);
    if (f)
        fclose(f);
}

/* Without them the pull may work as well: the registry decides. */
static void helped(void *ctx, struct helper *p, int code, const char *output, const char *complaint)
{
    struct image_search *s = ctx;
    struct str registry = {0}, header = {0};
    (void)p;
    s->helper = NULL;
    pull_registry(s->image, &registry);
    if (code == 0)
        pull_add_secret(output, registry.at, &header);
    if (!header.n)
        snprintf(s->complaint, sizeof s->complaint, "%s", *output ? output : complaint);
    s->complaint[strcspn(s->complaint, "\r\n")] = '\0';
    pull(s, header.n ? header.at : NULL);
    str_done(&registry);
    str_done(&header);
}

/* The helper reads the registry's name from its standard input. */
static int ask_helper(struct image_search *s, const char *name, const char *registry)
{
    char *words[] = {xstrdup(name), "get", NULL};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        free(words[0]);
        return -1;
    }
    (void)!write(ends[1], registry, strlen(registry)); /* it fits into the pipe */
    close(ends[1]);
    s->helper = helper_start(s->attempt->node->runtime->host->loop, words, ends[0], -1,
                             HELPER_LIMIT, &(struct helper_user){helped, s});
    close(ends[0]);
    free(words[0]);
    return 0;
}

static void find_credentials(struct image_search *s)
{
    struct arena arena = {0};
    struct endpoint_context c;
    struct str registry = {0}, path = {0}, config = {0}, helper = {0}, header = {0};
    endpoint_context_read(&arena, &c);
    pull_registry(s->image, &registry);
    str_addf(&path, "%s/config.json", c.config_dir ? c.config_dir : "");
    read_file(path.at, &config);
    if (config.n)
        pull_add_helper(config.at, registry.at, &helper);
    if (config.n && !helper.n)
        pull_add_credentials(config.at, registry.at, &header);
    if (!helper.n || ask_helper(s, helper.at, registry.at) < 0)
        pull(s, header.n ? header.at : NULL);
    str_done(&registry);
    str_done(&path);
    str_done(&config);
    str_done(&helper);
    str_done(&header);
    arena_done(&arena);
}

void image_done(struct image_search *s)
{
    helper_stop(s->helper);
    pull_done(&s->pull);
}
