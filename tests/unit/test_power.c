/* Tests of sim/power: how a model is spelt, and the energy of jobs and of a workload. */
#include "sim/power.h"

#include "support/test.h"

static void test_spelling(void **state)
{
    (void)state;
    struct power p, was = POWER_DEFAULT;
    struct err err;
    assert_ok(power_parse("default", &p, &err), err);
    assert_memory_equal(&p, &was, sizeof p);
    assert_ok(power_parse("gpu=300,idle=0", &p, &err), err);
    assert_near(p.idle, 0, 0);
    assert_near(p.cpu, was.cpu, 0);
    assert_near(p.gpu, 300, 0);
    static const char *const bad[] = {"",
                                      "idle",
                                      "idle=",
                                      "idle=-1",
                                      "watts=3",
                                      "cpu=1,",
                                      "cpu=1e",
                                      "cpu=1e9",
                                      "=1",
                                      "idle=nan",
                                      "cpu=11111111111111111111111111111111111111111"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        p = was;
        assert_int_equal(power_parse(bad[i], &p, &err), -1);
        assert_memory_equal(&p, &was, sizeof p);
    }
}

/* An hour on two nodes: a CPU job that kept 2 CPUs busy for half an hour, and a GPU job that held
 * 4 GPUs with 8 CPUs for a quarter. */
static void test_energy(void **state)
{
    (void)state;
    struct job jobs[] = {{.pool = POOL_CPU}, {.pool = POOL_ANY_GPU}};
    struct sim_job rows[] = {{.job = &jobs[0], .held_s = 7200, .busy_s = 3600},
                             {.job = &jobs[1], .held_s = 3600, .busy_s = 7200}};
    struct sim_result r = {.jobs = 2, .job = rows, .makespan_s = 3600};
    power_apply(&(struct power){.idle = 50, .cpu = 10, .gpu = 200}, 2, &r);
    assert_near(rows[0].energy_wh, 10, 1e-9);
    assert_near(rows[1].energy_wh, 20 + 200, 1e-9);
    assert_near(r.energy_wh, 2 * 50 + 10 + 220, 1e-9);
}

static const struct CMUnitTest tests[] = {
    TEST(test_spelling),
    TEST(test_energy),
};

int main(void)
{
    return RUN(tests);
}
