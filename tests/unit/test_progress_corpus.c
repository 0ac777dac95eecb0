/* Tests of the conductor's progress on a corpus of outputs, however they are cut to
 * pieces. tests/corpus/progress/NAME.log is a program's output, NAME.expected what
 * must be known after each change, one JSON object a line; names that begin with
 * "not-" expect nothing. UPDATE_CORPUS=1 writes the expectations again: read the
 * diff. */
#include "progress/progress.h"

#include <dirent.h>

#include "base/rng.h"
#include "support/progress_json.h"
#include "support/test.h"

#define CORPUS "tests/corpus/progress/"

static struct progress_reader *reader(void)
{
    struct progress_reader *r = NULL;
    struct err err;
    struct progress_config config = {0};
    assert_ok(progress_create(&config, &r, &err), err);
    return r;
}

static void describe(const struct progress_reader *r, struct str *out)
{
    str_add(out, "{");
    progress_add_json(progress_now(r), out);
    str_add(out, "}\n");
}

static void load(const char *name, const char *ending, struct str *out)
{
    char path[512], piece[65536];
    snprintf(path, sizeof path, CORPUS "%s%s", name, ending);
    FILE *in = fopen(path, "r");
    if (!in)
        fail_msg("%s: cannot be opened", path);
    str_add(out, "");
    for (size_t n; (n = fread(piece, 1, sizeof piece, in)) > 0;)
        str_add_n(out, piece, n);
    fclose(in);
}

static void check_invariants(const char *name, const struct progress *was, const struct progress *p)
{
    if ((p->has & PROGRESS_TOTAL) && (p->has & PROGRESS_STEP) && p->total < p->step)
        fail_msg("%s: step %lld of %lld", name, (long long)p->step, (long long)p->total);
    /* Only a better source may take the step back: one that is surer, or knows the end. */
    bool better =
        was->weak != p->weak || (!(was->has & PROGRESS_TOTAL) && (p->has & PROGRESS_TOTAL));
    if ((was->has & PROGRESS_STEP) && p->step < was->step && !better)
        fail_msg("%s: the step fell from %lld to %lld", name, (long long)was->step,
                 (long long)p->step);
    assert_true(p->n_metrics <= PROGRESS_METRICS);
}

/* Byte by byte: each state that the output goes through. */
static void read_states(const char *name, const struct str *log, struct str *out)
{
    struct progress_reader *r = reader();
    struct progress was = {0};
    str_add(out, "");
    for (size_t i = 0; i <= log->n; i++) {
        bool news = i < log->n ? progress_feed(r, log->at + i, 1) : progress_settle(r);
        if (!news)
            continue;
        describe(r, out);
        check_invariants(name, &was, progress_now(r));
        was = *progress_now(r);
    }
    progress_free(r);
}

/* Cut to pieces of up to `most` bytes the output says the same in the end. */
static void check_pieces(const char *name, const struct str *log, size_t most, struct rng *rng,
                         const struct str *states)
{
    struct progress_reader *r = reader();
    struct str end = {0};
    uint64_t changes = 0;
    for (size_t i = 0; i < log->n;) {
        size_t n = 1 + rng_below(rng, most);
        n = n < log->n - i ? n : log->n - i;
        progress_feed(r, log->at + i, n);
        i += n;
    }
    progress_settle(r);
    for (size_t i = 0; i < states->n; i++)
        changes += states->at[i] == '\n';
    describe(r, &end);
    if (progress_now(r)->seq != changes)
        fail_msg("%s: %llu changes in pieces of %zu, %llu byte by byte", name,
                 (unsigned long long)progress_now(r)->seq, most, (unsigned long long)changes);
    if (changes && strcmp(states->at + states->n - end.n, end.at) != 0)
        fail_msg("%s: pieces of %zu end with %s", name, most, end.at);
    str_done(&end);
    progress_free(r);
}

static void check_case(const char *name, struct rng *rng)
{
    struct str log = {0}, states = {0}, expected = {0};
    load(name, ".log", &log);
    read_states(name, &log, &states);
    if (getenv("UPDATE_CORPUS")) {
        char path[512];
        snprintf(path, sizeof path, CORPUS "%s.expected", name);
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        fwrite(states.at, 1, states.n, out);
        fclose(out);
    }
    load(name, ".expected", &expected);
    if (strcmp(states.at, expected.at) != 0) {
        size_t i = 0;
        while (states.at[i] == expected.at[i])
            i++;
        while (i && states.at[i - 1] != '\n')
            i--;
        fail_msg("%s: reads\n%.300s\nwhere this is expected\n%.300s", name, states.at + i,
                 expected.at + i);
    }
    if (!strncmp(name, "not-", 4) == (states.n > 0))
        fail_msg("%s: %s", name, states.n ? "takes this for progress" : "finds no progress");
    static const size_t sizes[] = {1, 2, 3, 7, 100, 4096, 1 << 20};
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        check_pieces(name, &log, sizes[i], rng, &states);
    str_done(&log);
    str_done(&states);
    str_done(&expected);
}

static void test_corpus(void **state)
{
    (void)state;
    struct rng rng;
    struct dirent **names;
    int n = scandir(CORPUS, &names, NULL, alphasort), with = 0, without = 0;
    rng_init(&rng, 1);
    if (n < 0)
        fail_msg(CORPUS ": not found; run from the root of the tree");
    for (int i = 0; i < n; i++) {
        char *dot = strrchr(names[i]->d_name, '.');
        if (dot && !strcmp(dot, ".log")) {
            *dot = '\0';
            check_case(names[i]->d_name, &rng);
            if (strncmp(names[i]->d_name, "not-", 4) == 0)
                without++;
            else
                with++;
        }
        free(names[i]);
    }
    free(names);
    assert_true(with >= 40 && without >= 25);
}

/* Every output of the corpus behind another: nothing is lost or confused so badly
 * that an invariant breaks. */
static void test_corpus_in_a_row(void **state)
{
    (void)state;
    struct dirent **names;
    int n = scandir(CORPUS, &names, NULL, alphasort);
    struct progress_reader *r = reader();
    struct progress was = {0};
    for (int i = 0; i < n; i++) {
        char *dot = strrchr(names[i]->d_name, '.');
        if (dot && !strcmp(dot, ".log")) {
            struct str log = {0};
            *dot = '\0';
            load(names[i]->d_name, ".log", &log);
            for (size_t k = 0; k < log.n; k++) {
                if (!progress_feed(r, log.at + k, 1))
                    continue;
                check_invariants(names[i]->d_name, &was, progress_now(r));
                was = *progress_now(r);
            }
            str_done(&log);
        }
        free(names[i]);
    }
    free(names);
    assert_true(progress_now(r)->seq > 100);
    progress_free(r);
}

static const struct CMUnitTest tests[] = {
    TEST(test_corpus),
    TEST(test_corpus_in_a_row),
};

int main(void)
{
    return RUN(tests);
}
