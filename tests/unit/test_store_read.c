/* Tests of reading a store beside the server that has it open. */
#include <sys/stat.h>
#include <unistd.h>

#include "store/journal.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

static int count(void *ctx, int64_t seq, int64_t boot, const char *kind, const char *data,
                 struct err *err)
{
    (void)seq, (void)boot, (void)kind, (void)data, (void)err;
    ++*(unsigned *)ctx;
    return 0;
}

static unsigned rows(struct store *s, int64_t boot)
{
    unsigned n = 0;
    struct err err;
    assert_ok(store_journal_list(s, boot, count, &n, &err), err);
    return n;
}

static void test_reads_beside_a_writer(void **state)
{
    struct store *writer = store_dir_open(*state), *reader = NULL;
    struct store_dir *d = *state;
    struct err err;
    int64_t boot;
    for (int i = 0; i < 2; i++) {
        assert_ok(store_boot_begin(writer, 1, &boot, &err), err);
        assert_ok(store_journal_add(writer, "boot", "{}", &err), err);
        assert_ok(store_journal_add(writer, "event", "{}", &err), err);
    }
    assert_ok(store_open_to_read(d->path, &reader, &err), err);
    assert_int_equal(rows(reader, 0), 0); /* not committed yet */
    assert_ok(store_commit(writer, &err), err);
    assert_int_equal(rows(reader, 0), 4);
    assert_int_equal(rows(reader, 2), 2);
    assert_error(store_journal_add(reader, "note", "{}", &err), err, ERR_IO, "cannot write");
    store_close(reader);
    assert_ok(store_journal_add(writer, "event", "{}", &err), err);
    assert_ok(store_commit(writer, &err), err);
    store_close(writer);
}

static void test_makes_none(void **state)
{
    struct store_dir *d = *state;
    struct store *s = NULL;
    struct err err;
    assert_error(store_open_to_read(d->path, &s, &err), err, ERR_NOT_FOUND, "no such file");
    assert_int_equal(access(d->path, F_OK), -1);
    FILE *f = fopen(d->path, "w");
    assert_non_null(f);
    fclose(f);
    assert_error(store_open_to_read(d->path, &s, &err), err, ERR_IO, "damaged");
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_reads_beside_a_writer),
    STORE_TEST(test_makes_none),
};

int main(void)
{
    return RUN(tests);
}
