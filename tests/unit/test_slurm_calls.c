/* Tests of wire/slurm_calls: which lines of a script call a command of Slurm. */
#include "wire/slurm_calls.h"

#include "base/str.h"
#include "support/test.h"

static void add_call(void *ctx, uint32_t line, const char *command)
{
    str_addf(ctx, "%u:%s ", line, command);
}

static void assert_calls(const char *script, const char *want)
{
    struct str got = {0};
    str_add(&got, "");
    slurm_find_calls(script, add_call, &got);
    assert_string_equal(got.at, want);
    str_done(&got);
}

static void test_calls(void **state)
{
    (void)state;
    assert_calls("#!/bin/bash\nsrun ./train\n", "2:srun ");
    assert_calls("  srun -n 1 python3 train.py", "1:srun ");
    assert_calls("exec srun ./a\nA=1 B=2 srun ./b", "1:srun 2:srun ");
    assert_calls("cd x && srun ./a; srun ./b", "1:srun ");
    assert_calls("x=$(squeue -h)\ny=`scontrol show job`\n", "1:squeue 2:scontrol ");
    assert_calls("if true; then srun ./a; fi\nfor i in 1 2; do srun ./a; done", "1:srun 2:srun ");
    assert_calls("! srun ./a | tee log &\n{ time srun ./b; }", "1:srun 2:srun ");
}

static void test_others(void **state)
{
    (void)state;
    assert_calls("", "");
    assert_calls("\n\n;;&&||", "");
    assert_calls("# srun ./train\necho done # srun\n#SBATCH -n 1", "");
    assert_calls("echo srun\nwhich srun\n./srun\nsrun2 x\n/opt/srun.py", "");
    assert_calls("python3 train.py --launcher srun", "");
    assert_calls("=srun\nsrun=1", "");
}

static const struct CMUnitTest tests[] = {TEST(test_calls), TEST(test_others)};

int main(void)
{
    return RUN(tests);
}
