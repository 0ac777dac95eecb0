/* Owns the fuzzing of what is read from a container engine and from the relay in a container.
 * Whatever the bytes are, a reader says yes or no, also when they come in parts; what comes in
 * parts is read as what comes at once. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/relay.h"
#include "runtime/docker/answers.h"
#include "runtime/docker/endpoint.h"
#include "runtime/docker/frames.h"
#include "runtime/docker/pull.h"
#include "runtime/docker/tar.h"
#include "runtime/remote/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth)
        abort();
}

static void add_frame(void *ctx, enum frame_stream stream, const char *bytes, size_t n)
{
    demand(stream <= FRAME_STDERR && n > 0);
    str_add_n(ctx, bytes, n);
}

static void add_content(void *ctx, const char *name, const char *bytes, size_t n)
{
    demand(strlen(name) < TAR_NAME);
    str_add_n(ctx, bytes ? bytes : "", n);
}

/* Reads it in parts of so many bytes; returns whether it was accepted. */
static int read_frames(const char *text, size_t n, size_t step, struct str *out)
{
    struct frames f = {0};
    struct err err;
    int rc = 0;
    for (size_t at = 0; rc == 0 && at < n; at += step)
        rc = frames_feed(&f, text + at, n - at < step ? n - at : step, add_frame, out, &err);
    return rc;
}

static int read_tar(const char *text, size_t n, size_t step, struct str *out)
{
    struct tar_reader r = {0};
    struct err err;
    int rc = 0;
    for (size_t at = 0; rc == 0 && at < n; at += step)
        rc = tar_feed(&r, text + at, n - at < step ? n - at : step, add_content, out, &err);
    return rc;
}

static int read_relay(const char *text, size_t n, size_t step, struct str *out)
{
    struct relay r = {0};
    struct relay_item item;
    int rc = 0;
    for (size_t at = 0; rc == 0 && at < n; at += step) {
        relay_add(&r, text + at, n - at < step ? n - at : step);
        while ((rc = relay_take(&r, &item)) > 0) {
            demand(item.kind == RELAY_LOG ? item.n <= RELAY_PART_MAX : *item.bytes == '{');
            str_add_n(out, item.bytes, item.n);
        }
    }
    relay_done(&r);
    return rc;
}

static void compare(int (*read)(const char *, size_t, size_t, struct str *), const char *text,
                    size_t n)
{
    struct str whole = {0}, parts = {0};
    int first = read(text, n, n, &whole), second = read(text, n, 3, &parts);
    demand(first == second);
    demand(whole.n == parts.n && (!whole.n || !memcmp(whole.at, parts.at, whole.n)));
    str_done(&whole);
    str_done(&parts);
}

static void ignore(void *ctx, const struct answer_ours *c)
{
    (void)ctx;
    demand(c->job > 0 && strlen(c->id) < CONTAINER_ID_SIZE);
}

static void read_answers(const char *text, size_t n)
{
    struct arena a = {0};
    struct answer_version version;
    struct answer_info info;
    struct answer_image image;
    struct answer_container container;
    struct answer_ours ours;
    struct answer_pull pull;
    struct err err;
    char id[CONTAINER_ID_SIZE], message[40];
    (void)answer_read_version(text, n, &version, &err);
    (void)answer_read_info(text, n, &info, &err);
    (void)answer_read_image(text, n, &a, &image, &err);
    (void)answer_read_container(text, n, &container, &err);
    (void)answer_read_id(text, n, id, &err);
    (void)answer_read_list(text, n, ignore, NULL, &err);
    (void)answer_read_event(text, n, &ours);
    (void)answer_read_pull(text, n, &pull, &err);
    answer_read_error(text, n, message, sizeof message);
    demand(strlen(message) < sizeof message);
    arena_done(&a);
}

static void read_texts(const char *text)
{
    struct arena a = {0};
    struct endpoint e;
    struct str name = {0}, tag = {0}, header = {0};
    struct err err = {0};
    if (endpoint_parse(text, NULL, &a, &e, &err) < 0)
        demand(err.code == ERR_INVALID && err.text[0]);
    else
        demand(e.kind != ENDPOINT_SSH || *e.host != '-');
    pull_split(text, &name, &tag);
    pull_add_credentials(text, "r", &header);
    demand(tag.n > 0);
    str_done(&name);
    str_done(&tag);
    str_done(&header);
    arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    AUTO_FREE char *copy = xstrndup(text, size);
    struct http_head head = {0};
    struct pull pull = {0};
    struct err err;
    size_t used;
    if (!size)
        return 0;
    compare(read_frames, text, size);
    compare(read_tar, text, size);
    compare(read_relay, text, size);
    if (head_feed(&head, text, size, &used, &err) == 0)
        demand(used <= size);
    head_done(&head);
    pull_feed(&pull, text, size);
    pull_done(&pull);
    read_answers(text, size);
    read_texts(copy);
    return 0;
}
