/* Tests of sim/outfile: a file appears whole or not at all. */
#include "sim/report/outfile.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

/* Each test has a directory of its own and stands in it. */
static int enter_directory(void **state)
{
    char *dir = xstrdup("/tmp/trainyard-outfile-XXXXXX");
    *state = dir;
    return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static unsigned files_here(void)
{
    unsigned n = 0;
    DIR *d = opendir(".");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static int leave_directory(void **state)
{
    DIR *d = opendir(".");
    for (struct dirent *e; d && (e = readdir(d));)
        remove(e->d_name);
    if (d)
        closedir(d);
    int rc = chdir("/") || rmdir(*state);
    free(*state);
    return rc;
}

static void write_file(const char *path, const char *text)
{
    struct outfile f;
    struct err err;
    assert_ok(outfile_open(&f, path, &err), err);
    fputs(text, f.stream);
    assert_ok(outfile_commit(&f, &err), err);
}

static void assert_holds(const char *path, const char *text)
{
    char buf[64] = "";
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_true(fread(buf, 1, sizeof buf - 1, in) <= sizeof buf);
    fclose(in);
    assert_string_equal(buf, text);
}

static void test_new_file(void **state)
{
    (void)state;
    struct stat st;
    mode_t mask = umask(027);
    write_file("a", "one");
    umask(mask);
    assert_holds("a", "one");
    assert_int_equal(stat("a", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(files_here(), 1);
}

static void test_replaced_at_the_end(void **state)
{
    (void)state;
    struct outfile f;
    struct err err;
    struct stat st;
    write_file("a", "old");
    assert_int_equal(chmod("a", 0600), 0);
    assert_ok(outfile_open(&f, "a", &err), err);
    fputs("new", f.stream);
    fflush(f.stream);
    assert_holds("a", "old");
    assert_ok(outfile_commit(&f, &err), err);
    assert_holds("a", "new");
    assert_int_equal(stat("a", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(files_here(), 1);
}

static void test_link_is_followed(void **state)
{
    (void)state;
    struct stat st;
    write_file("real", "old");
    assert_int_equal(symlink("real", "link"), 0);
    write_file("link", "new");
    assert_holds("real", "new");
    assert_int_equal(lstat("link", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

static void test_devices_stay(void **state)
{
    (void)state;
    struct stat st;
    struct outfile f;
    struct err err;
    write_file("/dev/null", "gone");
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_ok(outfile_open(&f, "/dev/full", &err), err);
    fputs("no room", f.stream);
    assert_error(outfile_commit(&f, &err), err, ERR_IO, "cannot write /dev/full: No space left");
}

static void test_bad_places(void **state)
{
    (void)state;
    struct outfile f;
    struct err err;
    assert_error(outfile_open(&f, ".", &err), err, ERR_IO, "cannot write .: Is a directory");
    assert_error(outfile_open(&f, "none/a", &err), err, ERR_IO,
                 "cannot write none/a: No such file or directory");
    assert_error(outfile_open(&f, "", &err), err, ERR_IO, "cannot write : ");
    write_file("a", "x");
    assert_error(outfile_open(&f, "a/b", &err), err, ERR_IO, "cannot write a/b: Not a directory");
    assert_int_equal(files_here(), 1);
}

/* A write that fails half-way leaves what was there, and nothing else. */
static void test_failed_write(void **state)
{
    (void)state;
    struct outfile f;
    struct err err;
    struct rlimit before;
    write_file("a", "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_ok(outfile_open(&f, "a", &err), err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, before.rlim_max}), 0);
    for (int i = 0; i < 100000; i++)
        fputc('x', f.stream);
    int rc = outfile_commit(&f, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(rc, -1);
    assert_int_equal(err.code, ERR_IO);
    assert_holds("a", "old");
    assert_int_equal(files_here(), 1);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

static const struct CMUnitTest tests[] = {
    IN_DIRECTORY(test_new_file),         IN_DIRECTORY(test_replaced_at_the_end),
    IN_DIRECTORY(test_link_is_followed), IN_DIRECTORY(test_devices_stay),
    IN_DIRECTORY(test_bad_places),       IN_DIRECTORY(test_failed_write),
};

int main(void)
{
    return RUN(tests);
}
