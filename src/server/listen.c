/* Owns the opening of the server's addresses, and its certificate: a given one, or one that the
 * server makes for itself at its first start and that clients pin. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "server/listen.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/listen.h"
#include "http/server.h"
#include "http/tls.h"
#include "server/log.h"
#include "server/yard.h"

static bool wants_tls(const struct listen_config *c)
{
    return c->tls || c->tls_cert;
}

/* The paths of the certificate and its key; the caller frees them. */
static int find_certificate(const struct listen_config *c, char **chain, char **key,
                            struct err *err)
{
    char host[HOST_NAME_MAX + 1] = "";
    const char *names[] = {"localhost", "127.0.0.1", "::1", host};
    struct str dir = {0}, a = {0}, b = {0};
    if (c->tls_cert) {
        *chain = xstrdup(c->tls_cert);
        *key = xstrdup(c->tls_key);
        return 0;
    }
    str_addf(&dir, "%s/tls", c->state_dir);
    int code = fs_make_dirs(dir.at, 0700);
    if (code && code != EEXIST) {
        err_set(err, ERR_IO, "cannot create %s: %s", dir.at, strerror(code));
        str_done(&dir);
        return -1;
    }
    str_addf(&a, "%s/cert.pem", dir.at);
    str_addf(&b, "%s/key.pem", dir.at);
    str_done(&dir);
    *chain = a.at;
    *key = b.at;
    (void)gethostname(host, sizeof host - 1);
    return tls_certificate_make(a.at, b.at, names, *host ? COUNT_OF(names) : COUNT_OF(names) - 1,
                                err);
}

static int use_certificate(struct http_server *http, const struct listen_config *c, struct err *err)
{
    AUTO_FREE char *chain = NULL, *key = NULL;
    struct tls_certificate certificate;
    if (find_certificate(c, &chain, &key, err) < 0 ||
        tls_certificate_read(chain, key, &certificate, err) < 0)
        return -1;
    int rc = http_server_use_certificate(http, &certificate, err);
    if (rc == 0)
        log_info("certificate=%s fingerprint=%s", chain, certificate.pin);
    tls_certificate_done(&certificate);
    return rc;
}

/* What a browser on this machine can open. */
static char *browser_url(const struct listen_config *c, unsigned port)
{
    struct str url = {0};
    size_t n = (size_t)(strrchr(c->tcp, ':') - c->tcp);
    bool any = !n || !strncmp(c->tcp, "0.0.0.0", n) || !strncmp(c->tcp, "[::]", n);
    str_addf(&url, "%s://", wants_tls(c) ? "https" : "http");
    if (any)
        str_add(&url, "127.0.0.1");
    else
        str_add_n(&url, c->tcp, n);
    str_addf(&url, ":%u", port);
    return url.at;
}

static int open_tcp(struct http_server *http, struct yard *y, const struct listen_config *c,
                    struct err *err)
{
    unsigned port = 0;
    bool open = false;
    if (wants_tls(c) && use_certificate(http, c, err) < 0)
        return -1;
    if (http_server_listen_tcp(http, c->tcp, &port, &open, err) < 0)
        return -1;
    y->access.url = browser_url(c, port);
    log_info("listen=%s url=%s", c->tcp, y->access.url);
    log_info("port=%u", port);
    if (open && !wants_tls(c))
        log_warning("listen=%s reachable from other machines without TLS: whoever sees the "
                    "traffic learns tokens; use --tls, a tunnel or 127.0.0.1",
                    c->tcp);
    return 0;
}

int listen_open(struct http_server *http, struct yard *y, const struct listen_config *c,
                struct err *err)
{
    if (http_server_listen_unix(http, c->socket, err) < 0)
        return -1;
    log_info("serving socket=%s", c->socket);
    return c->tcp ? open_tcp(http, y, c, err) : 0;
}

void listen_reload(struct http_server *http, const struct listen_config *c)
{
    struct err err;
    if (!c->tcp || !wants_tls(c))
        log_info("SIGHUP: there is no certificate to read again");
    else if (use_certificate(http, c, &err) < 0)
        log_warning("the old certificate stays in use: %s", err.text);
}
