/* Owns the test that the job files and scripts of examples/ are what they claim to
 * be. */
#include "support/test.h"

#include "base/str.h"
#include "wire/spec_check.h"
#include "wire/spec_json.h"
#include "wire/spec_script.h"
#include "wire/spec_yaml.h"

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is not there", path);
    char *text = xcalloc(1, 1 << 16);
    assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}

static void add_json(const struct spec *s, struct str *out)
{
    json_t *o = spec_to_json(s);
    json_object_del(o, "script");
    char *text = json_dumps(o, JSON_COMPACT);
    str_addf(out, "%s\n", text);
    free(text);
    json_decref(o);
}

static int take(struct spec *s, void *ctx, struct err *err)
{
    if (spec_check(s, NULL, err) < 0)
        return -1;
    add_json(s, ctx);
    return 0;
}

static void expect_yaml(const char *path, const char *wanted)
{
    __attribute__((cleanup(str_done))) struct str got = {0};
    AUTO_FREE char *text = read_file(path);
    struct err err;
    assert_ok(spec_read_yaml(path, text, strlen(text), take, &got, &err), err);
    assert_string_equal(got.at, wanted);
}

static void job_file(void **state)
{
    (void)state;
    expect_yaml(
        "examples/job.yaml",
        "{\"name\":\"surface\",\"command\":[\"build/examples/trainer\",\"--steps\",\"4000\","
        "\"--save-every\",\"500\"],\"cpus\":\"1-2\",\"memory\":512,\"time_limit\":1800,"
        "\"signal\":\"USR1@60\",\"grace\":10,\"retries\":2,\"backoff\":5,"
        "\"env\":{\"OMP_WAIT_POLICY\":\"passive\"}}\n");
}

static void array_file(void **state)
{
    (void)state;
    expect_yaml("examples/array.yaml",
                "{\"name\":\"search\",\"command\":[\"/bin/sh\",\"-c\",\"build/examples/trainer "
                "--steps 1000 --seed \\\"$TRAINYARD_ARRAY_INDEX\\\"\"],\"cpus\":\"1-2\","
                "\"array\":\"1-8%4\"}\n"
                "{\"name\":\"summary\",\"command\":[\"echo\",\"all seeds are done\"],\"cpus\":1,"
                "\"after\":[\"afterok:search\"]}\n");
}

static void slurm_script(void **state)
{
    static const char path[] = "examples/slurm.sh";
    __attribute__((cleanup(str_done))) struct str got = {0};
    AUTO_FREE char *text = read_file(path);
    struct spec_list ignored;
    struct spec s;
    struct err err;
    (void)state;
    spec_init(&s);
    assert_ok(spec_read_script(path, text, strlen(text), &s, &ignored, &err), err);
    assert_ok(spec_check(&s, NULL, &err), err);
    add_json(&s, &got);
    assert_string_equal(
        got.at, "{\"name\":\"trainer\",\"command\":[\"examples/slurm.sh\"],\"cpus\":\"1-2\","
                "\"memory\":512,\"time_limit\":1800,\"signal\":\"USR1@60\","
                "\"requeue\":true}\n");
    assert_int_equal(ignored.n, 2);
    assert_string_equal(ignored.at[0], "examples/slurm.sh:12: --partition=cpu");
    assert_string_equal(ignored.at[1], "examples/slurm.sh:13: --output=slurm-%j.out");
    assert_string_equal(spec_words(&s, "/x", &s.arena).at[0], "/bin/bash");
    spec_done(&s);
}

static const struct CMUnitTest tests[] = {
    TEST(job_file),
    TEST(array_file),
    TEST(slurm_script),
};

int main(void)
{
    return RUN(tests);
}
