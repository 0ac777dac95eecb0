/* Every allocator with every placer, and a sharer by lot, in random worlds: the
 * invariants hold after each step, every job ends, the same input gives the same
 * effects, and neither verdicts nor the order of what happens at one instant change
 * a decision. A failure prints the words with which this program runs that world
 * alone; PROPERTY_SEED=N in the environment makes it draw other worlds. */
#include "base/rng.h"
#include "support/chaos.h"
#include "support/test.h"

static const char *const allocators[] = {
    "fifo:order=strict",
    "fifo:order=skip",
    "fifo",
    "srjf",
    "srtf",
    "srsf",
    "edf",
    "las:thresholds=60/600:knob=2",
    "gittins",
    "elastic-fifo",
    "elastic-srjf",
    "elastic-las:thresholds=100:compact=2",
    "ffdl",
    "afs-l",
    "optimus",
    "equal",
    "equal:variant=oldest",
    "equal:variant=weight",
    "equal:variant=static",
    "deadline:age=5m:slot=10s",
    "hesrpt",
    "hesrpt:p=0.5:payback=3",
    "gavel:round=20s:renew=2m",
    "gavel:objective=las:round=30s",
    "gavel:objective=finish:round=30s",
    "gavel:objective=makespan:round=1m",
    "gavel:objective=cost:prices=3/1:round=30s",
    "makespan:round=1m",
    "pollux:round=30s",
    "sia:round=1m",
    "sia:p=-2:lambda=5:round=20s",
    "muri",
    "shockwave:round=20s:window=5",
    "shockwave:round=1m:k=1:lambda=3",
    "muri:by=attained:most=3",
};
static const char *const placers[] = {
    "first-fit", "round-robin", "spread", "spread:by=usage", "best-fit", "specon:alpha=0.05",
};
static const char *const sharers[] = {
    "free", "hard", "flowcon:itval=30s", "target:itval=45s", "pack", "pack:most=3:gain=5%",
};

enum { JOBS = 60, WORLDS = 12 };

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Cuts a text into its lines; those of one instant, which begin alike, are sorted. */
static size_t cut(char *text, char ***lines)
{
    size_t n = 0;
    for (const char *p = text; *p; p++)
        n += *p == '\n';
    *lines = xcalloc(n + 1, sizeof **lines);
    n = 0;
    for (char *rest, *p = strtok_r(text, "\n", &rest); p; p = strtok_r(NULL, "\n", &rest))
        (*lines)[n++] = p;
    for (size_t i = 0, end; i < n; i = end) {
        size_t same = strcspn((*lines)[i], " ") + 1;
        for (end = i + 1; end < n && !strncmp((*lines)[i], (*lines)[end], same);)
            end++;
        qsort(*lines + i, end - i, sizeof **lines, compare_lines);
    }
    return n;
}

/* Whether the effects are the same at each instant, in whatever order. */
static bool compare(const char *how, const char *want, const char *got)
{
    AUTO_FREE char *x = xstrdup(want), *y = xstrdup(got);
    AUTO_FREE char **a = NULL, **b = NULL;
    size_t n = cut(x, &a), m = cut(y, &b), i = 0;
    while (i < n && i < m && !strcmp(a[i], b[i]))
        i++;
    if (i < n || i < m)
        print_error("%s: '%s' instead of '%s'\n", how, i < m ? b[i] : "", i < n ? a[i] : "");
    return i == n && i == m;
}

/* Runs the world again in another way; false when that makes a difference. */
static bool same_effects(const struct chaos_result *first, const char *how, struct chaos_options o)
{
    struct chaos_result r;
    bool good = chaos_run(&o, &r);
    if (!good)
        print_error("%s: %s\n", how, r.why);
    else if (o.backwards)
        good = compare(how, first->effects.at, r.effects.at);
    else if (strcmp(first->effects.at, r.effects.at) != 0)
        good = compare(how, first->effects.at, r.effects.at) && false;
    chaos_done(&r);
    return good;
}

/* One world, driven in four ways. */
static bool holds_in(const struct chaos_options *o)
{
    struct chaos_result r;
    bool good = chaos_run(o, &r);
    struct chaos_options explained = *o, backwards = *o;
    explained.explain = true;
    backwards.backwards = true;
    if (!good)
        print_error("%s\n", r.why);
    else
        good = same_effects(&r, "the same again", *o) &&
               same_effects(&r, "with verdicts", explained) &&
               same_effects(&r, "fed backwards", backwards);
    if (!good)
        print_error("to see it again: property/engine %llu %d '%s' '%s'\n",
                    (unsigned long long)o->seed, o->slow_stops, o->policy,
                    o->policy2 ? o->policy2 : "");
    chaos_done(&r);
    return good;
}

static void combine(struct rng *r, const char *allocator, const char *placer, char *out,
                    size_t size)
{
    snprintf(out, size, "allocate=%s,place=%s,share=%s", allocator, placer,
             sharers[rng_below(r, COUNT_OF(sharers))]);
}

/* One allocator with all placers. */
static void test_allocator(void **state)
{
    const char *const *allocator = *state, *seed = getenv("PROPERTY_SEED");
    uint64_t first = seed ? strtoull(seed, NULL, 10) * 1000000 : 0;
    uint32_t failed = 0;
    for (uint32_t i = 0; i < COUNT_OF(placers) * WORLDS; i++) {
        char policy[160], other[160];
        struct chaos_options o = {.jobs = JOBS, .policy = policy};
        struct rng r;
        o.seed = first + (uint64_t)(allocator - allocators) * 1000 + i + 1;
        rng_init(&r, o.seed);
        combine(&r, *allocator, placers[i % COUNT_OF(placers)], policy, sizeof policy);
        combine(&r, allocators[rng_below(&r, COUNT_OF(allocators))],
                placers[rng_below(&r, COUNT_OF(placers))], other, sizeof other);
        o.slow_stops = rng_below(&r, 2);
        o.policy2 = rng_below(&r, 3) == 0 ? other : NULL;
        failed += !holds_in(&o);
    }
    assert_int_equal(failed, 0);
}

/* SEED SLOW POLICY POLICY2 */
static int run_one(char **words)
{
    struct chaos_options o = {.jobs = JOBS,
                              .seed = strtoull(words[0], NULL, 10),
                              .slow_stops = *words[1] == '1',
                              .policy = words[2],
                              .policy2 = *words[3] ? words[3] : NULL};
    struct chaos_result r;
    chaos_run(&o, &r);
    fputs(r.effects.at, stdout);
    chaos_done(&r);
    return !holds_in(&o);
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[COUNT_OF(allocators)];
    if (argc == 5)
        return run_one(argv + 1);
    for (size_t i = 0; i < COUNT_OF(allocators); i++)
        tests[i] =
            (struct CMUnitTest){allocators[i], test_allocator, NULL, NULL, (void *)&allocators[i]};
    return RUN(tests);
}
