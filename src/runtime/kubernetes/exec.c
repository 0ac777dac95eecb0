/* Owns WebSockets to the API server: libcurl connects and encrypts (remote/tunnel.h), wslay frames.
 * Each message begins with a byte for its channel. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "runtime/kubernetes/exec.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <wslay/wslay.h>

#include "base/mem.h"
#include "runtime/remote/tunnel.h"

#define PROTOCOL "v4.channel.k8s.io"
enum { STDIN, STDOUT, STDERR, ERROR, CHANNELS };
enum { SWITCHING = 101, KEY_BYTES = 16, PART = 16384, COMPLAINT_MAX = 512, SHA1_BYTES = 20 };

struct kube_exec {
    struct tunnel *tunnel; /* NULL = it has ended */
    struct kube_api *api;
    wslay_event_context_ptr frames;
    const struct kube_exec_user *user;
    void *ctx;
    char key[64];
    int status;           /* of the response */
    struct str in;        /* came, not read by wslay yet */
    size_t taken;         /* of it */
    struct str complaint; /* standard error, or why it was refused */
    bool busy, over;      /* it is being read: free it afterwards */
};

/* ---- the handshake ---------------------------------------------------------------------- */

static void encode_base64(const void *bytes, size_t n, char *out, size_t size)
{
    gnutls_datum_t in = {(unsigned char *)bytes, (unsigned)n}, text;
    *out = '\0';
    if (gnutls_base64_encode2(&in, &text) < 0)
        return;
    snprintf(out, size, "%.*s", (int)text.size, (const char *)text.data);
    gnutls_free(text.data);
}

/* What the server must answer to the key (RFC 6455, 4.2.2). */
static void accept_of(const char *key, char *out, size_t size)
{
    char text[128];
    unsigned char hash[SHA1_BYTES];
    int n = snprintf(text, sizeof text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    *out = '\0';
    if (gnutls_hash_fast(GNUTLS_DIG_SHA1, text, (size_t)n, hash) == 0)
        encode_base64(hash, sizeof hash, out, size);
}

/* The value of a header, as far as the end of its line; NULL = it is not there. */
static const char *find_header(const char *head, const char *name, size_t *n)
{
    size_t length = strlen(name);
    for (const char *line = strchr(head, '\n'); line; line = strchr(line + 1, '\n')) {
        const char *p = line + 1;
        if (strncasecmp(p, name, length) != 0 || p[length] != ':')
            continue;
        p += length + 1;
        p += strspn(p, " \t");
        *n = strcspn(p, " \t\r\n");
        return p;
    }
    return NULL;
}

static bool has_header(const char *head, const char *name, const char *value)
{
    size_t n = 0;
    const char *found = find_header(head, name, &n);
    return found && n == strlen(value) && !strncmp(found, value, n);
}

int kube_exec_check(const char *head, const char *key, struct err *err)
{
    char accept[64];
    accept_of(key, accept, sizeof accept);
    if (!has_header(head, "Sec-WebSocket-Accept", accept))
        return err_set(err, ERR_INVALID, "the API server does not agree to a WebSocket");
    if (!has_header(head, "Sec-WebSocket-Protocol", PROTOCOL))
        return err_set(err, ERR_INVALID, "the API server does not speak " PROTOCOL);
    return 0;
}

/* ---- the end ---------------------------------------------------------------------------- */

static void free_exec(struct kube_exec *e)
{
    wslay_event_context_free(e->frames);
    str_done(&e->in);
    str_done(&e->complaint);
    free(e);
}

void kube_exec_close(struct kube_exec *e)
{
    if (!e || e->over)
        return;
    e->over = true;
    tunnel_close(e->tunnel);
    e->tunnel = NULL;
    if (!e->busy)
        free_exec(e);
}

/* What was said before the end tells why. */
static void explain_end(struct kube_exec *e, struct err *err)
{
    str_add_n(&e->complaint, "", 1);
    json_auto_t *v = json_loads(e->complaint.at, 0, NULL);
    const char *text = json_string_value(json_object_get(v, "message"));
    err_set(err, ERR_IO, "the connection to the conductor has ended: %.180s",
            text ? text : e->complaint.at);
}

static void end(struct kube_exec *e, const struct err *why)
{
    const struct kube_exec_user *user = e->user;
    void *ctx = e->ctx;
    struct err err = *why;
    if (e->over)
        return;
    if (err.code == ERR_OK)
        explain_end(e, &err);
    kube_exec_close(e);
    user->closed(ctx, &err);
}

static void on_closed(void *ctx, const struct err *why)
{
    struct kube_exec *e = ctx;
    e->tunnel = NULL;
    end(e, why);
}

/* ---- frames ------------------------------------------------------------------------------- */

static ssize_t read_frames(wslay_event_context_ptr c, uint8_t *buf, size_t n, int flags, void *ctx)
{
    struct kube_exec *e = ctx;
    size_t left = e->in.n - e->taken, part = n < left ? n : left;
    (void)flags;
    if (!part) {
        wslay_event_set_error(c, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    memcpy(buf, e->in.at + e->taken, part);
    e->taken += part;
    return (ssize_t)part;
}

static ssize_t write_frames(wslay_event_context_ptr c, const uint8_t *bytes, size_t n, int flags,
                            void *ctx)
{
    struct kube_exec *e = ctx;
    (void)c;
    (void)flags;
    if (e->tunnel)
        tunnel_send(e->tunnel, (const char *)bytes, n);
    return (ssize_t)n;
}

static int make_mask(wslay_event_context_ptr c, uint8_t *bytes, size_t n, void *ctx)
{
    (void)ctx;
    if (getrandom(bytes, n, 0) == (ssize_t)n)
        return 0;
    wslay_event_set_error(c, WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static void complain(struct kube_exec *e, const char *bytes, size_t n)
{
    size_t room = e->complaint.n < COMPLAINT_MAX ? COMPLAINT_MAX - e->complaint.n : 0;
    str_add_n(&e->complaint, bytes, n < room ? n : room);
}

static void take_message(wslay_event_context_ptr c, const struct wslay_event_on_msg_recv_arg *m,
                         void *ctx)
{
    struct kube_exec *e = ctx;
    const char *bytes = (const char *)m->msg;
    (void)c;
    if (e->over || wslay_is_ctrl_frame(m->opcode) || m->msg_length < 2)
        return; /* each channel begins with an empty message */
    if (bytes[0] == STDOUT)
        e->user->bytes(e->ctx, bytes + 1, m->msg_length - 1);
    else
        complain(e, bytes + 1, m->msg_length - 1);
}

static int on_agreed(void *ctx, const struct http_head *head, struct err *err)
{
    struct kube_exec *e = ctx;
    struct str text = {0};
    e->status = head->status;
    if (head->status != SWITCHING)
        return 0; /* the reason follows */
    str_add_n(&text, head->text.at, head->text.n);
    int rc = kube_exec_check(text.at, e->key, err);
    str_done(&text);
    if (rc == 0)
        e->user->opened(e->ctx);
    return rc;
}

static int on_bytes(void *ctx, const char *bytes, size_t n, struct err *err)
{
    struct kube_exec *e = ctx;
    if (e->status != SWITCHING) {
        complain(e, bytes, n);
        return 0;
    }
    e->in.n = e->taken = 0;
    str_add_n(&e->in, bytes, n);
    e->busy = true;
    int rc = wslay_event_recv(e->frames);
    if (rc == 0 && !e->over)
        rc = wslay_event_send(e->frames); /* replies to pings */
    e->busy = false;
    if (e->over) {
        free_exec(e);
        return 0;
    }
    return rc < 0 ? err_set(err, ERR_INVALID, "the API server sent bytes that are not WebSocket")
                  : 0;
}

static int explain(void *ctx, CURL *easy, CURLcode code, const char *detail, struct err *err)
{
    const struct kube_exec *e = ctx;
    return kube_explain(e->api, easy, code, detail, err);
}

void kube_exec_send(struct kube_exec *e, const char *bytes, size_t n)
{
    uint8_t part[PART + 1];
    part[0] = STDIN;
    while (n && !e->over) {
        size_t k = n < PART ? n : PART;
        memcpy(part + 1, bytes, k);
        wslay_event_queue_msg(e->frames,
                              &(struct wslay_event_msg){WSLAY_BINARY_FRAME, part, k + 1});
        wslay_event_send(e->frames);
        bytes += k;
        n -= k;
    }
}

/* ---- the beginning -------------------------------------------------------------------------- */

struct kube_exec *kube_exec_open(struct kube_api *api, const char *path,
                                 const struct kube_exec_user *user, void *ctx)
{
    static const struct tunnel_user tunnel = {on_agreed, on_bytes, on_closed, explain};
    static const struct wslay_event_callbacks frames = {.recv_callback = read_frames,
                                                        .send_callback = write_frames,
                                                        .genmask_callback = make_mask,
                                                        .on_msg_recv_callback = take_message};
    struct kube_exec *e = xcalloc(1, sizeof *e);
    unsigned char key[KEY_BYTES];
    struct str url = {0}, header = {0}, request = {0};
    *e = (struct kube_exec){.api = api, .user = user, .ctx = ctx};
    if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key ||
        wslay_event_context_client_init(&e->frames, &frames, e) < 0)
        abort();
    encode_base64(key, sizeof key, e->key, sizeof e->key);
    CURL *easy = kube_handle(api, path, &url, &header);
    const char *host = strstr(url.at, "//") + 2, *target = strchr(host, '/');
    str_addf(&request,
             "GET %s HTTP/1.1\r\nHost: %.*s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n"
             "Sec-WebSocket-Protocol: " PROTOCOL "\r\n%s%s\r\n",
             target, (int)(target - host), host, e->key, header.n ? header.at : "",
             header.n ? "\r\n" : "");
    e->tunnel = tunnel_open(kube_curl(api), easy, &request, &tunnel, e);
    str_done(&url);
    str_done(&header);
    str_done(&request);
    return e;
}
