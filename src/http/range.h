/* Conditional and partial requests: Range (RFC 9110, 14) and entity tags. Pure. */
#ifndef HTTP_RANGE_H
#define HTTP_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum http_range_result {
    HTTP_RANGE_WHOLE, /* no range, or one that may be ignored: send all, 200 */
    HTTP_RANGE_PART,  /* 206 */
    HTTP_RANGE_NONE,  /* nothing of it exists: 416 */
};

/* Reads "bytes=0-99", "bytes=100-" or "bytes=-50" for something of `size` bytes.
 * Other units, several ranges and nonsense are ignored, as the standard allows.
 * Sets *first and *n for HTTP_RANGE_PART only. */
enum http_range_result http_range_parse(const char *header, uint64_t size, uint64_t *first,
                                        uint64_t *n);

/* If-None-Match or If-Range: the tag is among those of the header, or the header
 * is "*". Weak tags equal strong ones. */
bool http_etag_matches(const char *header, const char *etag);

#define HTTP_ETAG_SIZE 20
/* A tag for bytes: the same bytes have the same, others most likely another. */
void http_etag(const void *bytes, size_t n, char out[HTTP_ETAG_SIZE]);

#endif
