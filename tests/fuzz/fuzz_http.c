/* Fuzzes what reads a request's address, its Range and tags, and an event stream.
 * The first byte chooses; what is written is read back and must be the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "http/problem.h"
#include "http/range.h"
#include "http/router.h"
#include "http/sse.h"
#include "http/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void handle(const struct request *request, struct reply *reply, void *ctx)
{
    (void)request;
    (void)reply;
    (void)ctx;
}

static const struct route routes[] = {
    {"GET", "/", handle, "root", false},
    {"GET", "/api/v1/jobs", handle, "list", false},
    {"GET", "/api/v1/jobs/{id}", handle, "show", false},
    {"POST", "/api/v1/jobs/{id}/{verb}/x", handle, "act", false},
    {0},
};

/* What was decoded can be escaped, and decoded again. */
static void check_round_trip(const char *text)
{
    struct str s = {0};
    struct err err;
    str_add(&s, "");
    url_add_escaped(&s, text);
    require(url_decode(s.at, true, &err) == 0);
    require(!strcmp(s.at, text));
    str_done(&s);
}

static void fuzz_target(char *text)
{
    char *path, *query, *segments[ROUTE_SEGMENTS];
    struct url_query pairs = {0};
    struct err err;
    if (url_split(text, &path, &query, &err) < 0)
        return;
    int n = url_segments(path, segments, ROUTE_SEGMENTS, &err);
    if (n > 0) {
        for (int i = 0; i < n && i < ROUTE_SEGMENTS; i++)
            check_round_trip(segments[i]);
        struct route_match m = router_find(routes, "GET", segments, (size_t)n);
        require(!m.route || m.route->pattern[0] == '/');
        if (m.route && router_param(m.route, "id") >= 0)
            require(*m.params[router_param(m.route, "id")] != '\0');
    }
    if (query && url_parse_query(query, &pairs, &err) == 0)
        for (size_t i = 0; i < pairs.n; i++) {
            check_round_trip(pairs.at[i].name);
            check_round_trip(pairs.at[i].value);
        }
    VEC_DONE(&pairs);
}

static void fuzz_range(const char *text)
{
    static const uint64_t sizes[] = {0, 1, 100, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        uint64_t first = 0, n = 0;
        if (http_range_parse(text, sizes[i], &first, &n) == HTTP_RANGE_PART)
            require(n > 0 && first < sizes[i] && n <= sizes[i] - first);
    }
}

static int note(void *ctx, const struct sse_event *e)
{
    struct str *seen = ctx;
    require(e->data[e->n] == '\0');
    str_add_n(seen, e->id, strlen(e->id) + 1);
    str_add_n(seen, e->event, strlen(e->event) + 1);
    str_add_n(seen, e->data, e->n);
    return 0;
}

/* A stream says the same however it is cut into pieces. */
static void fuzz_events(const char *text, size_t size)
{
    struct sse_reader whole = {0}, bytes = {0};
    struct str a = {0}, b = {0};
    struct err err;
    require(sse_read(&whole, text, size, note, &a, &err) == 0);
    for (size_t i = 0; i < size; i++)
        require(sse_read(&bytes, text + i, 1, note, &b, &err) == 0);
    require(a.n == b.n && (a.n == 0 || !memcmp(a.at, b.at, a.n)));
    require(whole.retry_ms == bytes.retry_ms);
    sse_reader_done(&whole);
    sse_reader_done(&bytes);
    str_done(&a);
    str_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err;
    if (size < 1)
        return 0;
    char *text = xstrndup((const char *)data + 1, size - 1);
    switch (data[0] % 4) {
    case 0:
        fuzz_target(text);
        break;
    case 1:
        fuzz_range(text);
        break;
    case 2:
        fuzz_events((const char *)data + 1, size - 1);
        break;
    default:
        require(problem_to_err(404, (const char *)data + 1, size - 1, &err) == -1);
        require(err.code != ERR_OK);
    }
    free(text);
    return 0;
}
