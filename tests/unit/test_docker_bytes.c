/* Tests of what is read from a container engine: frames, archives, the head of a response. */
#include "runtime/docker/frames.h"
#include "runtime/docker/tar.h"
#include "runtime/remote/head.h"
#include "support/test.h"

/* ---- frames ---------------------------------------------------------------------- */

static void add_frame(void *ctx, enum frame_stream stream, const char *bytes, size_t n)
{
    str_addf(ctx, "%d", stream);
    str_add_n(ctx, bytes, n);
}

static void test_frames(void **state)
{
    (void)state;
    static const char text[] = "\1\0\0\0\0\0\0\3abc\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\1x";
    struct str whole = {0};
    struct err err;
    struct frames f = {0};
    assert_ok(frames_feed(&f, text, sizeof text - 1, add_frame, &whole, &err), err);
    assert_string_equal(whole.at, "1abc2x");
    str_done(&whole);
    struct str parts = {0};
    f = (struct frames){0};
    for (size_t i = 0; i < sizeof text - 1; i++)
        assert_ok(frames_feed(&f, text + i, 1, add_frame, &parts, &err), err);
    assert_string_equal(parts.at, "1a1b1c2x");
    str_done(&parts);
}

static void test_no_frames(void **state)
{
    (void)state;
    struct err err;
    struct frames f = {0};
    assert_error(frames_feed(&f, "\3\0\0\0\0\0\0\0", 8, add_frame, NULL, &err), err, ERR_INVALID,
                 "frames");
    f = (struct frames){0};
    assert_error(frames_feed(&f, "HTTP/1.1", 8, add_frame, NULL, &err), err, ERR_INVALID, "frames");
}

/* ---- heads ------------------------------------------------------------------------ */

static void test_head(void **state)
{
    (void)state;
    static const char text[] = "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\n\r\n\1\0rest";
    struct http_head h = {0};
    struct err err;
    size_t used;
    assert_ok(head_feed(&h, text, 10, &used, &err), err);
    assert_int_equal(used, 10);
    assert_int_equal(h.status, 0);
    assert_ok(head_feed(&h, text + 10, sizeof text - 11, &used, &err), err);
    assert_int_equal(h.status, 101);
    assert_memory_equal(text + 10 + used, "\1\0rest", 6);
    head_done(&h);
}

static void test_no_head(void **state)
{
    (void)state;
    static const char *const bad[] = {"\r\n\r\n", "SSH-2.0-OpenSSH\n\n", "HTTP/1.1 2x0 OK\r\n\r\n",
                                      "HTTP/2 200\r\n\r\n", "HTTP/1.1 099 X\r\n\r\n"};
    struct err err;
    size_t used;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct http_head h = {0};
        assert_error(head_feed(&h, bad[i], strlen(bad[i]), &used, &err), err, ERR_INVALID, "HTTP");
        head_done(&h);
    }
    struct http_head h = {0};
    char line[1024];
    memset(line, 'x', sizeof line);
    int rc = 0;
    for (int i = 0; i < 17 && rc == 0; i++)
        rc = head_feed(&h, line, sizeof line, &used, &err);
    assert_int_equal(rc, -1);
    head_done(&h);
}

/* ---- archives ---------------------------------------------------------------------- */

static void add_content(void *ctx, const char *name, const char *bytes, size_t n)
{
    if (n)
        str_add_n(ctx, bytes, n);
    else
        str_addf(ctx, "<%s>", name);
}

static void test_archive(void **state)
{
    (void)state;
    struct str tar = {0};
    struct err err;
    char large[1500];
    memset(large, 'y', sizeof large);
    tar_add_dir(&tar, "d/", 0755);
    tar_add_file(&tar, "d/empty", 0600, "", 0);
    tar_add_file(&tar, "d/a", 0600, "hello", 5);
    tar_add_file(&tar, "d/large", 0600, large, sizeof large);
    tar_end(&tar);
    assert_int_equal(tar.n % TAR_BLOCK, 0);
    for (size_t step = 1; step < 1200; step += 97) {
        struct tar_reader r = {0};
        struct str got = {0};
        for (size_t at = 0; at < tar.n; at += step)
            assert_ok(tar_feed(&r, tar.at + at, tar.n - at < step ? tar.n - at : step, add_content,
                               &got, &err),
                      err);
        assert_true(r.ended);
        assert_memory_equal(got.at, "<d/empty><d/a>hello<d/large>yyy", 31);
        assert_int_equal(got.n, 28 + sizeof large);
        str_done(&got);
    }
    str_done(&tar);
}

static void test_no_archive(void **state)
{
    (void)state;
    struct tar_reader r = {0};
    struct err err;
    char block[TAR_BLOCK];
    memset(block, 'x', sizeof block);
    assert_error(tar_feed(&r, block, sizeof block, add_content, NULL, &err), err, ERR_INVALID,
                 "archive");
}

static const struct CMUnitTest tests[] = {TEST(test_frames),  TEST(test_no_frames),
                                          TEST(test_head),    TEST(test_no_head),
                                          TEST(test_archive), TEST(test_no_archive)};

int main(void)
{
    return RUN(tests);
}
