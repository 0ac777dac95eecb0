/* The identity of content: SHA-256, as 64 lower-case hexadecimal digits. */
#ifndef WIRE_DIGEST_H
#define WIRE_DIGEST_H

#include <nettle/sha2.h>
#include <stdbool.h>
#include <stddef.h>

enum { DIGEST_SIZE = 65 };

struct digest {
    struct sha256_ctx state;
};

void digest_begin(struct digest *d);
void digest_add(struct digest *d, const void *bytes, size_t n);
/* Writes the digits; the object must be begun again before it is used again. */
void digest_end(struct digest *d, char out[DIGEST_SIZE]);

/* Whether the text has the form of a digest. */
bool digest_is(const char *text);

#endif
