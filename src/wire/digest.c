/* Owns digests of content. The algorithm is that of the library nettle. */
#include "wire/digest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

void digest_begin(struct digest *d)
{
    sha256_init(&d->state);
}

void digest_add(struct digest *d, const void *bytes, size_t n)
{
    sha256_update(&d->state, n, bytes);
}

void digest_end(struct digest *d, char out[DIGEST_SIZE])
{
    uint8_t bytes[SHA256_DIGEST_SIZE];
    sha256_digest(&d->state, sizeof bytes, bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

bool digest_is(const char *text)
{
    return strlen(text) == DIGEST_SIZE - 1 && strspn(text, "0123456789abcdef") == DIGEST_SIZE - 1;
}
