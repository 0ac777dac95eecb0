/* Owns the streams of an exec: output comes in frames, what is written to standard input goes as
 * it is. */
#include "runtime/docker/stream.h"

#include <string.h>

#include "base/mem.h"
#include "runtime/docker/frames.h"
#include "runtime/remote/tunnel.h"

enum { SWITCHING = 101, OK = 200, REFUSAL_MAX = 512 };

struct stream {
    struct engine *engine;
    struct tunnel *tunnel; /* NULL = it has ended */
    const struct stream_user *user;
    void *ctx;
    int status; /* of the response */
    struct frames frames;
    struct str complaint; /* what the program wrote to standard error, or why it was refused */
    bool busy;            /* bytes are being taken: free it afterwards */
};

/* ---- the end -------------------------------------------------------------------------- */

static void free_stream(struct stream *s)
{
    str_done(&s->complaint);
    free(s);
}

void stream_close(struct stream *s)
{
    if (!s)
        return;
    tunnel_close(s->tunnel);
    s->tunnel = NULL;
    if (!s->busy)
        free_stream(s);
}

/* The other side has hung up: what it said before that tells why. */
static void explain_end(const struct stream *s, struct err *err)
{
    char text[200];
    answer_read_error(s->complaint.n ? s->complaint.at : "", s->complaint.n, text, sizeof text);
    err_set(err, ERR_IO, "the connection to the conductor has ended%s%s", *text ? ": " : "", text);
}

static void closed(void *ctx, const struct err *why)
{
    struct stream *s = ctx;
    const struct stream_user *user = s->user;
    struct err err = *why;
    ctx = s->ctx;
    if (err.code == ERR_OK)
        explain_end(s, &err);
    s->tunnel = NULL;
    stream_close(s);
    user->closed(ctx, &err);
}

/* ---- bytes ----------------------------------------------------------------------------- */

static int agreed(void *ctx, const struct http_head *head, struct err *err)
{
    struct stream *s = ctx;
    (void)err;
    s->status = head->status; /* of a refusal the reason follows */
    return 0;
}

static void complain(struct stream *s, const char *bytes, size_t n)
{
    size_t room = s->complaint.n < REFUSAL_MAX ? REFUSAL_MAX - s->complaint.n : 0;
    str_add_n(&s->complaint, bytes, n < room ? n : room);
}

static void take_frame(void *ctx, enum frame_stream stream, const char *bytes, size_t n)
{
    struct stream *s = ctx;
    if (!s->tunnel)
        return;
    if (stream == FRAME_STDOUT)
        s->user->bytes(s->ctx, bytes, n);
    else
        complain(s, bytes, n);
}

static int take_bytes(void *ctx, const char *bytes, size_t n, struct err *err)
{
    struct stream *s = ctx;
    int rc = 0;
    if (s->status != SWITCHING && s->status != OK) {
        complain(s, bytes, n);
        return 0;
    }
    s->busy = true;
    rc = frames_feed(&s->frames, bytes, n, take_frame, s, err);
    s->busy = false;
    if (s->tunnel)
        return rc;
    free_stream(s); /* closed meanwhile */
    return 0;
}

static int explain(void *ctx, CURL *easy, CURLcode code, const char *detail, struct err *err)
{
    const struct stream *s = ctx;
    return engine_explain(s->engine, easy, code, detail, err);
}

void stream_send(struct stream *s, const char *bytes, size_t n)
{
    tunnel_send(s->tunnel, bytes, n);
}

/* ---- the beginning ---------------------------------------------------------------------- */

struct stream *stream_open(struct engine *e, const char *exec, const struct stream_user *user,
                           void *ctx)
{
    static const struct tunnel_user tunnel = {agreed, take_bytes, closed, explain};
    static const char body[] = "{\"Detach\":false,\"Tty\":false}";
    struct stream *s = xcalloc(1, sizeof *s);
    struct str url = {0}, path = {0}, request = {0};
    *s = (struct stream){.engine = e, .user = user, .ctx = ctx};
    str_addf(&path, "/exec/%s/start", exec);
    CURL *easy = engine_handle(e, path.at, false, &url);
    const char *host = strstr(url.at, "//") + 2, *target = strchr(host, '/');
    str_addf(&request,
             "POST %s HTTP/1.1\r\nHost: %.*s\r\nContent-Type: application/json\r\n"
             "Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: %zu\r\n\r\n%s",
             target, (int)(target - host), host, sizeof body - 1, body);
    s->tunnel = tunnel_open(engine_curl(e), easy, &request, &tunnel, s);
    str_done(&url);
    str_done(&path);
    str_done(&request);
    return s;
}
