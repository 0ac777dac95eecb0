/* Owns replies with files that are part of the program: their compression and validation. */
#include "http/asset.h"

#include <assert.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "http/answer.h"
#include "http/reply.h"
#include "http/request.h"

/* 15 bits of window, and a gzip header around the data. */
enum { GZIP_WINDOW = 15 + 16 };

/* The build has made these bytes, so they are valid. */
static char *unpack(const struct http_asset *asset)
{
    unsigned char *out = xmalloc(asset->size + 1);
    z_stream z = {.next_in = (unsigned char *)asset->gzip,
                  .avail_in = (unsigned)asset->gzip_n,
                  .next_out = out,
                  .avail_out = (unsigned)asset->size + 1};
    int rc = inflateInit2(&z, GZIP_WINDOW);
    assert(rc == Z_OK);
    rc = inflate(&z, Z_FINISH);
    assert(rc == Z_STREAM_END && z.total_out == asset->size);
    (void)rc;
    inflateEnd(&z);
    return (char *)out;
}

/* Whether "gzip" is in the list and not refused with "q=0". */
static bool accepts_gzip(const struct request *q)
{
    const char *list = request_header(q, "Accept-Encoding");
    const char *found = list ? strstr(list, "gzip") : NULL;
    if (!found)
        return false;
    const char *weight = found + strlen("gzip");
    weight += strspn(weight, " ;");
    return strncmp(weight, "q=0", 3) != 0 || strspn(weight + 3, ".0") < strcspn(weight + 3, ", ");
}

void reply_asset(struct reply *r, const struct http_asset *asset)
{
    const struct request *q = reply_request(r);
    const char *known = request_header(q, "If-None-Match");
    reply_header(r, "ETag", asset->tag);
    reply_header(r, "Cache-Control", "no-cache");
    reply_header(r, "Vary", "Accept-Encoding");
    if (known && strstr(known, asset->tag)) {
        reply_empty(r, 304);
    } else if (accepts_gzip(q)) {
        reply_header(r, "Content-Encoding", "gzip");
        answer_finish(r, 200, asset->type,
                      MHD_create_response_from_buffer(asset->gzip_n, (void *)asset->gzip,
                                                      MHD_RESPMEM_PERSISTENT));
    } else {
        reply_bytes(r, 200, asset->type, unpack(asset), asset->size);
    }
}
