/* Tests of tables of pairs: rows are found in either order, and become shares of the speed alone.
 */
#include "base/str.h"
#include "sim/trace/pairs.h"
#include "support/test.h"

static const char table[] = "gpu_type,job_a,job_b,steps_per_s_a,steps_per_s_b\n"
                            "v100,\"('x', 1)\",\"('y', 1)\",3,2\n"
                            "v100,\"('x', 1)\",\"('x', 1)\",1,1\n"
                            "k80,\"('x', 1)\",\"('y', 1)\",0,0\n";

static void test_rates(void **state)
{
    (void)state;
    struct pairs p;
    struct err err;
    struct arena a = {0};
    const char *types[] = {"v100", "k80"}, *x = "x", *y = "y";
    assert_ok(pairs_parse("table", table, strlen(table), &p, &err), err);
    pairs_kind(&p, x, 1, &a)->alone[POOL_GPU] = 4;
    pairs_kind(&p, y, 1, &a)->alone[POOL_GPU] = 4;
    pairs_kind(&p, y, 2, &a)->alone[POOL_GPU] = 8;
    pairs_kind(&p, x, 1, &a)->alone[POOL_GPU + 1] = 4;
    assert_int_equal(p.kinds.n, 3);
    pairs_fill(&p, types, 2, &a);
    const struct sharing *sx = p.kinds.at[0].sharing, *sy = p.kinds.at[1].sharing;
    const struct sharing *both[] = {sy, sx}, *wide[] = {sx, p.kinds.at[2].sharing};
    double rates[2];
    assert_true(sharing_rates(both, 2, POOL_GPU, rates));
    assert_near(rates[0], 0.5, 0);
    assert_near(rates[1], 0.75, 0);
    assert_false(sharing_rates(both, 2, POOL_GPU + 1, rates));
    assert_false(sharing_rates(wide, 2, POOL_GPU, rates));
    pairs_done(&p);
    arena_done(&a);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *rows, *why;
    } cases[] = {
        {"v,a,b,1,1\nv,a,b,2,2\n", "twice"},
        {"v,a,b,-1,1\n", "steps_per_s_a"},
        {"v,a,b,1,fast\n", "steps_per_s_b"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct str text = {0};
        struct pairs p;
        struct err err;
        str_addf(&text, "gpu_type,job_a,job_b,steps_per_s_a,steps_per_s_b\n%s", cases[i].rows);
        assert_int_equal(pairs_parse("table", text.at, text.n, &p, &err), -1);
        assert_non_null(strstr(err.text, cases[i].why));
        str_done(&text);
    }
}

static const struct CMUnitTest tests[] = {TEST(test_rates), TEST(test_refused)};

int main(void)
{
    return RUN(tests);
}
