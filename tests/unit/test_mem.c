/* Tests of base/mem: arenas that are reused, vectors, cleanup attributes, sizes
 * that overflow. */
#include "base/mem.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "support/test.h"

static void test_zero_sizes(void **state)
{
    (void)state;
    void *p = xmalloc(0);
    assert_non_null(p);
    p = xrealloc(p, 0);
    assert_non_null(p);
    free(p);
    p = xcalloc(0, 0);
    assert_non_null(p);
    free(p);
    p = xreallocarray(NULL, 0, 8);
    assert_non_null(p);
    free(p);
}

static void test_growing_arrays(void **state)
{
    (void)state;
    int *p = xgrowarray(NULL, 0, 3, sizeof *p);
    assert_true(p[0] == 0 && p[2] == 0);
    p[2] = 7;
    p = xgrowarray(p, 3, 1000, sizeof *p);
    assert_true(p[2] == 7 && p[3] == 0 && p[999] == 0);
    free(p);
}

static void test_strings(void **state)
{
    (void)state;
    char *s = xstrdup("trainyard"), *t = xstrndup("trainyard", 5);
    assert_string_equal(s, "trainyard");
    assert_string_equal(t, "train");
    free(s);
    free(t);
}

static void overflow_array(void)
{
    free(xreallocarray(NULL, SIZE_MAX / 2, 3));
}

static void overflow_calloc(void)
{
    free(xcalloc(SIZE_MAX / 2, 3));
}

static void overflow_arena(void)
{
    struct arena a = {0};
    arena_alloc_array(&a, SIZE_MAX / 2, 3);
}

static void overflow_rounding(void)
{
    struct arena a = {0};
    arena_raw(&a, SIZE_MAX - 3);
}

/* A size that does not fit must abort, never wrap to a small block. */
static void test_overflow_aborts(void **state)
{
    (void)state;
    void (*const cases[])(void) = {overflow_array, overflow_calloc, overflow_arena,
                                   overflow_rounding};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            close(STDERR_FILENO); /* a sanitizer would report the abort as its own */
            signal(SIGABRT, SIG_DFL);
            cases[i]();
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void test_arena_zeroes_and_aligns(void **state)
{
    (void)state;
    struct arena a = {0};
    for (size_t n = 0; n < 300; n++) {
        unsigned char *p = arena_alloc(&a, n);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xaa, n);
    }
    arena_reset(&a);
    /* What the last round wrote must not show. */
    const unsigned char *p = arena_alloc(&a, 5000);
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(p[i], 0);
    arena_done(&a);
}

static void test_arena_reuses_blocks(void **state)
{
    (void)state;
    struct arena a = {0};
    assert_int_equal(arena_size(&a), 0);
    arena_reset(&a);
    for (int i = 0; i < 100; i++)
        arena_raw(&a, 10000);
    arena_raw(&a, 1000000);
    size_t held = arena_size(&a);
    assert_true(held >= 2000000);
    for (int round = 0; round < 10; round++) {
        arena_reset(&a);
        for (int i = 0; i < 100; i++)
            arena_raw(&a, 10000);
        arena_raw(&a, 1000000);
    }
    assert_int_equal(arena_size(&a), held);
    arena_done(&a);
    assert_int_equal(arena_size(&a), 0);
    arena_done(&a);
}

/* Rounds that each need a little more than the last one hold no more than twice that. */
static void test_arena_that_grows(void **state)
{
    (void)state;
    struct arena a = {0};
    for (size_t round = 1; round <= 2000; round++) {
        arena_reset(&a);
        for (int i = 0; i < 4; i++)
            arena_raw(&a, round * 1000);
        assert_true(arena_size(&a) <= 2 * 4 * round * 1000 + (1U << 20));
    }
    arena_done(&a);
}

/* Random sizes over some rounds: no two pieces overlap. */
static void test_arena_pieces_are_apart(void **state)
{
    (void)state;
    enum { PIECES = 500 };
    struct arena a = {0};
    struct rng r;
    rng_init(&r, 1);
    for (int round = 0; round < 20; round++) {
        unsigned char *piece[PIECES];
        size_t size[PIECES];
        for (int i = 0; i < PIECES; i++) {
            size[i] = rng_below(&r, 50) ? rng_below(&r, 2000) : rng_below(&r, 200000);
            piece[i] = arena_raw(&a, size[i]);
            memset(piece[i], i & 0xff, size[i]);
        }
        for (int i = 0; i < PIECES; i++)
            for (size_t k = 0; k < size[i]; k += 97)
                assert_int_equal(piece[i][k], i & 0xff);
        arena_reset(&a);
    }
    arena_done(&a);
}

static void test_arena_strings(void **state)
{
    (void)state;
    struct arena a = {0};
    assert_string_equal(arena_strdup(&a, "yard"), "yard");
    assert_string_equal(arena_strndup(&a, "yard", 2), "ya");
    assert_string_equal(arena_strndup(&a, "", 0), "");
    struct pair {
        int x, y;
    } *pairs = ARENA_ARRAY(&a, 10, struct pair), *one = ARENA_NEW(&a, struct pair);
    assert_int_equal(pairs[9].y, 0);
    assert_int_equal(one->x, 0);
    arena_done(&a);
}

static void test_vector(void **state)
{
    (void)state;
    VEC(int) v = {0};
    for (int i = 0; i < 1000; i++)
        VEC_PUSH(&v, i * i);
    assert_int_equal(v.n, 1000);
    assert_true(v.cap >= 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v.at[i], i * i);
    const int *before = v.at;
    VEC_RESERVE(&v, 10);
    assert_ptr_equal(v.at, before);
    VEC_DONE(&v);
    assert_null(v.at);
    VEC_DONE(&v);

    struct pair {
        int a, b;
    };
    VEC(struct pair) pairs = {0};
    VEC_PUSH(&pairs, (struct pair){3, 4});
    assert_int_equal(pairs.at[0].b, 4);
    VEC_DONE(&pairs);
}

static char *given_away(void)
{
    AUTO_FREE char *kept = xstrdup("kept");
    AUTO_FREE char *none = NULL;
    AUTO_FREE char *dropped = xstrdup("dropped");
    assert_null(none);
    assert_non_null(dropped);
    return TAKE(kept);
}

static void test_cleanup(void **state)
{
    (void)state;
    char *s = given_away();
    assert_string_equal(s, "kept");
    free(s);

    int number;
    {
        AUTO_CLOSE int fd = open("/dev/null", O_RDONLY);
        AUTO_CLOSE int none = -1;
        assert_true(fd >= 0);
        assert_int_equal(none, -1);
        number = fd;
    }
    assert_int_equal(fcntl(number, F_GETFD), -1);
}

static const struct CMUnitTest tests[] = {
    TEST(test_zero_sizes),
    TEST(test_growing_arrays),
    TEST(test_strings),
    TEST(test_overflow_aborts),
    TEST(test_arena_zeroes_and_aligns),
    TEST(test_arena_reuses_blocks),
    TEST(test_arena_that_grows),
    TEST(test_arena_pieces_are_apart),
    TEST(test_arena_strings),
    TEST(test_vector),
    TEST(test_cleanup),
};

int main(void)
{
    return RUN(tests);
}
