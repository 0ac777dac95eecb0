/* Owns the reading of protobuf's wire format. */
#include "progress/protobuf.h"

#include <string.h>

void protobuf_init(struct protobuf *p, const void *bytes, size_t n)
{
    p->at = bytes;
    p->end = p->at + n;
}

static bool read_varint(struct protobuf *p, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && p->at < p->end; shift += 7) {
        unsigned char c = *p->at++;
        value |= (uint64_t)(c & 127) << shift;
        if (!(c & 128)) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool read_fixed(struct protobuf *p, size_t n, uint64_t *out)
{
    if ((size_t)(p->end - p->at) < n)
        return false;
    *out = 0;
    for (size_t i = 0; i < n; i++)
        *out |= (uint64_t)p->at[i] << (8 * i);
    p->at += n;
    return true;
}

bool protobuf_next(struct protobuf *p, struct protobuf_field *out)
{
    uint64_t tag, length;
    if (p->at >= p->end || !read_varint(p, &tag))
        return false;
    *out = (struct protobuf_field){.number = (uint32_t)(tag >> 3), .type = tag & 7};
    switch (out->type) {
    case PROTOBUF_VARINT:
        return read_varint(p, &out->value);
    case PROTOBUF_FIXED64:
        return read_fixed(p, 8, &out->value);
    case PROTOBUF_FIXED32:
        return read_fixed(p, 4, &out->value);
    case PROTOBUF_BYTES:
        if (!read_varint(p, &length) || length > (uint64_t)(p->end - p->at))
            return false;
        out->bytes = p->at;
        out->n = (size_t)length;
        p->at += length;
        return true;
    default:
        return false;
    }
}

double protobuf_float(const struct protobuf_field *f)
{
    if (f->type == PROTOBUF_FIXED32) {
        uint32_t bits = (uint32_t)f->value;
        float value;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, &f->value, sizeof value);
    return value;
}
