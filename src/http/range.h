/* Partial requests: the header Range (RFC 9110, 14). Pure. */
#ifndef HTTP_RANGE_H
#define HTTP_RANGE_H

#include <stdint.h>

enum http_range_result {
    HTTP_RANGE_WHOLE, /* no range, or one that is ignored: send all, 200 */
    HTTP_RANGE_PART,  /* 206 */
    HTTP_RANGE_NONE,  /* no byte of the range exists: 416 */
};

/* Parses "bytes=0-99", "bytes=100-" or "bytes=-50" for content of `size` bytes. Other units,
 * several ranges and invalid text are ignored, as the standard allows. Sets *first and *n only
 * for HTTP_RANGE_PART. */
enum http_range_result http_range_parse(const char *header, uint64_t size, uint64_t *first,
                                        uint64_t *n);

#endif
