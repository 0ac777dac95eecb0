/* Owns the tests of scripts as jobs: which lines count, every #SBATCH option that
 * means something, those that do not, and places in errors. */
#include "support/test.h"

#include "base/str.h"
#include "wire/slurm_options.h"
#include "wire/slurm_values.h"
#include "wire/spec_check.h"
#include "wire/spec_json.h"
#include "wire/spec_script.h"
#include "wire/spec_set.h"

/* Reads a script and returns its fields as JSON, without those that all scripts
 * have, and behind them what was ignored, or else the error. */
static char *fields_of(const char *text)
{
    struct spec s;
    struct spec_list ignored = {0};
    struct err err = {0};
    struct str out = {0};
    spec_init(&s);
    if (spec_read_script("job.sh", text, strlen(text), &s, &ignored, &err) < 0) {
        assert_true(err.code != ERR_OK);
        spec_done(&s);
        return xstrdup(err.text);
    }
    assert_string_equal(s.script, text);
    assert_int_equal(s.command.n, 1);
    assert_string_equal(s.command.at[0], "job.sh");
    json_t *o = spec_to_json(&s);
    json_object_del(o, "script");
    json_object_del(o, "command");
    char *json = json_dumps(o, JSON_COMPACT);
    str_add(&out, json);
    for (uint32_t i = 0; i < ignored.n; i++)
        str_addf(&out, " %s", ignored.at[i]);
    free(json);
    json_decref(o);
    spec_done(&s);
    return out.at;
}

static void expect(const char *text, const char *wanted)
{
    AUTO_FREE char *got = fields_of(text);
    if (strcmp(got, wanted) != 0)
        fail_msg("%s: %s, not %s", text, got, wanted);
}

/* A script of one #SBATCH line. */
static void expect_sbatch(const char *options, const char *wanted)
{
    struct str text = {0};
    str_addf(&text, "#!/bin/sh\n#SBATCH %s\ntrue\n", options);
    expect(text.at, wanted);
    str_done(&text);
}

static void reads_its_own_lines(void **state)
{
    (void)state;
    expect("echo\n", "{}");
    expect("#!/bin/sh\n#TRAINYARD --cpus 1-2\n", "{\"cpus\":\"1-2\"}");
    expect("#TRAINYARD --cpus=1-2 --memory 4g\n\n  # more\n#TRAINYARD -n x\ntrue\n",
           "{\"name\":\"x\",\"cpus\":\"1-2\",\"memory\":4096}");
    expect("#TRAINYARD -c2 -t 1h # --gpus 1\n", "{\"cpus\":2,\"time_limit\":3600}");
    expect("#TRAINYARD --hold --requeue=false --checkpoint-dir /c\n",
           "{\"hold\":true,\"checkpoint_dir\":\"/c\"}");
    expect("#TRAINYARD -e 'A=1 2' -e \"B=\\\"x\\\"\" -e C=a\\ b\n",
           "{\"env\":{\"A\":\"1 2\",\"B\":\"\\\"x\\\"\",\"C\":\"a b\"}}");
    expect("#TRAINYARD --comment ''x'y'\"\"\n", "{\"comment\":\"xy\"}");
    expect("true\n#TRAINYARD --cpus 2\n", "{}");
    expect("##TRAINYARD --cpus 2\n#TRAINYARDS --cpus 2\n # TRAINYARD -c 2\n", "{}");
    expect("#TRAINYARD\n#TRAINYARD\t--cpus\t2", "{\"cpus\":2}");
}

static void says_what_is_wrong_and_where(void **state)
{
    (void)state;
    expect("", "job.sh: the script is empty");
    expect(" \n\n", "job.sh: the script is empty");
    expect("#!\n", "job.sh:1:3: no interpreter after #!; write #!/bin/sh, for example");
    expect("#!/bin/sh\r\ntrue\r\n",
           "job.sh:1:10: DOS line ending; remove the carriage returns (dos2unix)");
    expect("#\xff\n", "job.sh:1:2: byte 0xff is not valid UTF-8");
    expect("#TRAINYARD --cpu 2\n", "job.sh:1:12: unknown option --cpu; did you mean --cpus?");
    expect("#TRAINYARD --checkpoint_dirs x\n",
           "job.sh:1:12: unknown option --checkpoint_dirs; did you mean --checkpoint-dir?");
    expect("#TRAINYARD -Z\n", "job.sh:1:12: unknown option -Z");
    expect("#TRAINYARD --command x\n", "job.sh:1:12: unknown option --command; did you mean "
                                       "--comment?");
    expect("\n#TRAINYARD   --cpus x\n", "job.sh:2:14: cpus: 'x' is not a number");
    expect("#TRAINYARD --cpus\n", "job.sh:1:12: --cpus needs a value");
    expect("#TRAINYARD -c\n", "job.sh:1:12: -c needs a value");
    expect("#TRAINYARD 4\n", "job.sh:1:12: '4': expected an option such as --time=2:00:00 or -c 4");
    expect("#TRAINYARD - \n",
           "job.sh:1:12: '-': expected an option such as --time=2:00:00 or -c 4");
    expect("#TRAINYARD --\n",
           "job.sh:1:12: '--': expected an option such as --time=2:00:00 or -c 4");
    expect("#TRAINYARD --comment 'x\n", "job.sh:1:22: missing closing quote");
    expect("#TRAINYARD --comment \xc3\xa9 --cpus x\n", "job.sh:1:24: cpus: 'x' is not a number");
    expect("#SBATCH -c x\n", "job.sh:1:9: --cpus-per-task: 'x' is not a whole number");
    expect("#SBATCH --cpu-per-task=2\n",
           "job.sh:1:9: unknown option --cpu-per-task; did you mean --cpus-per-task?");
    expect("#SBATCH --time\n", "job.sh:1:9: --time needs a value");
    expect("#SBATCH --hold=1\n", "job.sh:1:9: --hold takes no value");
}

static void knows_slurms_sizes(void **state)
{
    (void)state;
    expect_sbatch("-c 4", "{\"cpus\":4}");
    expect_sbatch("--cpus-per-task=4 --ntasks=2", "{\"cpus\":8}");
    expect_sbatch("-n 3", "{\"cpus\":3}");
    expect_sbatch("-N 1 --ntasks-per-node 4", "{\"cpus\":4}");
    expect_sbatch("-N 1-4", "{}");
    expect_sbatch("--nodes=2", "{} job.sh:2: --nodes=2");
    expect_sbatch("-G 2", "{\"gpus\":2}");
    expect_sbatch("--gpus=a100:2", "{\"gpus\":2,\"gpu_type\":\"a100\"}");
    expect_sbatch("--gpus-per-node=v100", "{\"gpus\":1,\"gpu_type\":\"v100\"}");
    expect_sbatch("--gpus-per-task=1 -n2", "{\"cpus\":2,\"gpus\":2}");
    expect_sbatch("--gres=gpu", "{\"gpus\":1}");
    expect_sbatch("--gres gpu:2", "{\"gpus\":2}");
    expect_sbatch("--gres=gpu:t4:2", "{\"gpus\":2,\"gpu_type\":\"t4\"}");
    expect_sbatch("--gres=shard:3,gpu:2", "{\"gpus\":2}");
    expect_sbatch("--gres=none", "{} job.sh:2: --gres=none");
    expect_sbatch("--cpus-per-gpu=4 -G 2", "{\"cpus\":8,\"gpus\":2}");
    expect_sbatch("--mem=4G", "{\"memory\":4096}");
    expect_sbatch("--mem 1000", "{\"memory\":1000}");
    expect_sbatch("--mem=0", "{}");
    expect_sbatch("--mem-per-cpu=1G -c 4", "{\"cpus\":4,\"memory\":4096}");
    expect_sbatch("--mem-per-gpu=8G -G 2", "{\"gpus\":2,\"memory\":16384}");
    expect_sbatch("-c 1000000 -n 1000000",
                  "job.sh:2:9: cpus: 1000000000000 is not between 0.001 and 65536");
    expect_sbatch("-G a:b:x", "job.sh:2:9: --gpus: 'x' is not a whole number");
    expect_sbatch("-G t4:1,a100:1", "job.sh:2:9: --gpus: 't4:1,a100:1': GPUs of one type only");
    expect_sbatch("-G :1", "job.sh:2:9: --gpus: ':1': expected [TYPE:]NUMBER");
}

static void knows_the_other_options(void **state)
{
    (void)state;
    expect_sbatch("-J 3d-net", "{\"name\":\"3d-net\"}");
    expect_sbatch("--job-name=\"my job\"", "{\"name\":\"my job\"}");
    expect_sbatch("--array=0-15:4%2", "{\"array\":\"0-15:4%2\"}");
    expect_sbatch("-a 1,3", "{\"array\":\"1,3\"}");
    expect_sbatch("-d afterok:20:21,afterany:23",
                  "{\"after\":[\"afterok:20\",\"afterok:21\",\"afterany:23\"]}");
    expect_sbatch("--dependency=singleton", "{\"after\":[\"singleton\"]}");
    expect_sbatch("--dep=after:1", "{\"after\":[\"after:1\"]}");
    expect_sbatch("-d afterok:1?afterok:2",
                  "job.sh:2:9: --dependency: '?' (any of several jobs) is not supported");
    expect_sbatch("-d after:1+5",
                  "job.sh:2:9: --dependency: '+' (a time after the start) is not supported");
    expect_sbatch("--signal=B:USR1@60 -t 5", "{\"time_limit\":300,\"signal\":\"USR1@60\"}");
    expect_sbatch("--signal=USR2 -t 5", "{\"time_limit\":300,\"signal\":\"USR2@60\"}");
    expect_sbatch("--signal=RB:10@30 -t 5", "{\"time_limit\":300,\"signal\":\"USR1@30\"}");
    expect_sbatch("--requeue", "{\"requeue\":true}");
    expect_sbatch("--requeue --no-requeue", "{}");
    expect_sbatch("-D /srv", "{\"workdir\":\"/srv\"}");
    expect_sbatch("--nice", "{\"priority\":-100}");
    expect_sbatch("--nice=-50", "{\"priority\":50}");
    expect_sbatch("-H --comment='a b'", "{\"hold\":true,\"comment\":\"a b\"}");
    expect_sbatch("--deadline=2030-01-31T18:00:30Z", "{\"deadline_at\":1896112830}");
    expect_sbatch("--deadline=now+1hour", "{} job.sh:2: --deadline=now+1hour");
}

static void exports_variables(void **state)
{
    (void)state;
    expect_sbatch("--export=ALL", "{\"export\":\"all\"}");
    expect_sbatch("--export=NONE", "{\"export\":\"none\"}");
    expect_sbatch("--export=ALL,A=1", "{\"env\":{\"A\":\"1\"},\"export\":\"all\"}");
    expect_sbatch("--export=A=1,TEST_SPEC_SCRIPT,TEST_SPEC_NONE",
                  "{\"env\":{\"A\":\"1\"},\"export\":\"TEST_SPEC_SCRIPT,TEST_SPEC_NONE\"}");
}

static void understands_mail(void **state)
{
    (void)state;
    expect_sbatch("--mail-type=END,FAIL --mail-user=a@b.c",
                  "{\"notify\":[\"mail:a@b.c\"],\"notify_on\":\"end,fail\"}");
    expect_sbatch("--mail-user=a@b.c --mail-type=begin,TIME_LIMIT,REQUEUE",
                  "{\"notify\":[\"mail:a@b.c\"],\"notify_on\":\"start,fail\"}");
    expect_sbatch("--mail-type=ALL",
                  "{\"notify\":[\"mail:$USER\"],\"notify_on\":\"start,end,fail,node\"}");
    expect_sbatch("--mail-type=NONE --mail-user=a@b.c", "{}");
    expect_sbatch("--mail-user=a@b.c", "{}");
}

static void names_what_it_ignores(void **state)
{
    (void)state;
    expect("#SBATCH -p debug --account=lab\n#SBATCH --exclusive --mcs-label x -o out.txt\n",
           "{} job.sh:1: -p debug job.sh:1: --account=lab job.sh:2: --exclusive "
           "job.sh:2: --mcs-label=x job.sh:2: -o out.txt");
    expect_sbatch("--site-special=4 -c 2", "{\"cpus\":2} job.sh:2: --site-special=4");
    expect_sbatch("--site-special 4 -c 2", "{\"cpus\":2} job.sh:2: --site-special=4");
    expect_sbatch("-Z -c 2", "{\"cpus\":2} job.sh:2: -Z");
    for (const struct slurm_name *o = slurm_ignored; o->name; o++) {
        struct str line = {0}, wanted = {0};
        const char *value = o->takes == SLURM_VALUE ? "=1" : "";
        str_addf(&line, "--%s%s", o->name, value);
        str_addf(&wanted, "{} job.sh:2: --%s%s", o->name, value);
        expect_sbatch(line.at, wanted.at);
        str_done(&line);
        str_done(&wanted);
    }
}

static void its_own_lines_go_first(void **state)
{
    (void)state;
    expect("#TRAINYARD --cpus 1-8\n#SBATCH -c 4 -J slurm\n#SBATCH -t 10\n",
           "{\"name\":\"slurm\",\"cpus\":\"1-8\",\"time_limit\":600}");
}

static void knows_slurms_times(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds; /* -1 = an error */
    } times[] = {
        {"90", 5400},        {"90:30", 5430},    {"1:30:00", 5400}, {"2-0", 172800},
        {"1-12:30", 131400}, {"1-2:3:4", 93784}, {"0", 0},          {"UNLIMITED", 0},
        {"infinite", 0},     {"-1", 0},          {"", -1},          {"1-", -1},
        {"1:", -1},          {":1", -1},         {"1:2:3:4", -1},   {"1-2:3:4:5", -1},
        {"1-2-3", -1},       {"1:2-3", -1},      {"x", -1},         {"1h", -1},
        {"99999999999", -1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        struct err err;
        usec_t t = -1;
        int rc = slurm_parse_time(times[i].text, &t, &err);
        if (rc != (times[i].seconds < 0 ? -1 : 0) ||
            (rc == 0 && t != times[i].seconds * USEC_PER_SEC))
            fail_msg("'%s' is %lld", times[i].text, (long long)t);
    }
    expect_sbatch("-t 99999-0",
                  "job.sh:2:9: --time: time_limit: '8639913600' is not between 0ms and "
                  "36525d00h");
}

static void checks_keep_the_place(void **state)
{
    static const char text[] = "#!/bin/sh\n#SBATCH --signal=USR1@60\n#SBATCH -t 1\n#SBATCH -D x\n";
    struct spec s;
    struct spec_list ignored;
    struct err err;
    (void)state;
    spec_init(&s);
    assert_ok(spec_read_script("job.sh", text, sizeof text - 1, &s, &ignored, &err), err);
    assert_error(spec_check(&s, NULL, &err), err, ERR_INVALID,
                 "job.sh:2:9: signal: it would be sent before the job starts");
    assert_ok(spec_set(&s, spec_find("time_limit", &err), "1h", &err), err);
    assert_error(spec_check(&s, NULL, &err), err, ERR_INVALID,
                 "job.sh:4:9: workdir: 'x' is not an absolute path");
    /* From elsewhere: the file's place is not at fault. */
    assert_ok(spec_set(&s, spec_find("workdir", &err), "y", &err), err);
    assert_error(spec_check(&s, NULL, &err), err, ERR_INVALID, "workdir: 'y'");
    assert_true(!strncmp(err.text, "workdir", 7));
    assert_ok(spec_set(&s, spec_find("workdir", &err), "/y", &err), err);
    assert_ok(spec_check(&s, NULL, &err), err);
    assert_string_equal(s.name, "job");
    spec_done(&s);
}

static const struct CMUnitTest tests[] = {
    TEST(reads_its_own_lines),   TEST(says_what_is_wrong_and_where),
    TEST(knows_slurms_sizes),    TEST(knows_the_other_options),
    TEST(exports_variables),     TEST(understands_mail),
    TEST(names_what_it_ignores), TEST(its_own_lines_go_first),
    TEST(knows_slurms_times),    TEST(checks_keep_the_place),
};

int main(void)
{
    return RUN(tests);
}
