/* Random secrets, and hashes of secrets and messages. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stddef.h>

#include "base/err.h"

/* Bytes of a hash or signature in hexadecimal, with its end. */
enum { SECRET_HEX = 65 };

/* Fills `out`, of `size` bytes, with random hexadecimal digits and a NUL. */
int secret_random(char *out, size_t size, struct err *err);
/* SHA-256 of a text, in hexadecimal. */
void secret_hash(const char *text, char out[SECRET_HEX]);
/* HMAC-SHA-256 of a message, in hexadecimal. */
void secret_sign(const char *key, const char *message, size_t n, char out[SECRET_HEX]);

#endif
