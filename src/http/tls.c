/* Owns certificates: reading, checking and making them, with GnuTLS, which libmicrohttpd uses as
 * well.
 *
 * The pin is that of the public key, not of the certificate: it stays the same when a certificate
 * is renewed with its key. */
#include "http/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#define YEARS_VALID (10 * 365 * 24 * 3600)

static int tls_error(struct err *err, const char *what, int code)
{
    return err_set(err, ERR_INVALID, "%s: %s", what, gnutls_strerror(code));
}

/* ---- reading --------------------------------------------------------------- */

static int read_pem(const char *path, char **out, struct err *err)
{
    gnutls_datum_t file = {0};
    int code = gnutls_load_file(path, &file);
    if (code < 0)
        return err_set(err, ERR_INVALID, "cannot read %s: %s", path, strerror(errno));
    *out = xstrndup((const char *)file.data, file.size);
    gnutls_memset(file.data, 0, file.size);
    gnutls_free(file.data);
    return 0;
}

/* Hashes the public key, as in RFC 7469. */
static int write_pin(gnutls_x509_crt_t leaf, char *out, struct err *err)
{
    unsigned char der[8192], hash[32];
    size_t n = sizeof der;
    gnutls_pubkey_t key = NULL;
    gnutls_datum_t text = {0}, in = {hash, sizeof hash};
    int code = gnutls_pubkey_init(&key);
    if (code >= 0)
        code = gnutls_pubkey_import_x509(key, leaf, 0);
    if (code >= 0)
        code = gnutls_pubkey_export(key, GNUTLS_X509_FMT_DER, der, &n);
    if (code >= 0)
        code = gnutls_hash_fast(GNUTLS_DIG_SHA256, der, n, hash);
    if (code >= 0)
        code = gnutls_base64_encode2(&in, &text);
    if (code >= 0)
        snprintf(out, TLS_PIN_SIZE, "sha256//%.44s", (const char *)text.data);
    gnutls_free(text.data);
    gnutls_pubkey_deinit(key);
    return code < 0 ? tls_error(err, "the certificate's public key", code) : 0;
}

static int find_pin(const struct tls_certificate *c, const char *path, char *pin, struct err *err)
{
    gnutls_datum_t text = {(unsigned char *)c->chain, (unsigned)strlen(c->chain)};
    gnutls_x509_crt_t *list = NULL;
    unsigned n = 0;
    int code = gnutls_x509_crt_list_import2(&list, &n, &text, GNUTLS_X509_FMT_PEM, 0);
    if (code < 0)
        return tls_error(err, path, code);
    int rc = write_pin(list[0], pin, err);
    for (unsigned i = 0; i < n; i++)
        gnutls_x509_crt_deinit(list[i]);
    gnutls_free(list);
    return rc;
}

/* Fails if the key is not that of the certificate. */
static int check_pair(const struct tls_certificate *c, const char *chain_path, const char *key_path,
                      struct err *err)
{
    gnutls_certificate_credentials_t both = NULL;
    gnutls_datum_t chain = {(unsigned char *)c->chain, (unsigned)strlen(c->chain)};
    gnutls_datum_t key = {(unsigned char *)c->key, (unsigned)strlen(c->key)};
    int code = gnutls_certificate_allocate_credentials(&both);
    if (code >= 0)
        code = gnutls_certificate_set_x509_key_mem(both, &chain, &key, GNUTLS_X509_FMT_PEM);
    if (both)
        gnutls_certificate_free_credentials(both);
    if (code >= 0)
        return 0;
    return err_set(err, ERR_INVALID, "%s and %s cannot be used together: %s", chain_path, key_path,
                   gnutls_strerror(code));
}

int tls_certificate_read(const char *chain_path, const char *key_path, struct tls_certificate *out,
                         struct err *err)
{
    struct tls_certificate c = {0};
    if (read_pem(chain_path, &c.chain, err) < 0 || read_pem(key_path, &c.key, err) < 0 ||
        find_pin(&c, chain_path, c.pin, err) < 0 || check_pair(&c, chain_path, key_path, err) < 0) {
        tls_certificate_done(&c);
        return -1;
    }
    *out = c;
    return 0;
}

void tls_certificate_done(struct tls_certificate *c)
{
    if (c->key)
        gnutls_memset(c->key, 0, strlen(c->key));
    free(c->chain);
    free(c->key);
    *c = (struct tls_certificate){0};
}

/* ---- making ---------------------------------------------------------------- */

static int add_name(gnutls_x509_crt_t crt, const char *name)
{
    unsigned char address[16];
    bool v4 = inet_pton(AF_INET, name, address) == 1;
    if (v4 || inet_pton(AF_INET6, name, address) == 1)
        return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, address, v4 ? 4 : 16,
                                                    GNUTLS_FSAN_APPEND);
    return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, name,
                                                (unsigned)strlen(name), GNUTLS_FSAN_APPEND);
}

static int describe(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, const char *const *names,
                    size_t n)
{
    static const char subject[] = "Trainyard server";
    unsigned char serial[16];
    time_t now = (time_t)(clock_read_wall() / USEC_PER_SEC);
    int code = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial);
    serial[0] &= 0x7f; /* a positive number */
    if (code >= 0)
        code = gnutls_x509_crt_set_version(crt, 3);
    if (code >= 0)
        code = gnutls_x509_crt_set_serial(crt, serial, sizeof serial);
    if (code >= 0)
        code = gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, subject,
                                             sizeof subject - 1);
    for (size_t i = 0; i < n && code >= 0; i++)
        code = add_name(crt, names[i]);
    /* A clock that is a little late must not refuse it. */
    gnutls_x509_crt_set_activation_time(crt, now - 24 * 3600);
    gnutls_x509_crt_set_expiration_time(crt, now + YEARS_VALID);
    if (code >= 0)
        code = gnutls_x509_crt_set_basic_constraints(crt, 0, -1);
    if (code >= 0)
        code = gnutls_x509_crt_set_key(crt, key);
    return code < 0 ? code : gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0);
}

/* The file appears complete or not at all. */
static int write_file(const char *path, const gnutls_datum_t *text, mode_t mode, struct err *err)
{
    struct str name = {0};
    str_addf(&name, "%s.new", path);
    AUTO_FREE char *new = name.at;
    AUTO_CLOSE int fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd >= 0 && write(fd, text->data, text->size) == (ssize_t)text->size && fsync(fd) == 0 &&
        rename(new, path) == 0)
        return 0;
    return err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

static int write_both(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, const char *chain_path,
                      const char *key_path, struct err *err)
{
    gnutls_datum_t certificate = {0}, secret = {0};
    int code = gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &certificate);
    if (code >= 0)
        code = gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &secret);
    int rc = code < 0 ? tls_error(err, "cannot write a certificate", code) : 0;
    if (rc == 0)
        rc = write_file(key_path, &secret, 0600, err);
    if (rc == 0)
        rc = write_file(chain_path, &certificate, 0644, err);
    if (secret.data)
        gnutls_memset(secret.data, 0, secret.size);
    gnutls_free(secret.data);
    gnutls_free(certificate.data);
    return rc;
}

int tls_certificate_make(const char *chain_path, const char *key_path, const char *const *names,
                         size_t n, struct err *err)
{
    gnutls_x509_privkey_t key = NULL;
    gnutls_x509_crt_t crt = NULL;
    if (access(chain_path, F_OK) == 0 && access(key_path, F_OK) == 0)
        return 0;
    int code = gnutls_x509_privkey_init(&key);
    if (code >= 0)
        code = gnutls_x509_crt_init(&crt);
    if (code >= 0)
        code = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                            GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (code >= 0)
        code = describe(crt, key, names, n);
    int rc = code < 0 ? tls_error(err, "cannot make a certificate", code)
                      : write_both(crt, key, chain_path, key_path, err);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(key);
    return rc;
}
