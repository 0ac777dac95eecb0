/* The files of an attempt: the log, written and read by offset while it rotates;
 * the claim; the record. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/rng.h"
#include "protocol/claim.h"
#include "protocol/exit_record.h"
#include "protocol/logfile.h"
#include "protocol/logread.h"
#include "support/test.h"

/* A directory for one test; nothing in it may be a directory. */
static int open_folder(char *path)
{
    strcpy(path, "/tmp/test_files.XXXXXX");
    assert_non_null(mkdtemp(path));
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(dir >= 0);
    return dir;
}

static void remove_folder(int dir, const char *path)
{
    char command[128];
    close(dir);
    snprintf(command, sizeof command, "rm -rf %s", path);
    assert_int_equal(system(command), 0);
}

/* The byte at an offset, so that any piece of the log can be checked. */
static char byte_at(int64_t offset)
{
    return (char)rng_mix((uint64_t)offset);
}

static void write_bytes(struct logfile *l, int64_t *offset, size_t n)
{
    char bytes[9000];
    for (size_t i = 0; i < n; i++)
        bytes[i] = byte_at((*offset)++);
    logfile_write(l, bytes, n);
}

static void log_is_read_by_offset(void **state)
{
    (void)state;
    char path[64], bytes[5000];
    int dir = open_folder(path);
    struct logfile l;
    struct err e;
    struct rng rng;
    int64_t offset = 0, first, end;
    size_t got;
    rng_init(&rng, 7);
    assert_ok(logread_span(dir, 1000, &first, &end, &e), e);
    assert_int_equal(end, 0);
    assert_ok(logfile_open(&l, dir, 1000, 5, &e), e);
    for (unsigned i = 0; i < 300; i++) {
        write_bytes(&l, &offset, rng_below(&rng, 900));
        assert_int_equal(logfile_bytes(&l), offset);
        assert_ok(logread_span(dir, 1000, &first, &end, &e), e);
        assert_int_equal(end, offset);
        /* The last write may have filled a file just to its end. */
        assert_true(offset <= 6000 ? first == 0 : end - first >= 5000 && end - first <= 6000);
        int64_t from = (int64_t)rng_below(&rng, (uint64_t)offset + 10), asked = from;
        assert_ok(logread(dir, 1000, &from, bytes, sizeof bytes, &got, &e), e);
        assert_true(from == asked || (asked < first && from == first));
        if (from < end)
            assert_int_equal(got, end - from < 5000 ? end - from : 5000);
        for (size_t k = 0; k < got; k++)
            assert_int_equal(bytes[k], byte_at(from + (int64_t)k));
    }
    logfile_done(&l);
    remove_folder(dir, path);
}

/* One process writes and rotates as fast as it can, another follows. */
static void log_is_followed_while_it_rotates(void **state)
{
    (void)state;
    enum { TOTAL = 4000000, MAX = 5000 };
    char path[64], bytes[3000];
    int dir = open_folder(path);
    pid_t writer = fork();
    if (writer == 0) {
        struct logfile l;
        int64_t offset = 0;
        struct rng rng;
        rng_init(&rng, 3);
        if (logfile_open(&l, dir, MAX, 20, NULL) < 0)
            _exit(1);
        while (offset < TOTAL)
            write_bytes(&l, &offset, rng_below(&rng, 8000));
        _exit(0);
    }
    struct err e;
    int64_t offset = 0, skipped = 0, status = -1;
    for (bool ended = false;;) {
        int64_t asked = offset;
        size_t got;
        ended = ended || waitpid(writer, (int *)&status, WNOHANG) == writer;
        assert_ok(logread(dir, MAX, &offset, bytes, sizeof bytes, &got, &e), e);
        assert_true(offset >= asked);
        skipped += offset - asked;
        for (size_t k = 0; k < got; k++)
            if (bytes[k] != byte_at(offset + (int64_t)k))
                fail_msg("wrong byte at %lld", (long long)(offset + (int64_t)k));
        offset += (int64_t)got;
        if (ended && !got)
            break;
    }
    assert_true(offset >= TOTAL && skipped < TOTAL);
    remove_folder(dir, path);
}

static void notes_of_our_own_begin_a_line(void **state)
{
    (void)state;
    char path[64], bytes[2000];
    int dir = open_folder(path);
    struct logfile l;
    struct err e;
    size_t got;
    int64_t offset = 0;
    assert_ok(logfile_open(&l, dir, 100000, 3, &e), e);
    logfile_note(&l, "%s", "one");
    logfile_write(&l, "half", 4);
    logfile_note(&l, "%s", "two");
    char longest[1000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    logfile_note(&l, "%s", longest);
    assert_ok(logread(dir, 100000, &offset, bytes, sizeof bytes - 1, &got, &e), e);
    bytes[got] = '\0';
    assert_memory_equal(bytes, "[trainyard: one]\nhalf\n[trainyard: two]\n[trainyard: xxx", 54);
    assert_string_equal(bytes + got - 3, "x]\n");
    logfile_done(&l);
    remove_folder(dir, path);
}

static void claim_is_taken_once(void **state)
{
    (void)state;
    char path[64];
    int dir = open_folder(path), fd, again;
    struct claim c;
    struct err e;
    assert_ok(claim_look(dir, &c, &e), e);
    assert_int_equal(c.state, CLAIM_NONE);
    assert_ok(claim_take(dir, &fd, &e), e);
    assert_error(claim_take(dir, &again, &e), e, ERR_CONFLICT, "another");
    assert_error(claim_void(dir, &e), e, ERR_CONFLICT, "another");
    claim_add_leader(fd, getppid());
    assert_ok(claim_look(dir, &c, &e), e);
    struct proc self, parent;
    proc_read(getpid(), &self);
    proc_read(getppid(), &parent);
    assert_int_equal(c.state, CLAIM_HELD);
    assert_int_equal(c.pid, getpid());
    assert_int_equal(c.start, self.start);
    assert_int_equal(c.leader, getppid());
    assert_int_equal(c.leader_start, parent.start);
    close(fd);
    assert_ok(claim_look(dir, &c, &e), e);
    assert_int_equal(c.state, CLAIM_DEAD);
    assert_error(claim_void(dir, &e), e, ERR_CONFLICT, "another");
    remove_folder(dir, path);
}

static void void_claim_stays_void(void **state)
{
    (void)state;
    char path[64];
    int dir = open_folder(path), fd;
    struct claim c;
    struct err e;
    assert_ok(claim_void(dir, &e), e);
    assert_error(claim_take(dir, &fd, &e), e, ERR_CONFLICT, "another");
    assert_ok(claim_look(dir, &c, &e), e);
    assert_int_equal(c.state, CLAIM_VOID);
    remove_folder(dir, path);
}

static void strange_claims_are_errors(void **state)
{
    (void)state;
    char path[64];
    int dir = open_folder(path);
    struct claim c;
    struct err e;
    int fd = openat(dir, "claim", O_WRONLY | O_CREAT, 0600);
    assert_error(claim_look(dir, &c, &e), e, ERR_INVALID, "neither");
    assert_int_equal(write(fd, "hello\n", 6), 6);
    assert_error(claim_look(dir, &c, &e), e, ERR_INVALID, "neither");
    close(fd);
    remove_folder(dir, path);
}

static void record_is_whole_or_not_there(void **state)
{
    (void)state;
    static const char line[] =
        "{\"type\":\"exit\",\"job\":3,\"attempt\":1,\"started_us\":5,\"at_us\":7,\"code\":1,"
        "\"signal\":0,"
        "\"oom\":false,\"timeout\":true,\"reason\":\"late\",\"log_bytes\":0,\"log_dropped\":0,"
        "\"warnings\":[\"a\"]}\n";
    struct arena arena = {0};
    struct exit_record r;
    char path[64];
    int dir = open_folder(path);
    struct err e;
    int fd = exit_record_reserve(dir);
    assert_true(fd >= 0);
    assert_int_equal(faccessat(dir, "exit.json", F_OK, 0), -1);
    assert_error(exit_record_read(dir, &arena, &r, &e), e, ERR_NOT_FOUND, "cannot read exit.json");
    assert_error(exit_record_sync(dir, &e), e, ERR_IO, "cannot sync exit.json");
    assert_ok(exit_record_write(dir, fd, line, sizeof line - 1, &e), e);
    assert_ok(exit_record_sync(dir, &e), e);
    assert_ok(exit_record_read(dir, &arena, &r, &e), e);
    assert_true(r.job == 3 && r.at == 7 && r.code == 1 && r.timeout && r.usage.cpu_us == -1);
    assert_string_equal(r.reason, "late");
    assert_string_equal(r.warnings[0], "a");
    assert_int_equal(faccessat(dir, "exit.json.tmp", F_OK, 0), -1);
    /* Without the reservation it works as well. */
    assert_ok(exit_record_write(dir, -1, "{}\n", 3, &e), e);
    assert_error(exit_record_read(dir, &arena, &r, &e), e, ERR_INVALID,
                 "exit.json: job is missing");
    assert_int_equal(r.job, 3);
    arena_done(&arena);
    remove_folder(dir, path);
}

/* ---- hostile files ------------------------------------------------------------------ */

static void expect_nothing(int dir)
{
    char bytes[64];
    struct err e;
    int64_t first, end, from = 0;
    size_t got;
    assert_ok(logread_span(dir, 1000, &first, &end, &e), e);
    assert_int_equal(first, 0);
    assert_int_equal(end, 0);
    assert_ok(logread(dir, 1000, &from, bytes, sizeof bytes, &got, &e), e);
    assert_int_equal(got, 0);
}

/* A job can put anything in the place of its log. */
static void what_is_not_a_file_is_no_log(void **state)
{
    (void)state;
    char path[64];
    int dir = open_folder(path);
    assert_int_equal(mkfifoat(dir, "log", 0600), 0);
    expect_nothing(dir);
    assert_int_equal(unlinkat(dir, "log", 0), 0);
    assert_int_equal(symlinkat("/etc/passwd", dir, "log"), 0);
    expect_nothing(dir);
    assert_int_equal(unlinkat(dir, "log", 0), 0);
    assert_int_equal(mkdirat(dir, "log", 0700), 0);
    expect_nothing(dir);
    remove_folder(dir, path);
}

static void put(int dir, const char *name, const char *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void parts_that_nobody_wrote(void **state)
{
    (void)state;
    char path[64], bytes[64];
    struct err e;
    int64_t from = 0, first, end;
    size_t got;
    int dir = open_folder(path);
    put(dir, "log.99999999999999999999", "");
    put(dir, "log.9223372036854775806", "");
    put(dir, "log.9223372036854776", "");
    put(dir, "log.-1", "");
    put(dir, "log.7", "seven");
    put(dir, "log.9", "nine");
    put(dir, "log", "last");
    assert_ok(logread_span(dir, 1000, &first, &end, &e), e);
    assert_int_equal(first, 6000);
    assert_int_equal(end, 9004);
    assert_ok(logread(dir, 1000, &from, bytes, sizeof bytes, &got, &e), e);
    assert_int_equal(from, 6000);
    assert_int_equal(got, 5);
    from = 6005; /* the rest of it, and the next, are missing */
    assert_ok(logread(dir, 1000, &from, bytes, sizeof bytes, &got, &e), e);
    assert_int_equal(from, 8000);
    assert_int_equal(got, 4);
    from = 7500;
    assert_ok(logread(dir, 1000, &from, bytes, sizeof bytes, &got, &e), e);
    assert_int_equal(from, 8000);
    remove_folder(dir, path);
}

/* No part is larger than a part can be. */
static void a_log_that_is_too_large(void **state)
{
    (void)state;
    char path[64], bytes[64];
    struct err e;
    int64_t from = 990, first, end;
    size_t got;
    int dir = open_folder(path);
    put(dir, "log", "");
    int fd = openat(dir, "log", O_WRONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
    close(fd);
    assert_ok(logread_span(dir, 1000, &first, &end, &e), e);
    assert_int_equal(end, 1000);
    assert_ok(logread(dir, 1000, &from, bytes, sizeof bytes, &got, &e), e);
    assert_int_equal(got, 10);
    remove_folder(dir, path);
}

static void records_that_are_none(void **state)
{
    (void)state;
    char path[64];
    struct err e;
    struct claim c;
    struct exit_record r;
    struct arena arena = {0};
    int dir = open_folder(path);
    assert_int_equal(mkfifoat(dir, "claim", 0600), 0);
    assert_error(claim_look(dir, &c, &e), e, ERR_INVALID, "it is not a regular file");
    assert_int_equal(symlinkat("/etc/passwd", dir, "exit.json"), 0);
    assert_error(exit_record_read(dir, &arena, &r, &e), e, ERR_INVALID, "it is not a regular file");
    assert_int_equal(unlinkat(dir, "exit.json", 0), 0);
    put(dir, "exit.json", "{");
    int fd = openat(dir, "exit.json", O_WRONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
    close(fd);
    assert_error(exit_record_read(dir, &arena, &r, &e), e, ERR_INVALID, "more than 8192 bytes");
    arena_done(&arena);
    remove_folder(dir, path);
}

static const struct CMUnitTest tests[] = {
    TEST(a_log_that_is_too_large),       TEST(records_that_are_none),
    TEST(what_is_not_a_file_is_no_log),  TEST(parts_that_nobody_wrote),
    TEST(log_is_read_by_offset),         TEST(log_is_followed_while_it_rotates),
    TEST(notes_of_our_own_begin_a_line), TEST(claim_is_taken_once),
    TEST(void_claim_stays_void),         TEST(strange_claims_are_errors),
    TEST(record_is_whole_or_not_there),
};

int main(void)
{
    return RUN(tests);
}
