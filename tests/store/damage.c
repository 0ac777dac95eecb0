/* Damages databases at random, hundreds of times, and uses what is left of them in
 * every way: it is refused, reported or read, but nothing crashes, hangs or fails
 * without a word. With a number as its argument it makes that many rounds. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/str.h"
#include "store/attempts.h"
#include "store/care.h"
#include "store/check.h"
#include "store/deps.h"
#include "store/events.h"
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/journal.h"
#include "store/nodes.h"
#include "store/samples.h"
#include "store/speeds.h"
#include "store/store.h"
#include "store/trim.h"
#include "support/store_dir.h"
#include "support/test.h"

enum { PAGE = 4096, LIMIT_S = 60 };

static unsigned rounds = 60;

static const char *const endings[] = {"", "-wal"};

struct image {
    char *bytes[COUNT_OF(endings)];
    size_t size[COUNT_OF(endings)];
};

/* ---- the database that is damaged ---------------------------------------- */

static void fill(struct store *s)
{
    struct err err;
    int64_t id, seq, boot;
    char large[20000];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    assert_ok(store_boot_begin(s, 1, &boot, &err), err);
    for (int i = 0; i < 300; i++) {
        struct job_row row = store_dir_job(i);
        row.state = (enum job_state)(i % JOB_STATE_COUNT);
        row.array = i == 0 ? JOB_ARRAY_FIRST : i < 20;
        assert_ok(store_dir_submit(s, &row, &id, &err), err);
        struct attempt_row attempt = {.job = id, .n = 1, .state = row.state};
        struct sample_row sample = {.at = i};
        struct speed_row speed = {.size = 1 + (uint32_t)i % 4};
        assert_ok(store_attempt_add(s, &attempt, &err), err);
        assert_ok(store_event_add(s, i, id % 7, "started", "{}", &seq, &err), err);
        assert_ok(store_sample_add(s, id < 4 ? 1 : 1 + id % 3, 1, &sample, &err), err);
        assert_ok(store_speed_save(s, id, &speed, &err), err);
        assert_ok(store_node_save(s, &(struct node_row){.name = row.user}, &err), err);
        assert_ok(store_dep_add(s, id, 1, 1, &err), err);
        if (i % 50 == 0)
            assert_ok(store_journal_add(s, "snapshot", large, &err), err);
    }
    assert_ok(store_commit(s, &err), err);
}

static void read_file(const char *path, char **bytes, size_t *size)
{
    struct stat st;
    AUTO_CLOSE int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    *size = (size_t)st.st_size;
    *bytes = xmalloc(*size + 1);
    assert_int_equal(read(fd, *bytes, *size), st.st_size);
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    AUTO_CLOSE int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
}

/* The files after a clean end, or as a crash leaves them, with commits in the log. */
static void take_image(const struct store_dir *d, bool crash, struct image *image)
{
    struct err err;
    struct store *s = store_dir_open(d);
    fill(s);
    store_close(s);
    *image = (struct image){0};
    read_file(d->path, &image->bytes[0], &image->size[0]);
    if (!crash)
        return;
    s = store_dir_open(d);
    for (int64_t i = 0, id; i < 20; i++) {
        struct job_row row = store_dir_job(i);
        assert_ok(store_dir_submit(s, &row, &id, &err), err);
        assert_ok(store_commit(s, &err), err);
    }
    read_file(store_dir_file(d, "trainyard.db-wal"), &image->bytes[1], &image->size[1]);
    store_close(s);
}

static void put_image(const char *path, const struct image *image)
{
    char name[256];
    for (size_t i = 0; i < COUNT_OF(endings); i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
        if (image->bytes[i])
            write_file(name, image->bytes[i], image->size[i]);
    }
    snprintf(name, sizeof name, "%s-shm", path);
    unlink(name);
}

/* ---- damage -------------------------------------------------------------- */

static void damage_bytes(struct rng *r, char *bytes, size_t size)
{
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff, 5, 10, 13};
    size_t at = rng_below(r, 3) ? rng_below(r, size)
                                : rng_below(r, size / PAGE + 1) * PAGE + rng_below(r, 120);
    size_t n = 1 + rng_below(r, rng_below(r, 4) ? 4 : PAGE);
    for (size_t i = at; i < at + n && i < size; i++)
        bytes[i] =
            (char)(rng_below(r, 2) ? values[rng_below(r, COUNT_OF(values))] : rng_below(r, 256));
}

static void damage_page(struct rng *r, char *bytes, size_t size)
{
    size_t pages = size / PAGE;
    if (pages < 2)
        return;
    char *to = bytes + rng_below(r, pages) * PAGE, *from = bytes + rng_below(r, pages) * PAGE;
    if (rng_below(r, 2))
        memmove(to, from, PAGE);
    else
        memset(to, rng_below(r, 2) ? 0 : 0xff, PAGE);
}

static struct image damaged(struct rng *r, const struct image *good)
{
    struct image bad = *good;
    for (size_t i = 0; i < COUNT_OF(endings); i++)
        if (good->bytes[i])
            bad.bytes[i] = memcpy(xmalloc(good->size[i] + 1), good->bytes[i], good->size[i]);
    size_t which = bad.bytes[1] ? rng_below(r, 2) : 0;
    for (uint64_t n = 1 + rng_below(r, 4); n > 0; n--) {
        switch (rng_below(r, 8)) {
        case 0:
            damage_page(r, bad.bytes[which], bad.size[which]);
            break;
        case 1:
            bad.size[which] = rng_below(r, bad.size[which]) + 1;
            break;
        default:
            damage_bytes(r, bad.bytes[which], bad.size[which]);
        }
    }
    return bad;
}

static void image_done(struct image *image)
{
    for (size_t i = 0; i < COUNT_OF(endings); i++)
        free(image->bytes[i]);
}

/* ---- use ----------------------------------------------------------------- */

static int see_job(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    *(size_t *)ctx += strlen(row->name) + strlen(row->user) + strlen(row->command) +
                      strlen(row->reason) + strlen(job_state_name(row->state)) +
                      strlen(row->metric_name) + strlen(row->progress_source);
    return 0;
}

static int see_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    (void)err;
    *(size_t *)ctx += strlen(row->node) + strlen(row->token) + strlen(row->boot) +
                      strlen(row->stop) + strlen(row->reason);
    return 0;
}

static int see_node(void *ctx, const struct node_row *row, struct err *err)
{
    (void)err;
    *(size_t *)ctx += strlen(row->name) + strlen(row->reason);
    return 0;
}

static int see_speed(void *ctx, const struct speed_row *row, struct err *err)
{
    (void)err;
    *(size_t *)ctx += row->size;
    return 0;
}

static int see_dep(void *ctx, int64_t job, int kind, int64_t on, struct err *err)
{
    (void)err;
    *(size_t *)ctx += (size_t)job + (size_t)kind + (size_t)on;
    return 0;
}

static int see_event(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                     const char *json, struct err *err)
{
    (void)err, (void)seq, (void)at, (void)job;
    *(size_t *)ctx += strlen(kind) + strlen(json);
    return 0;
}

static int see_sample(void *ctx, uint32_t attempt, const struct sample_row *row, struct err *err)
{
    (void)err, (void)row;
    *(size_t *)ctx += attempt;
    return 0;
}

static int see_entry(void *ctx, int64_t seq, int64_t boot, const char *kind, const char *data,
                     struct err *err)
{
    (void)err, (void)seq, (void)boot;
    *(size_t *)ctx += strlen(kind) + strlen(data);
    return 0;
}

/* Counts failures; each must say something. */
static unsigned failed(int rc, const struct err *err)
{
    if (rc == 0)
        return 0;
    assert_int_equal(rc, -1);
    assert_true(err->code != ERR_OK && err->text[0]);
    return 1;
}

static unsigned use_reads(struct store *s)
{
    static const struct job_filter filters[] = {
        {0},
        {.oldest_first = true},
        {.states = 0x3ff},
        {.user = "user3"},
        {.name = "train-0001*"},
        {.array = 1},
    };
    struct err err = {0};
    size_t seen = 0;
    unsigned n = 0;
    char *text = NULL;
    for (size_t i = 0; i < COUNT_OF(filters); i++)
        n += failed(store_job_list(s, &filters[i], see_job, &seen, &err), &err);
    n += failed(store_job_get(s, 7, see_job, &seen, &err), &err);
    n += failed(store_request_get(s, 7, &text, &err), &err);
    free(text);
    n += failed(store_node_list(s, see_node, &seen, &err), &err);
    n += failed(store_speed_list(s, 7, see_speed, &seen, &err), &err);
    n += failed(store_dep_list(s, see_dep, &seen, &err), &err);
    n += failed(store_attempt_list(s, 0, see_attempt, &seen, &err), &err);
    n += failed(store_attempt_list(s, 9, see_attempt, &seen, &err), &err);
    n += failed(store_event_list(s, 0, 0, 0, see_event, &seen, &err), &err);
    n += failed(store_event_list(s, 0, 3, 0, see_event, &seen, &err), &err);
    n += failed(store_sample_list(s, 2, see_sample, &seen, &err), &err);
    n += failed(store_journal_list(s, 1, see_entry, &seen, &err), &err);
    n += failed(store_journal_list(s, 0, see_entry, &seen, &err), &err);
    free(store_meta_get(s, "a"));
    return n;
}

static unsigned use_writes(struct store *s)
{
    struct err err = {0};
    int64_t id = 0;
    uint64_t removed;
    unsigned n = 0;
    struct job_row row = store_dir_job(1);
    struct attempt_row attempt = {.job = 5, .n = 2};
    struct sample_row sample = {0};
    struct speed_row speed = {.size = 2};
    n += failed(store_dir_submit(s, &row, &id, &err), &err);
    row.id = 3;
    row.state = JOB_DONE;
    n += failed(store_job_save(s, &row, &err), &err);
    n += failed(store_attempt_add(s, &attempt, &err), &err);
    n += failed(store_sample_add(s, 2, 1, &sample, &err), &err);
    n += failed(store_speed_save(s, 2, &speed, &err), &err);
    n += failed(store_node_save(s, &(struct node_row){.name = "n1"}, &err), &err);
    n += failed(store_event_add(s, 1, 1, "x", "{}", &id, &err), &err);
    n += failed(store_boot_begin(s, 1, &id, &err), &err);
    n += failed(store_journal_add(s, "x", "{}", &err), &err);
    n += failed(store_meta_set(s, "x", "y", &err), &err);
    n += failed(store_commit(s, &err), &err);
    n += failed(store_trim(s, 1000, &removed, &err), &err);
    n += failed(store_commit(s, &err), &err);
    assert_false(store_dirty(s));
    return n;
}

struct tally {
    unsigned refused, failed, found, unnoticed;
};

static void use(const struct store_dir *d, const char *path, struct tally *tally)
{
    struct err err = {0};
    struct store *s = NULL;
    AUTO_FREE char *report = NULL;
    char *to = xstrdup(store_dir_file(d, "backup.db"));
    bool found = failed(store_check(path, &report, &err), &err);
    assert_true(report && *report);
    failed(store_backup(path, to, NULL, NULL, &err), &err);
    unlink(to);
    free(to);
    bool refused = failed(store_open(path, &s, &err), &err), broken = false;
    if (!refused) {
        broken = use_reads(s);
        broken |= use_writes(s) > 0;
        store_close(s);
    }
    failed(store_compact(path, &err), &err);
    tally->found += found;
    tally->refused += refused;
    tally->failed += broken;
    tally->unnoticed += !found && !refused && !broken;
}

static void damage_many(struct store_dir *d, bool crash)
{
    struct image good;
    struct tally tally = {0};
    char *path = xstrdup(store_dir_file(d, "bad.db"));
    take_image(d, crash, &good);
    for (unsigned i = 0; i < rounds; i++) {
        struct rng r;
        rng_init(&r, 2 * i + crash);
        struct image bad = damaged(&r, &good);
        put_image(path, &bad);
        alarm(LIMIT_S);
        use(d, path, &tally);
        alarm(0);
        image_done(&bad);
    }
    print_message("%u rounds: check found %u, open refused %u, use failed %u, unnoticed %u\n",
                  rounds, tally.found, tally.refused, tally.failed, tally.unnoticed);
    assert_true(tally.found > rounds / 20);
    image_done(&good);
    free(path);
}

static void test_after_a_clean_end(void **state)
{
    damage_many(*state, false);
}

static void test_after_a_crash(void **state)
{
    damage_many(*state, true);
}

/* Each page in turn is lost. All but those that a large text fills, and free ones,
 * are missed; what can be missed is found. */
static void test_lost_pages(void **state)
{
    struct store_dir *d = *state;
    struct image good;
    unsigned found = 0, pages;
    take_image(d, false, &good);
    pages = (unsigned)(good.size[0] / PAGE);
    for (unsigned i = 0; i < pages; i++) {
        struct err err;
        AUTO_FREE char *report = NULL;
        char kept[PAGE];
        memcpy(kept, good.bytes[0] + i * PAGE, PAGE);
        memset(good.bytes[0] + i * PAGE, 0, PAGE);
        put_image(d->path, &good);
        found += failed(store_check(d->path, &report, &err), &err);
        memcpy(good.bytes[0] + i * PAGE, kept, PAGE);
    }
    /* Six texts of 20 kB fill 29 pages with nothing else. */
    assert_true(found + 6 * 5 >= pages);
    image_done(&good);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST_IN_MEMORY(test_after_a_clean_end),
    STORE_TEST_IN_MEMORY(test_after_a_crash),
    STORE_TEST_IN_MEMORY(test_lost_pages),
};

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = (unsigned)strtoul(argv[1], NULL, 10);
    return RUN(tests);
}
