/* Owns secrets: the kernel's random numbers, and the hashes of GnuTLS. */
#include "base/secret.h"

#include <gnutls/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static void write_hex(const unsigned char *bytes, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

int secret_random(char *out, size_t size, struct err *err)
{
    unsigned char bytes[64];
    size_t n = (size - 1) / 2;
    if (n > sizeof bytes || getrandom(bytes, n, 0) != (ssize_t)n)
        return err_set(err, ERR_INTERNAL, "cannot read random numbers from the kernel");
    write_hex(bytes, n, out);
    return 0;
}

/* These algorithms are in every build of GnuTLS; without them nothing could be trusted. */
static void require(int code)
{
    if (code < 0)
        abort();
}

void secret_hash(const char *text, char out[SECRET_HEX])
{
    unsigned char hash[32];
    require(gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), hash));
    write_hex(hash, sizeof hash, out);
}

void secret_sign(const char *key, const char *message, size_t n, char out[SECRET_HEX])
{
    unsigned char hash[32];
    require(gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, strlen(key), message, n, hash));
    write_hex(hash, sizeof hash, out);
}
