/* Reads the fields of a message in protobuf's wire format, whatever its schema. */
#ifndef PROGRESS_PROTOBUF_H
#define PROGRESS_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_FIXED32 = 5 };

struct protobuf {
    const unsigned char *at, *end;
};

struct protobuf_field {
    uint32_t number;
    uint32_t type;  /* PROTOBUF_... */
    uint64_t value; /* of all but bytes */
    const unsigned char *bytes;
    size_t n;
};

void protobuf_init(struct protobuf *p, const void *bytes, size_t n);

/* The next field; false at the end, and where the bytes are no message. */
bool protobuf_next(struct protobuf *p, struct protobuf_field *out);

/* The value of a fixed field as the number that it stands for. */
double protobuf_float(const struct protobuf_field *f);

#endif
