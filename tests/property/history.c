/* A history that a live server has recorded (tests/history/record.py) is replayed: every
 * plan and every effect must come out the same, byte for byte. So the live server and
 * whatever else drives the engine decide alike. The recording must have all that is
 * looked for here, so that the test cannot become empty. */
#include "journal/replay.h"
#include "support/test.h"

#define RECORDING "tests/history/live.journal"

/* Splits "SEQ BOOT KIND DATA" in place. */
struct row {
    int64_t seq, boot;
    const char *kind, *data;
};

static struct row split(char *line)
{
    struct row row = {0};
    char *rest;
    line[strcspn(line, "\n")] = '\0';
    row.seq = strtoll(strtok_r(line, " ", &rest), NULL, 10);
    row.boot = strtoll(strtok_r(NULL, " ", &rest), NULL, 10);
    row.kind = strtok_r(NULL, " ", &rest);
    row.data = rest;
    if (!row.seq || !row.boot || !row.kind)
        fail_msg(RECORDING ": '%s' is not a row", line);
    return row;
}

/* What the recording must show. */
static const char *const wanted[] = {
    "\"kind\":\"policy\"",         "\"kind\":\"restore\"",
    "\"kind\":\"node\"",           "\"kind\":\"job\"", /* a size that a user changed */
    "\"no_preempt\":true",                             /* a job that must not be preempted */
    "\"policy\":\"flowcon:",                           /* CPUs shared by weight, and others not */
    "\"policy\":\"elastic-fifo\"", "\"policy\":\"tradl\"",
    "\"kind\":\"start\"",          "\"kind\":\"resize\"",
    "\"kind\":\"preempt\"",        "\"kind\":\"pause\"",
    "\"kind\":\"share\"",          "\"kind\":\"list\"",
};

static void test_live_history(void **state)
{
    (void)state;
    struct replay_result found = {0};
    struct replay *r = replay_create(&found);
    bool seen[COUNT_OF(wanted)] = {0};
    char *line = NULL;
    size_t cap = 0;
    struct err err;
    FILE *f = fopen(RECORDING, "r");
    if (!f)
        fail_msg(RECORDING " cannot be read; run the test in the project's directory");
    while (getline(&line, &cap, f) > 0) {
        struct row row = split(line);
        for (size_t i = 0; i < COUNT_OF(wanted); i++)
            seen[i] |= strstr(row.data, wanted[i]) != NULL;
        assert_ok(replay_row(r, row.seq, row.boot, row.kind, row.data, &err), err);
    }
    replay_end(r);
    fclose(f);
    free(line);
    if (found.differing)
        print_error("row %lld\nrecorded   %s\nreproduced %s\n", (long long)found.first_seq,
                    found.was.at, found.is.at);
    assert_int_equal(found.differing, 0);
    assert_int_equal(found.passed_over, 0);
    assert_int_equal(found.boots, 2);
    assert_true(found.decisions > 20);
    for (size_t i = 0; i < COUNT_OF(wanted); i++)
        if (!seen[i])
            fail_msg("the recording has no %s", wanted[i]);
    replay_free(r);
    replay_result_done(&found);
}

static const struct CMUnitTest tests[] = {TEST(test_live_history)};

int main(void)
{
    return RUN(tests);
}
