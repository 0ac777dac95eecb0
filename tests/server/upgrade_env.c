/* Databases of earlier versions have the environments of submitters in them: the server moves
 * them out, and leaves nothing of them in the files. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "server/upgrade_env.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/jobs/environment.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/store.h"
#include "support/old_store.h"
#include "support/test.h"
#include "wire/spec_lists.h"

#define SECRET "hunter2-hunter2"

/* Puts a secret into the environment of each request. */
static const char with_secrets[] =
    "UPDATE spec SET text = json_set(text, '$.env.AWS_SECRET_ACCESS_KEY', '" SECRET "-' || job)";

/* Whether the file has the secret anywhere; false if there is none. */
static bool has_secret(const char *path)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return false;
    AUTO_FREE char *bytes = xmalloc((size_t)st.st_size + 1);
    ssize_t n = read(fd, bytes, (size_t)st.st_size);
    assert_int_equal(n, st.st_size);
    return memmem(bytes, (size_t)n, SECRET, sizeof SECRET - 1) != NULL;
}

static bool any_has_secret(const struct store_dir *d)
{
    struct str log = {0};
    str_addf(&log, "%s-wal", d->path);
    bool has = has_secret(d->path) || has_secret(log.at);
    str_done(&log);
    return has;
}

static void test_environments_move_out(void **state)
{
    const struct store_dir *d = *state;
    struct store *s = old_store_open(d, with_secrets);
    struct err err;
    assert_true(any_has_secret(d));
    assert_ok(upgrade_environments(s, d->path, d->dir, &err), err);
    assert_false(any_has_secret(d));
    struct store_dir_rows all = old_store_jobs(s);
    unsigned live = 0;
    for (size_t i = 0; i < all.rows.n; i++) {
        const struct job_row *row = &all.rows.at[i];
        AUTO_FREE char *text = NULL;
        struct spec spec;
        char secret[64];
        assert_ok(store_request_get(s, row->request, &text, &err), err);
        assert_non_null(strstr(text, "\"environment\":[\"PATH\",\"HOME\","));
        assert_null(strstr(text, "\"env\""));
        spec_init(&spec);
        int rc = environment_read(d->dir, row->request, &spec, &err);
        assert_int_equal(rc, job_state_over(row->state) ? -1 : 0);
        snprintf(secret, sizeof secret, SECRET "-%lld", (long long)row->request);
        if (rc == 0)
            assert_string_equal(spec_env_get(&spec.environment, "AWS_SECRET_ACCESS_KEY", 21),
                                secret);
        live += rc == 0;
        spec_done(&spec);
    }
    assert_true(live > 0 && live < all.rows.n);
    store_dir_rows_done(&all);
    assert_null(store_meta_get(s, STORE_META_ENVIRONMENTS));
    assert_ok(upgrade_environments(s, d->path, d->dir, &err), err); /* nothing to do */
    store_close(s);
    store_dir_check(d->path);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_environments_move_out),
};

int main(void)
{
    return RUN(tests);
}
