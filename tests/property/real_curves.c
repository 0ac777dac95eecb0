/* How the fit of a metric does on real ones: the validation curves that were
 * published with Pollux (data/pollux/profiles). They follow none of the forms exactly,
 * learning rates drop in the middle, and neighbouring batch sizes repeat each other, so
 * the bands are too narrow; docs/estimator.md quotes what this prints. */
#include <glob.h>

#include "model/loss_fit.h"
#include "sim/trace/csv.h"
#include "support/test.h"

enum { LEAST_EPOCHS = 50, MOST_EPOCHS = 128 };

struct curve {
    double step[MOST_EPOCHS], metric[MOST_EPOCHS];
    uint32_t n;
    bool rises;
};

static void read_curve(const char *path, struct curve *c)
{
    struct csv csv;
    struct err err;
    *c = (struct curve){0};
    assert_ok(csv_open(&csv, path, &err), err);
    assert_int_equal(csv_next(&csv, &err), 1); /* the heading */
    assert_string_equal(csv.fields.at[2].at, "metric");
    while (c->n < MOST_EPOCHS && csv_next(&csv, &err) == 1) {
        c->step[c->n] = strtod(csv.fields.at[1].at, NULL);
        c->metric[c->n++] = strtod(csv.fields.at[2].at, NULL);
    }
    csv_done(&csv);
    c->rises = c->n && c->metric[c->n - 1] > c->metric[0];
}

static bool better(const struct curve *c, double a, double b)
{
    return c->rises ? a > b : a < b;
}

/* The best of the epochs before `end`. */
static double best_before(const struct curve *c, uint32_t end)
{
    double best = c->metric[0];
    for (uint32_t i = 1; i < end; i++)
        best = better(c, c->metric[i], best) ? c->metric[i] : best;
    return best;
}

struct tally {
    uint32_t inside, trials;
};

/* Half of what the metric still gains after the epochs that are seen is the target.
 * Curves that gain nothing more say nothing. */
static void try_curve(const struct curve *c, uint32_t seen, struct tally *tally)
{
    double last = best_before(c, seen), final = best_before(c, c->n), target = (last + final) / 2;
    struct history h;
    struct loss_fit fit;
    uint32_t when = seen;
    if (!better(c, final, last))
        return;
    while (better(c, target, c->metric[when]))
        when++;
    history_init(&h);
    for (uint32_t i = 0; i < seen; i++) {
        struct sample s = {.at = i + 1, .step = c->step[i], .metric = c->metric[i]};
        history_add(&h, &s);
    }
    assert_true(loss_fit(&h, c->rises ? METRIC_RISES : METRIC_FALLS, target, &fit));
    struct range b = loss_fit_reaches(&fit, target);
    assert_true(b.low <= b.mid && b.mid <= b.high);
    /* It lies between two epochs. */
    tally->inside += b.low <= c->step[when] && c->step[when - 1] <= b.high;
    tally->trials++;
}

static void test_band(void **state)
{
    (void)state;
    static const uint32_t shares[] = {30, 50, 70};
    struct tally tally[COUNT_OF(shares)] = {0};
    glob_t found;
    assert_int_equal(glob("data/pollux/profiles/*/validation-*.csv", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct curve c;
        read_curve(found.gl_pathv[i], &c);
        for (size_t k = 0; c.n >= LEAST_EPOCHS && k < COUNT_OF(shares); k++)
            try_curve(&c, c.n * shares[k] / 100, &tally[k]);
    }
    globfree(&found);
    for (size_t k = 0; k < COUNT_OF(shares); k++) {
        double share = (double)tally[k].inside / tally[k].trials;
        print_message("# %u curves seen to %u %%: the step of the target in its band %.0f %%\n",
                      tally[k].trials, shares[k], 100 * share);
        assert_true(tally[k].trials >= 20);
        assert_true(share > 0.35); /* far below this it would say nothing */
    }
}

static const struct CMUnitTest tests[] = {
    TEST(test_band),
};

int main(void)
{
    return RUN(tests);
}
