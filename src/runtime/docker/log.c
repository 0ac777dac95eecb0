/* Owns the logs of attempts. While a container runs, its conductor sends the log through the
 * link. Afterwards its parts are read from the container through the engine's archives: byte i is
 * in log.(i / size + 1), or in `log` if there is no such file (protocol/logfile.h). */
#include "runtime/docker/log.h"

#include <stdio.h>
#include <string.h>

#include "protocol/exit_record.h"
#include "runtime/docker/container.h"
#include "runtime/docker/tar.h"

#define CALL_LIMIT (60 * USEC_PER_SEC)
/* A part of a log has 100 MB. */
#define PART_LIMIT (1800 * USEC_PER_SEC)

struct log_reading {
    int64_t part_size;
    int64_t part; /* that is being read, from 0; */
    bool newest;  /* it is the file `log` */
    int64_t base; /* offset of the next byte that comes */
    struct tar_reader tar;
    struct err err;
};

void log_cancel(struct docker_attempt *a)
{
    call_cancel(a->log_call);
    a->log_call = NULL;
    free(a->reading);
    a->reading = NULL;
}

static void complete(struct docker_attempt *a)
{
    struct runtime_host *h = a->node->runtime->host;
    int64_t end = a->link.log_offset;
    log_cancel(a);
    a->link.log_offset = -1;
    h->log(h, a->id, end, NULL, 0);
}

/* ---- parts ---------------------------------------------------------------------------------- */

static void take_content(void *ctx, const char *name, const char *bytes, size_t n)
{
    struct docker_attempt *a = ctx;
    struct log_reading *l = a->reading;
    struct runtime_host *h = a->node->runtime->host;
    int64_t known = a->link.log_offset - l->base;
    (void)name;
    l->base += (int64_t)n;
    if (known >= (int64_t)n || !n)
        return;
    size_t skip = known > 0 ? (size_t)known : 0;
    a->link.log_offset = l->base;
    h->log(h, a->id, l->base - (int64_t)n + (int64_t)skip, bytes + skip, n - skip);
}

static void take_bytes(void *ctx, const char *bytes, size_t n)
{
    struct docker_attempt *a = ctx;
    struct log_reading *l = a->reading;
    if (l->err.code == ERR_OK)
        (void)tar_feed(&l->tar, bytes, n, take_content, a, &l->err);
}

static void read_part(struct docker_attempt *a);

static void part_read(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    struct log_reading *l = a->reading;
    struct err err = {.code = ERR_OK};
    a->log_call = NULL;
    if (engine_check(r, &err) < 0 && err.code != ERR_NOT_FOUND) {
        log_cancel(a); /* the server asks again */
    } else if (l->newest) {
        complete(a);
    } else if (err.code == ERR_NOT_FOUND) {
        l->newest = true;
        read_part(a);
    } else {
        l->part++;
        read_part(a);
    }
}

static void read_part(struct docker_attempt *a)
{
    struct log_reading *l = a->reading;
    struct str path = {0};
    l->base = l->part * l->part_size;
    l->tar = (struct tar_reader){0};
    str_addf(&path, "/containers/%s/archive?path=%s/log", a->name, CONTAINER_ATTEMPT);
    if (!l->newest)
        str_addf(&path, ".%lld", (long long)l->part + 1);
    struct engine_request q = {.method = "GET",
                               .path = path.at,
                               .limit = PART_LIMIT,
                               .bytes = take_bytes,
                               .done = part_read,
                               .ctx = a};
    a->log_call = engine_ask(a->node->engine, &q);
    str_done(&path);
}

/* ---- where it is -------------------------------------------------------------------------------
 */

static void inspected(void *ctx, const struct call_reply *r)
{
    struct docker_attempt *a = ctx;
    struct answer_container c;
    struct err err;
    a->log_call = NULL;
    if (r->err.code == ERR_OK && r->status == 404) {
        complete(a); /* it went with the container */
        return;
    }
    if (engine_check(r, &err) < 0 || answer_read_container(r->body, r->n, &c, &err) < 0)
        return; /* the server asks again */
    if (c.state == CONTAINER_RUNNING) {
        relay_link_want(&a->link);
        return;
    }
    a->reading = xcalloc(1, sizeof *a->reading);
    a->reading->part_size = c.log_part ? c.log_part : INT64_MAX / 4;
    a->reading->part = a->link.log_offset / a->reading->part_size;
    read_part(a);
}

void log_fetch(struct runtime *r, struct attempt_id id, const char *node, int64_t offset)
{
    struct docker_attempt *a = docker_find(r, id);
    struct str path = {0};
    (void)node;
    if (!a || a->log_call)
        return;
    a->link.log_offset = offset;
    if (relay_link_ask_log(&a->link))
        return;
    str_addf(&path, "/containers/%s/json", a->name);
    struct engine_request q = {
        .method = "GET", .path = path.at, .limit = CALL_LIMIT, .done = inspected, .ctx = a};
    a->log_call = engine_ask(a->node->engine, &q);
    str_done(&path);
}
