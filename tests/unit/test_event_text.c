/* Tests of cli/event_text. */
#include "cli/event_text.h"

#include <time.h>

#include "support/test.h"

static void reads(const char *json, const char *line)
{
    json_auto_t *event = json_loads(json, 0, NULL);
    struct str out = {0};
    event_text_add(event, &out);
    assert_string_equal(out.at, line);
    str_done(&out);
}

static void test_lines(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    reads("{\"seq\":17,\"at\":1700000000.25,\"kind\":\"job.started\",\"job\":12,\"cpus\":1.5,"
          "\"gpus\":0.0,\"reason\":\"\",\"code\":null,\"node\":\"host\"}",
          "2023-11-14 22:13:20     17  job.started     job 12  cpus=1.5  gpus=0  node=host\n");
    reads(
        "{\"seq\":1,\"at\":0,\"kind\":\"policy.changed\",\"policy\":\"las\",\"by\":{\"a\":[1,2]}}",
        "1970-01-01 00:00:00      1  policy.changed  policy=las  by={\"a\":[1,2]}\n");
    reads("{\"kind\":\"job.progress\",\"job\":3,\"at\":1,\"loss\":0.25}",
          "1970-01-01 00:00:01      -  job.progress    job 3  loss=0.25\n");
    reads("{\"kind\":\"\\u001b[2J\",\"at\":1e300,\"a\\nb\":\"\\u0007\"}",
          "-                        -  \\x1b[2J         a\\nb=\\x07\n");
    reads("{\"seq\":2,\"kind\":\"job.at_risk\",\"job\":3,\"at\":1,\"deadline\":1700000000.0,"
          "\"expected_end\":1700000060.5}",
          "1970-01-01 00:00:01      2  job.at_risk     job 3  deadline=2023-11-14 22:13:20  "
          "expected_end=2023-11-14 22:14:20\n");
    reads("{}", "-                        -                \n");
}

static const struct CMUnitTest tests[] = {TEST(test_lines)};

int main(void)
{
    return RUN(tests);
}
