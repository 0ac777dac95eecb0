/* Owns the sending of folders: in parts, from where the server has left off, with progress on a
 * terminal. */
#include "cli/upload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/member.h"
#include "cli/pack.h"
#include "http/problem.h"

/* Below the server's limit of a request's body. */
enum { PART = 4 << 20 };

static void show_progress(const char *dir, const struct pack *p, int64_t sent)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\ruploading %s: %.1f of %.1f MB, %u files%s", dir, (double)sent / 1e6,
                (double)p->bytes / 1e6, p->files, sent == p->bytes ? "\n" : "");
}

static int send_part(struct server_link *l, const struct pack *p, int64_t at, char *room,
                     int64_t *next, struct err *err)
{
    char path[160];
    struct http_answer answer = {0};
    ssize_t n = pread(p->fd, room, PART, at);
    if (n <= 0)
        return err_set(err, ERR_IO, "cannot read the archive: %s", n ? strerror(errno) : "its end");
    snprintf(path, sizeof path, "/api/v1/uploads/%s?offset=%lld%s", p->digest, (long long)at,
             at + n == p->bytes ? "&last=1" : "");
    int rc = http_client_send(l->http, "PUT", path, "application/octet-stream", room, (size_t)n,
                              &answer, err);
    if (rc == 0 && answer.status != 200)
        rc = problem_to_err(answer.status, answer.body.at, answer.body.n, err);
    http_answer_done(&answer);
    if (rc == 0)
        *next = at + n;
    return rc;
}

static int send_pack(struct server_link *l, const char *dir, const struct pack *p, struct err *err)
{
    char path[100];
    json_auto_t *known = NULL;
    snprintf(path, sizeof path, "/uploads/%s", p->digest);
    if (server_link_get(l, path, &known, err) < 0)
        return -1;
    if (json_is_true(json_object_get(known, "complete")))
        return 0;
    AUTO_FREE char *room = xmalloc(PART);
    int64_t at = member_integer(known, "bytes");
    while (at < p->bytes) {
        show_progress(dir, p, at);
        if (send_part(l, p, at, room, &at, err) < 0)
            return -1;
    }
    show_progress(dir, p, at);
    return 0;
}

static int upload_folder(struct server_link *l, json_t *job, const char *dir, struct err *err)
{
    struct pack p;
    if (pack_make(dir, &p, err) < 0)
        return -1;
    int rc = send_pack(l, dir, &p, err);
    if (rc == 0)
        json_object_set_new(job, "upload", json_string(p.digest));
    pack_done(&p);
    return rc;
}

int upload_folders(struct server_link *l, json_t *jobs, struct err *err)
{
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        json_t *job = json_array_get(jobs, i);
        AUTO_FREE char *dir = xstrdup(member_text(job, "upload"));
        if (*dir && !digest_is(dir) && upload_folder(l, job, dir, err) < 0)
            return -1;
    }
    return 0;
}
