/* Certificates of the server: given ones, and one that it makes for itself. */
#ifndef HTTP_TLS_H
#define HTTP_TLS_H

#include <stddef.h>

#include "base/err.h"

/* "sha256//" and the hash of the public key in base64, as curl's --pinnedpubkey takes it. */
enum { TLS_PIN_SIZE = 64 };

struct tls_certificate {
    char *chain, *key; /* PEM */
    char pin[TLS_PIN_SIZE];
};

/* Reads a certificate, with its chain, and its private key; both are PEM files. Fails if they
 * cannot be used together. The caller calls tls_certificate_done(). */
int tls_certificate_read(const char *chain_path, const char *key_path, struct tls_certificate *out,
                         struct err *err);
void tls_certificate_done(struct tls_certificate *c);

/* Makes a key and a certificate that nobody has signed, for the n names and addresses, valid for
 * ten years, unless the two files exist already. The key is readable by its owner only. */
int tls_certificate_make(const char *chain_path, const char *key_path, const char *const *names,
                         size_t n, struct err *err);

#endif
