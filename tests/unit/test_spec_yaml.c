/* Owns the tests of job files in YAML: the forms, places in errors, and files made
 * to do harm. */
#include "support/test.h"

#include "base/str.h"
#include "wire/spec_check.h"
#include "wire/spec_json.h"
#include "wire/spec_yaml.h"

/* Adds "{...}\n" for a job, checked as a submission is. */
static int add_json(struct spec *s, void *ctx, struct err *err)
{
    if (spec_check(s, NULL, err) < 0)
        return -1;
    json_t *o = spec_to_json(s);
    char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(15));
    str_addf(ctx, "%s\n", text);
    free(text);
    json_decref(o);
    return 0;
}

static void expect(const char *text, const char *wanted)
{
    __attribute__((cleanup(str_done))) struct str got = {0};
    struct err err = {0};
    if (spec_read_yaml("job.yaml", text, strlen(text), add_json, &got, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(got.at, wanted);
}

static void reads_fields(void **state)
{
    (void)state;
    expect("command: [python3, train.py]\ncpus: 1-4\nmemory: 4g\n",
           "{\"name\":\"train\",\"command\":[\"python3\",\"train.py\"],\"cpus\":\"1-4\","
           "\"memory\":4096}\n");
    expect("command: make && ./run 'x'\n",
           "{\"name\":\"make\",\"command\":[\"/bin/sh\",\"-c\",\"make && ./run 'x'\"]}\n");
    expect("command:\n- ./a\n- 3\n- ''\n- \"b c\"\n",
           "{\"name\":\"a\",\"command\":[\"./a\",\"3\",\"\",\"b c\"]}\n");
    expect("command: a\nname: b\nenv:\n  A: 1\n  B: 'x y'\n  C: ''\n",
           "{\"name\":\"b\",\"command\":[\"/bin/sh\",\"-c\",\"a\"],"
           "\"env\":{\"A\":\"1\",\"B\":\"x y\",\"C\":\"\"}}\n");
    expect("command: [a]\nafter: [afterok:1, singleton]\narray: 0-9%2\nhold: yes\n",
           "{\"name\":\"a\",\"command\":[\"a\"],\"after\":[\"afterok:1\",\"singleton\"],"
           "\"array\":\"0-9%2\",\"hold\":true}\n");
    expect("command: [a]\nmemory: ~\ngrace:\nname: null\n",
           "{\"name\":\"a\",\"command\":[\"a\"]}\n");
    expect("script: |\n  #!/bin/sh\n  echo\n",
           "{\"name\":\"script\",\"command\":[\"script\"],\"script\":\"#!/bin/sh\\necho\\n\"}\n");
    expect("{\"command\": [\"a\"], \"cpus\": 0.5}",
           "{\"name\":\"a\",\"command\":[\"a\"],\"cpus\":0.5}\n");
    expect("\xef\xbb\xbf"
           "command: [\xc3\xa9]\r\n",
           "{\"name\":\"--\",\"command\":[\"\xc3\xa9\"]}\n");
}

static void reads_many_jobs(void **state)
{
    (void)state;
    expect("jobs:\n- command: [a]\n- command: [b]\n",
           "{\"name\":\"a\",\"command\":[\"a\"]}\n{\"name\":\"b\",\"command\":[\"b\"]}\n");
    expect("---\ncommand: [a]\n---\ncommand: [b]\n...\n",
           "{\"name\":\"a\",\"command\":[\"a\"]}\n{\"name\":\"b\",\"command\":[\"b\"]}\n");
    expect(
        "cpus: 2\nenv: {A: 1, B: 1}\ncommand: [a, b]\njobs:\n"
        "- {name: x, env: {B: 2}}\n- {name: y, cpus: 3, command: [c]}\n",
        "{\"name\":\"x\",\"command\":[\"a\",\"b\"],\"cpus\":2,\"env\":{\"A\":\"1\",\"B\":\"2\"}}\n"
        "{\"name\":\"y\",\"command\":[\"c\"],\"cpus\":3,\"env\":{\"A\":\"1\",\"B\":\"1\"}}\n");
}

static void follows_aliases(void **state)
{
    (void)state;
    expect("jobs:\n- &a {command: [a], cpus: 2}\n- *a\n",
           "{\"name\":\"a\",\"command\":[\"a\"],\"cpus\":2}\n"
           "{\"name\":\"a\",\"command\":[\"a\"],\"cpus\":2}\n");
    expect("jobs:\n- &a {command: [a], cpus: 2}\n- <<: *a\n  cpus: 3\n",
           "{\"name\":\"a\",\"command\":[\"a\"],\"cpus\":2}\n"
           "{\"name\":\"a\",\"command\":[\"a\"],\"cpus\":3}\n");
    expect("jobs:\n- &a {command: [a], cpus: 2}\n- &b {command: [b], cpus: 3}\n- <<: [*a, *b]\n",
           "{\"name\":\"a\",\"command\":[\"a\"],\"cpus\":2}\n"
           "{\"name\":\"b\",\"command\":[\"b\"],\"cpus\":3}\n"
           "{\"name\":\"a\",\"command\":[\"a\"],\"cpus\":2}\n");
    expect("command: &c [a]\nenv: {A: &v text}\ncomment: *v\n",
           "{\"name\":\"a\",\"command\":[\"a\"],\"env\":{\"A\":\"text\"},\"comment\":\"text\"}\n");
}

static const struct {
    const char *text, *error;
} bad[] = {
    {"", "job.yaml: the file has no jobs"},
    {"# nothing\n", "job.yaml: the file has no jobs"},
    {"--- \n", "job.yaml:2:1: expected a mapping of fields such as 'cpus: 2', not one value"},
    {"just text\n", "job.yaml:1:1: expected a mapping of fields such as 'cpus: 2', not one value"},
    {"- a\n", "job.yaml:1:1: expected a mapping of fields such as 'cpus: 2', not a list"},
    {"cpus: 2\n", "job.yaml:1:1: command: nothing to run"},
    {"command: [a]\ncpu: 2\n", "job.yaml:2:1: unknown field 'cpu'; did you mean 'cpus'?"},
    {"command: [a]\ncpus: x\n", "job.yaml:2:7: cpus: 'x' is not a number"},
    {"command: [a]\ncpus: [1, 2]\n", "job.yaml:2:7: cpus: expected MIN-MAX, not a list"},
    {"command: [a]\nhold: [1]\n", "job.yaml:2:7: hold: expected true or false, not a list"},
    {"command: {a: b}\n", "job.yaml:1:10: command: expected a list, not a mapping"},
    {"command: [a, [b]]\n", "job.yaml:1:14: command: expected one value, not a list"},
    {"command:\n- a\n-\n", "job.yaml:3:2: command: empty list item"},
    {"command: [a]\ncpus: 1\ncpus: 2\n", "job.yaml:3:1: cpus: given twice, first in line 2"},
    {"command: [a]\nenv: {A: 1, A: 2}\n", "job.yaml:2:13: env: A: given twice"},
    {"command: [a]\nenv: {A: [1]}\n", "job.yaml:2:10: env: A: expected one value, not a list"},
    {"command: [a]\nenv: {A=B: 1}\n",
     "job.yaml:2:7: env: A=B: a variable's name must not contain ="},
    {"command: [a]\nenv: A\n", "job.yaml:2:6: env: 'A': expected KEY=VALUE"},
    {"command: [a]\nsignal: USR1@60\ntime_limit: 30\n",
     "job.yaml:2:9: signal: it would be sent before the job starts"},
    {"jobs:\n- command: [a]\n  workdir: here\n",
     "job.yaml:3:12: workdir: 'here' is not an absolute path"},
    {"jobs:\n- command: [a]\n- cpus: 2\n", "job.yaml:3:3: command: nothing to run"},
    {"jobs:\n- command: [a]\n  jobs: []\n", "job.yaml:3:3: unknown field 'jobs'"},
    {"jobs: 3\n", "job.yaml:1:7: jobs: expected a list with a mapping of fields for each job"},
    {"jobs: []\n", "job.yaml:1:7: jobs: expected a list"},
    {"jobs: [3]\n", "job.yaml:1:8: expected a mapping of fields"},
    {"jobs: [{command: [a]}]\njobs: []\n", "job.yaml:2:1: jobs: given twice, first in line 1"},
    {"command: [a]\n? [x]\n: 1\n", "job.yaml:2:3: a field's name: expected one value, not a list"},
    {"command: [a\n", "job.yaml:2:1: not valid YAML: while parsing a flow sequence"},
    {"command: [a]\n\tcpus: 2\n", "indent with spaces, not tabs"},
    {"command: 'a\n", "not valid YAML: while scanning a quoted scalar"},
    {"command: [*a]\n", "job.yaml:1:11: not valid YAML: found undefined alias"},
    {"command: [!x a]\n", "job.yaml:1:11: command: tags are not supported"},
    {"command: [\"a\\0b\"]\n", "job.yaml:1:11: command: a NUL character"},
    {"command: [a]\nname: \"a\\nb\"\n", "job.yaml:2:7: name: 'a?b': control characters"},
    {"command: [a\xff]\n", "job.yaml:1:12: byte 0xff is not valid UTF-8"},
    {"command: [\xc3\xa9\xc3]\n", "job.yaml:1:12: byte 0xc3 is not valid UTF-8"},
    {"command: [a\x01]\n", "job.yaml:1:12: not valid YAML: control characters are not allowed"},
    {"&a {<<: *a, command: [a]}\n", "job.yaml:1:1: <<: merges nested deeper than 8 levels"},
    {"command: [a]\n<<: 3\n", "job.yaml:2:5: expected a mapping of fields"},
    {"command: [a]\n<<: {}\n<<: {}\n", "job.yaml:3:1: <<: given twice, first in line 2"},
    {"command: &a [*a]\n", "job.yaml:1:10: command: expected one value, not a list"},
};

static void says_what_is_wrong_and_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        __attribute__((cleanup(str_done))) struct str got = {0};
        struct err err = {0};
        int rc = spec_read_yaml("job.yaml", bad[i].text, strlen(bad[i].text), add_json, &got, &err);
        if (rc == 0)
            fail_msg("%s: is read as %s", bad[i].text, got.at);
        if (!strstr(err.text, bad[i].error))
            fail_msg("%s: %s", bad[i].text, err.text);
        assert_true(!strncmp(err.text, "job.yaml:", 9));
    }
}

static int count(struct spec *s, void *ctx, struct err *err)
{
    (void)s;
    (void)err;
    ++*(size_t *)ctx;
    return 0;
}

static void expect_error(const struct str *text, enum err_code code, const char *words)
{
    struct err err;
    size_t jobs = 0;
    assert_error(spec_read_yaml("job.yaml", text->at, text->n, count, &jobs, &err), err, code,
                 words);
}

static void survives_bombs(void **state)
{
    struct str text = {0};
    (void)state;
    for (int i = 0; i < 100000; i++)
        str_add(&text, "[");
    expect_error(&text, ERR_INVALID, "job.yaml:1:33: nested deeper than 32 levels");
    str_done(&text);
    /* Each level has the one before it nine times: merged, 9^7 mappings. */
    str_add(&text, "jobs:\n- &a0 {command: [a]}\n");
    for (int i = 1; i < 8; i++) {
        str_addf(&text, "- &a%d {<<: [", i);
        for (int k = 0; k < 9; k++)
            str_addf(&text, "%s*a%d", k ? ", " : "", i - 1);
        str_add(&text, "]}\n");
    }
    expect_error(&text, ERR_LIMIT, "the file is too large when its aliases are expanded");
    str_done(&text);
    /* A large text many times over. */
    str_add(&text, "jobs:\n- &a {command: [");
    for (int i = 0; i < 100000; i++)
        str_add(&text, "x");
    str_add(&text, "]}\n");
    for (int i = 0; i < 100000; i++)
        str_add(&text, "- *a\n");
    expect_error(&text, ERR_LIMIT, "the file is too large");
    str_done(&text);
    for (int i = 0; i < (4 << 20); i++)
        str_add(&text, "#\n");
    expect_error(&text, ERR_LIMIT, "job.yaml: 8388608 bytes; at most 4194304 are allowed");
    str_done(&text);
    str_add(&text, "command: [");
    for (int i = 0; i < 1500000; i++)
        str_add(&text, "x,");
    expect_error(&text, ERR_LIMIT, "more than 1000000 values in one file");
    str_done(&text);
}

static void takes_thousands_of_jobs(void **state)
{
    struct str text = {0};
    struct err err;
    size_t jobs = 0;
    (void)state;
    str_add(&text, "cpus: 1-2\njobs:\n");
    for (int i = 0; i < 5000; i++)
        str_addf(&text, "- {name: job-%d, command: [train, --seed, %d]}\n", i, i);
    assert_ok(spec_read_yaml("job.yaml", text.at, text.n, count, &jobs, &err), err);
    assert_int_equal(jobs, 5000);
    str_done(&text);
}

static int refuse(struct spec *s, void *ctx, struct err *err)
{
    (void)s;
    (void)ctx;
    return err_set(err, ERR_CONFLICT, "not this one");
}

static void stops_when_told(void **state)
{
    static const char text[] = "command: [a]\n", nul[] = "command: [a]\0";
    struct err err;
    char name[300];
    (void)state;
    assert_error(spec_read_yaml("j", text, sizeof text - 1, refuse, NULL, &err), err, ERR_CONFLICT,
                 "not this one");
    assert_error(spec_read_yaml("j", nul, sizeof nul - 1, refuse, NULL, &err), err, ERR_INVALID,
                 "j:1:13: NUL byte; this is not a text file");
    memset(name, 'd', sizeof name);
    strcpy(name + sizeof name - 10, "/job.yaml");
    assert_error(spec_read_yaml(name, "x: 1", 4, refuse, NULL, &err), err, ERR_INVALID,
                 "ddd/job.yaml:1:1: unknown field 'x'");
    assert_true(!strncmp(err.text, "...ddd", 6) && strlen(err.text) < 100);
}

static const struct CMUnitTest tests[] = {
    TEST(reads_fields),    TEST(reads_many_jobs),
    TEST(follows_aliases), TEST(says_what_is_wrong_and_where),
    TEST(survives_bombs),  TEST(takes_thousands_of_jobs),
    TEST(stops_when_told),
};

int main(void)
{
    return RUN(tests);
}
