/* Owns the endpoints by which clients upload the files of their jobs, in parts. */
#include "server/uploads.h"
#include "server/api/call.h"
#include "server/api/parts.h"

struct upload_view {
    const char *digest;
    int64_t bytes;
    bool complete;
};

static const struct api_member upload_members[] = {
    API_STRING(upload_view, digest, "SHA-256 of the archive, in hexadecimal"),
    API_INTEGER(upload_view, bytes, "Bytes that the server has; the next part begins there"),
    API_BOOLEAN(upload_view, complete, "Whether that is all of it"),
    {0},
};

static const struct api_schema upload_schema = {"Upload", .members = upload_members};

/* NULL after a refusal. */
static const char *read_digest(const struct api_call *c)
{
    const char *digest = request_param(c->request, "digest");
    if (digest_is(digest))
        return digest;
    api_refuse(c, "digest", "expected the 64 hexadecimal digits of a SHA-256");
    return NULL;
}

static void reply_upload(const struct api_call *c, const char *digest)
{
    struct upload_view v = {.digest = digest};
    v.bytes = uploads_known(c->yard, digest, &v.complete);
    reply_json(c->reply, 200, api_print(&upload_schema, &v));
}

static void get_upload(const struct api_call *c)
{
    const char *digest = read_digest(c);
    if (digest)
        reply_upload(c, digest);
}

enum { PUT_OFFSET, PUT_LAST };

static const struct api_query put_query[] = {
    [PUT_OFFSET] = {"offset", QUERY_INTEGER, .max = INT64_MAX,
                    .help = "Where the part begins: 0, or `bytes` of the last reply"},
    [PUT_LAST] = {"last", QUERY_FLAG, .help = "Whether it is the last part"},
    {0},
};

static void put_upload(const struct api_call *c)
{
    const char *digest = read_digest(c);
    const struct request *q = c->request;
    struct err err;
    if (!digest)
        return;
    if (uploads_take(c->yard, digest, c->query[PUT_OFFSET].number, q->body, q->body_n,
                     c->query[PUT_LAST].number, &err) < 0)
        reply_problem(c->reply, &err, NULL);
    else
        reply_upload(c, digest);
}

static const struct api_schema *const schemas[] = {&upload_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "get_upload",
        .method = "GET",
        .path = API_V1 "/uploads/{digest}",
        .handle = get_upload,
        .summary = "Look at an upload",
        .description = "Whether the server has these files already, or how much of them.",
        .replies = {{200, "Upload", "What there is of it"}},
    },
    {
        .name = "put_upload",
        .method = "PUT",
        .path = API_V1 "/uploads/{digest}",
        .handle = put_upload,
        .summary = "Upload files",
        .description = "A tar archive for the field `upload` of a job, in parts of at most 8 MB. "
                       "With the last one its digest is checked.",
        .query = put_query,
        .body = API_BYTES,
        .replies = {{200, "Upload", "What there is of it"}},
        .errors = {409},
    },
    {0},
};

const struct api_part api_part_uploads = {"Uploads", endpoints, schemas};
