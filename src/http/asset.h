/* Files that are part of the program, such as the pages of a dashboard. */
#ifndef HTTP_ASSET_H
#define HTTP_ASSET_H

#include <stddef.h>

struct reply;

struct http_asset {
    const char *name;
    const char *type;          /* media type */
    const char *tag;           /* strong ETag, with its quotes */
    const unsigned char *gzip; /* the content, compressed */
    size_t gzip_n;
    size_t size; /* of the content */
};

/* Replies with the asset: compressed if the client accepts gzip, and with 304 if the client has
 * it already. Clients may keep it, but must ask each time whether it has changed. */
void reply_asset(struct reply *r, const struct http_asset *asset);

#endif
