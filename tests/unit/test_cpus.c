/* Which CPUs jobs get, on machines that hwloc makes up. */
#include "base/rng.h"
#include "runtime/local/cpus.h"
#include "support/test.h"

struct machine {
    struct topology t;
    struct cpus c;
};

static struct machine *machine(const char *synthetic)
{
    struct machine *m = xcalloc(1, sizeof *m);
    struct err err;
    assert_ok(topology_load(&m->t, NULL, synthetic, &err), err);
    cpus_init(&m->c, &m->t);
    return m;
}

static void scrap(struct machine *m)
{
    cpus_done(&m->c);
    topology_done(&m->t);
    free(m);
}

/* Gives, and compares the CPUs with the list. */
static void give(struct machine *m, struct cpus_grant *g, units_t want, const char *expected)
{
    struct str text = {0};
    for (unsigned twice = 0; twice < 2; twice++) {
        cpus_give(&m->c, g, want);
        struct cpuset set = cpus_set(&m->c, g);
        cpuset_format(&set, &text);
        assert_string_equal(text.at, expected);
    }
    str_done(&text);
}

/* Two sockets of four cores with two threads each; the threads of a core are next to
 * each other: 0-1, 2-3, ... */
static const char two_sockets[] = "package:2 numanode:1 l3:1 core:4 pu:2";

static void test_hyper_threads_stay_together(void **state)
{
    (void)state;
    struct machine *m = machine(two_sockets);
    struct cpus_grant a = {0}, b = {0}, c = {0};
    give(m, &a, 2000, "0-1");
    give(m, &b, 4000, "2-5");
    give(m, &c, 3000, "8-10"); /* the first socket has only one core left */
    cpus_take(&m->c, &a);
    cpus_take(&m->c, &b);
    cpus_take(&m->c, &c);
    scrap(m);
}

static void test_single_cpus_have_a_core_to_themselves_while_there_are_some(void **state)
{
    (void)state;
    static const char *const expected[] = {"0", "2", "4", "6", "8", "10", "12", "14", "1", "3"};
    struct machine *m = machine(two_sockets);
    struct cpus_grant g[COUNT_OF(expected)] = {0};
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        give(m, &g[i], 1000, expected[i]);
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        cpus_take(&m->c, &g[i]);
    scrap(m);
}

static void test_the_tightest_part_of_the_machine_is_taken(void **state)
{
    (void)state;
    struct machine *m = machine("package:1 l3:3 core:4 pu:1");
    struct cpus_grant a = {0}, b = {0}, c = {0}, d = {0};
    give(m, &a, 1000, "0");
    give(m, &b, 3000, "1-3"); /* just what is left beside a */
    give(m, &c, 4000, "4-7");
    give(m, &d, 2000, "8-9");
    cpus_take(&m->c, &a);
    give(m, &c, 5000, "0,4-7"); /* all are equally far: the first */
    cpus_take(&m->c, &b);
    cpus_take(&m->c, &c);
    cpus_take(&m->c, &d);
    scrap(m);
}

static void test_growing_stays_near_and_shrinking_gives_back_the_farthest(void **state)
{
    (void)state;
    struct machine *m = machine(two_sockets);
    struct cpus_grant a = {0}, wall = {0};
    give(m, &wall, 2000, "0-1");
    give(m, &a, 1000, "2");
    give(m, &a, 2000, "2-3");
    give(m, &a, 6000, "2-7");
    give(m, &a, 8000, "2-9");
    give(m, &a, 6000, "2-7");
    give(m, &a, 3000, "2-4");
    give(m, &a, 2000, "2-3");
    cpus_take(&m->c, &wall);
    cpus_take(&m->c, &a);
    scrap(m);
}

static void test_parts_are_packed(void **state)
{
    (void)state;
    struct machine *m = machine("package:1 core:4 pu:1");
    struct cpus_grant a = {0}, b = {0}, c = {0}, d = {0}, e = {0};
    give(m, &a, 500, "0");
    give(m, &b, 250, "0");
    give(m, &c, 500, "1");
    give(m, &d, 1500, "1-2"); /* a whole one, and half of the one that c is on */
    give(m, &e, 250, "0");
    assert_int_equal(m->c.load[0], 1000);
    assert_int_equal(m->c.load[3], 0);
    give(m, &a, 1000, "3"); /* its own CPU is shared, this one is free */
    give(m, &a, 500, "3");
    cpus_take(&m->c, &a);
    cpus_take(&m->c, &b);
    cpus_take(&m->c, &c);
    cpus_take(&m->c, &d);
    cpus_take(&m->c, &e);
    scrap(m);
}

static void test_what_fits_only_in_pieces_is_split(void **state)
{
    (void)state;
    struct machine *m = machine("package:1 core:2 pu:1");
    struct cpus_grant a = {0}, b = {0}, c = {0};
    give(m, &a, 600, "0");
    give(m, &b, 600, "1");
    give(m, &c, 800, "0-1");
    assert_int_equal(m->c.load[0], 1000);
    assert_int_equal(m->c.load[1], 1000);
    cpus_take(&m->c, &a);
    give(m, &c, 800, "0"); /* there is room now */
    cpus_take(&m->c, &b);
    cpus_take(&m->c, &c);
    scrap(m);
}

static void test_too_much_is_shared_and_heals(void **state)
{
    (void)state;
    struct machine *m = machine("package:1 core:2 pu:1");
    struct cpus_grant a = {0}, b = {0};
    give(m, &a, 2000, "0-1");
    give(m, &b, 1000, "0");
    give(m, &a, 1000, "1");
    assert_int_equal(m->c.load[0], 1000);
    give(m, &a, 99000, "0-1");
    cpus_take(&m->c, &b);
    give(m, &a, 99000, "0-1");
    assert_int_equal(m->c.load[0] + m->c.load[1], 2000);
    cpus_take(&m->c, &a);
    scrap(m);
}

static void test_a_claim_is_kept(void **state)
{
    (void)state;
    struct machine *m = machine(two_sockets);
    struct cpus_grant a = {0}, b = {0};
    struct cpuset set;
    struct err err;
    assert_ok(cpuset_parse("4-5", &set, &err), err);
    cpus_claim(&m->c, &a, &set, 2000);
    give(m, &a, 2000, "4-5");
    give(m, &b, 6000, "0-3,6-7");
    cpus_take(&m->c, &a);
    cpus_take(&m->c, &b);
    scrap(m);
}

/* Random grants within the machine: the counts are exact, a whole CPU is nobody else's
 * as long as all jobs ask for whole ones, and nothing is overcommitted. */
static void test_random_grants_keep_the_books(void **state)
{
    (void)state;
    enum { JOBS = 12, STEPS = 20000 };
    struct machine *m = machine(two_sockets);
    struct cpus_grant g[JOBS] = {0};
    units_t size[JOBS] = {0}, sum = 0;
    struct rng rng;
    rng_init(&rng, 1);
    for (unsigned step = 0; step < STEPS; step++) {
        size_t i = rng_below(&rng, JOBS);
        bool whole = step < STEPS / 2;
        units_t want = whole ? (units_t)rng_below(&rng, 6) * UNIT : (units_t)rng_below(&rng, 4000);
        if (step == STEPS / 2)
            for (size_t k = 0; k < JOBS; k++) {
                cpus_take(&m->c, &g[k]);
                sum = size[k] = 0;
            }
        if (sum - size[i] + want > (units_t)m->t.n * UNIT)
            continue;
        cpus_give(&m->c, &g[i], want);
        sum += want - size[i];
        size[i] = want;
        units_t load = 0, mine = 0;
        for (size_t k = 0; k < g[i].share.n; k++)
            mine += g[i].share.at[k].units;
        assert_int_equal(mine, want);
        for (uint32_t k = 0; k < m->t.n; k++) {
            load += m->c.load[k];
            assert_true(m->c.load[k] <= UNIT);
            assert_true(!whole || m->c.load[k] % UNIT == 0);
        }
        assert_int_equal(load, sum);
    }
    for (size_t i = 0; i < JOBS; i++)
        cpus_take(&m->c, &g[i]);
    scrap(m);
}

static const struct CMUnitTest tests[] = {
    TEST(test_hyper_threads_stay_together),
    TEST(test_single_cpus_have_a_core_to_themselves_while_there_are_some),
    TEST(test_the_tightest_part_of_the_machine_is_taken),
    TEST(test_growing_stays_near_and_shrinking_gives_back_the_farthest),
    TEST(test_parts_are_packed),
    TEST(test_what_fits_only_in_pieces_is_split),
    TEST(test_too_much_is_shared_and_heals),
    TEST(test_a_claim_is_kept),
    TEST(test_random_grants_keep_the_books),
};

int main(void)
{
    return RUN(tests);
}
