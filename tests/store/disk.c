/* The store on a disk that is full, and on one that cannot be written: a small
 * file system in memory, mounted in a name space of the test's own. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/care.h"
#include "store/check.h"
#include "store/jobs.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

enum { DISK_KB = 2048 };

/* Mounts the disk on the test's directory. */
static void mount_disk(const struct store_dir *d)
{
    char options[32];
    snprintf(options, sizeof options, "size=%dk", DISK_KB);
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", d->dir, "tmpfs", 0, options) < 0)
        SKIP("no right to mount a small disk");
}

static int unmount_and_remove(void **state)
{
    struct store_dir *d = *state;
    umount2(d->dir, MNT_DETACH);
    return store_dir_remove(state);
}

#define DISK_TEST(function)                                                                        \
    cmocka_unit_test_setup_teardown(function, store_dir_make, unmount_and_remove)

/* Takes what is left of the disk, but for `left` bytes. */
static void fill_disk(const struct store_dir *d, off_t left)
{
    static char block[1024];
    AUTO_CLOSE int fd = open(store_dir_file(d, "ballast"), O_CREAT | O_WRONLY | O_APPEND, 0600);
    assert_true(fd >= 0);
    while (write(fd, block, sizeof block) > 0)
        ;
    assert_int_equal(errno, ENOSPC);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(ftruncate(fd, st.st_size > left ? st.st_size - left : 0), 0);
}

static void free_disk(const struct store_dir *d)
{
    unlink(store_dir_file(d, "ballast"));
}

static int add_job(struct store *s, int64_t i, struct err *err)
{
    int64_t id;
    struct job_row row = store_dir_job(i);
    return store_dir_submit(s, &row, &id, err);
}

/* Commits one job at a time until the disk is full; returns how many there are. */
static unsigned commit_until_full(struct store *s, struct err *err)
{
    for (unsigned i = 0; i < 100000; i++)
        if (add_job(s, i, err) < 0 || store_commit(s, err) < 0)
            return i;
    fail_msg("the disk did not get full");
    return 0;
}

static void test_full_at_commit(void **state)
{
    struct store_dir *d = *state;
    struct err err = {0};
    mount_disk(d);
    struct store *s = store_dir_open(d);
    fill_disk(d, 100000);
    unsigned n = commit_until_full(s, &err);
    assert_int_equal(err.code, ERR_IO);
    assert_non_null(strstr(err.text, "no space left"));
    assert_non_null(strstr(err.text, "free some"));
    assert_non_null(strstr(err.text, d->dir));
    store_rollback(s);
    /* All that was committed can be read; writing fails the same way, again. */
    assert_true(n > 0);
    assert_int_equal(store_dir_count_jobs(s), n);
    for (int i = 0; i < 3; i++) {
        int rc = add_job(s, 1, &err);
        assert_error(rc < 0 ? rc : store_commit(s, &err), err, ERR_IO, "no space left");
        store_rollback(s);
        assert_false(store_dirty(s));
    }
    assert_int_equal(store_dir_count_jobs(s), n);
    free_disk(d);
    assert_ok(add_job(s, 1, &err), err);
    assert_ok(store_commit(s, &err), err);
    assert_int_equal(store_dir_count_jobs(s), n + 1);
    store_close(s);
    store_dir_check(d->path);
}

/* A turn that is larger than the cache meets the full disk before its commit. */
static void test_full_within_a_turn(void **state)
{
    struct store_dir *d = *state;
    struct err err = {0};
    mount_disk(d);
    struct store *s = store_dir_open(d);
    assert_ok(add_job(s, 0, &err), err);
    assert_ok(store_commit(s, &err), err);
    int rc = 0;
    int64_t i = 1;
    while (rc == 0 && i < 1000000)
        rc = add_job(s, i++, &err);
    assert_int_equal(rc, -1);
    assert_non_null(strstr(err.text, "no space left"));
    /* The turn is lost as a whole: a small write does not slip through. */
    assert_true(store_dirty(s));
    assert_error(store_meta_set(s, "a", "b", &err), err, ERR_IO, "no space left");
    assert_int_equal(store_dir_count_jobs(s), 1);
    assert_error(store_commit(s, &err), err, ERR_IO, "no space left");
    assert_false(store_dirty(s));
    assert_ok(store_commit(s, &err), err);
    assert_null(store_meta_get(s, "a"));
    assert_ok(add_job(s, 1, &err), err);
    assert_ok(store_commit(s, &err), err);
    assert_int_equal(store_dir_count_jobs(s), 2);
    store_close(s);
    store_dir_check(d->path);
}

static void test_opening_on_a_full_disk(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = NULL;
    mount_disk(d);
    fill_disk(d, 8192);
    assert_error(store_open(d->path, &s, &err), err, ERR_IO, "no space left");
    assert_null(s);
    /* Nothing is left of the attempt. */
    assert_int_equal(access(d->path, F_OK), -1);
    assert_int_equal(access(store_dir_file(d, "trainyard.db.new"), F_OK), -1);
    free_disk(d);
    s = store_dir_open(d);
    assert_ok(add_job(s, 0, &err), err);
    assert_ok(store_commit(s, &err), err);
    store_close(s);
    fill_disk(d, 0);
    s = NULL;
    assert_error(store_open(d->path, &s, &err), err, ERR_IO, "no space left");
    free_disk(d);
    s = store_dir_open(d);
    assert_int_equal(store_dir_count_jobs(s), 1);
    store_close(s);
}

static void test_care_on_a_full_disk(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    mount_disk(d);
    struct store *s = store_dir_open(d);
    for (int i = 0; i < 500; i++)
        assert_ok(add_job(s, i, &err), err);
    assert_ok(store_commit(s, &err), err);
    store_close(s);
    char *to = xstrdup(store_dir_file(d, "backup.db"));
    assert_ok(store_backup(d->path, to, NULL, NULL, &err), err);
    fill_disk(d, 100000);
    assert_error(store_backup(d->path, to, NULL, NULL, &err), err, ERR_IO, "no space left");
    assert_int_equal(access(store_dir_file(d, "backup.db.part"), F_OK), -1);
    assert_error(store_compact(d->path, &err), err, ERR_IO, "as much free space");
    assert_non_null(strstr(err.text, "no space left"));
    store_dir_check(to);
    store_dir_check(d->path);
    free(to);
}

static void test_read_only_disk(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s;
    mount_disk(d);
    s = store_dir_open(d);
    assert_ok(add_job(s, 0, &err), err);
    assert_ok(store_commit(s, &err), err);
    store_close(s);
    assert_int_equal(mount(NULL, d->dir, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    s = NULL;
    assert_error(store_open(d->path, &s, &err), err, ERR_IO, "cannot write");
    assert_non_null(strstr(err.text, "--state"));
    assert_error(store_open(store_dir_file(d, "new.db"), &s, &err), err, ERR_IO,
                 "Read-only file system");
    assert_error(store_compact(d->path, &err), err, ERR_IO, "cannot write");
    assert_error(store_backup(d->path, store_dir_file(d, "b.db"), NULL, NULL, &err), err, ERR_IO,
                 "Read-only file system");
    /* What can be saved is: a kernel that sees errors makes a disk read-only. */
    store_dir_check(d->path);
    char to[] = "/tmp/trainyard-store-XXXXXX";
    assert_non_null(mkdtemp(to));
    char file[64];
    snprintf(file, sizeof file, "%s/b.db", to);
    assert_ok(store_backup(d->path, file, NULL, NULL, &err), err);
    store_dir_check(file);
    store_dir_clear(to);
}

/* The same after a crash, with a log that holds the newest commits. */
static void test_read_only_disk_after_a_crash(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    mount_disk(d);
    struct store *s = store_dir_open(d);
    assert_ok(add_job(s, 0, &err), err);
    assert_ok(store_commit(s, &err), err);
    char copy[160], command[512];
    snprintf(copy, sizeof copy, "%s", store_dir_file(d, "copy.db"));
    snprintf(command, sizeof command, "for e in '' -wal -shm; do cp %s$e %s$e; done", d->path,
             copy);
    assert_int_equal(system(command), 0);
    store_close(s);
    assert_int_equal(mount(NULL, d->dir, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    AUTO_FREE char *report = NULL;
    assert_ok(store_check(copy, &report, &err), err);
    assert_non_null(strstr(report, "1 jobs"));
}

/* A directory that its user may not write to. */
static void test_read_only_directory(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store *s = NULL;
    bool root = geteuid() == 0;
    enum { NOBODY = 65534 };
    store_close(store_dir_open(d));
    /* Root may write to any directory. */
    if (root && (chown(d->dir, NOBODY, NOBODY) < 0 || chown(d->path, NOBODY, NOBODY) < 0 ||
                 seteuid(NOBODY) < 0))
        SKIP("no right to be another user");
    assert_int_equal(chmod(d->dir, 0500), 0);
    assert_error(store_open(d->path, &s, &err), err, ERR_IO, "Permission denied");
    assert_error(store_open(store_dir_file(d, "new.db"), &s, &err), err, ERR_IO,
                 "Permission denied");
    assert_int_equal(chmod(d->dir, 0700), 0);
    assert_int_equal(chmod(d->path, 0400), 0);
    assert_error(store_open(d->path, &s, &err), err, ERR_IO, "cannot write");
    assert_true(!root || seteuid(0) == 0);
}

static const struct CMUnitTest tests[] = {
    DISK_TEST(test_full_at_commit),         DISK_TEST(test_full_within_a_turn),
    DISK_TEST(test_opening_on_a_full_disk), DISK_TEST(test_care_on_a_full_disk),
    DISK_TEST(test_read_only_disk),         DISK_TEST(test_read_only_disk_after_a_crash),
    STORE_TEST(test_read_only_directory),
};

int main(void)
{
    return RUN(tests);
}
