/* Where an engine is, from an address as the docker client takes it. */
#ifndef RUNTIME_DOCKER_ENDPOINT_H
#define RUNTIME_DOCKER_ENDPOINT_H

#include "base/err.h"
#include "base/mem.h"

enum endpoint_kind { ENDPOINT_UNIX, ENDPOINT_TCP, ENDPOINT_SSH };

struct endpoint {
    enum endpoint_kind kind;
    const char *path; /* of the socket; ssh: on the other machine, NULL = its default */
    const char *host; /* tcp: HOST:PORT; ssh: HOST or USER@HOST */
    const char *port; /* ssh; NULL = its default */
    const char *tls;  /* tcp: directory of ca.pem, cert.pem and key.pem; NULL = no TLS */
};

/* unix:///PATH, tcp://HOST:PORT, https://HOST:PORT, ssh://[USER@]HOST[:PORT][/PATH]. `tls` is
 * the directory of certificates, or NULL. Texts are in the arena. */
int endpoint_parse(const char *address, const char *tls, struct arena *a, struct endpoint *out,
                   struct err *err);

/* The variables and files of the docker client. */
struct endpoint_context {
    const char *docker_host;    /* DOCKER_HOST; NULL = not set */
    const char *docker_context; /* DOCKER_CONTEXT */
    const char *cert_path;      /* DOCKER_CERT_PATH */
    const char *tls_verify;     /* $DOCKER_TLS_VERIFY */
    const char *config_dir;     /* DOCKER_CONFIG, or ~/.docker; NULL = unknown */
};
void endpoint_context_read(struct arena *a, struct endpoint_context *out);

/* Finds what the user means: an address as above, `context:NAME`, or `default` for what the
 * docker client would use. */
int endpoint_resolve(const char *text, const char *tls, const struct endpoint_context *c,
                     struct arena *a, struct endpoint *out, struct err *err);

/* The name or address of the engine's machine, in the arena; NULL = it is this one. */
const char *endpoint_machine(const struct endpoint *e, struct arena *a);

#endif
