/* Tests of cli/log_reader: where the bytes of a stream are, attempt by attempt. */
#include "cli/log_reader.h"

#include "support/test.h"

/* Two attempts that are over, and one that runs. */
static const char job_text[] =
    "{\"attempts\":[{\"n\":1,\"log_bytes\":100,\"ended\":5},{\"n\":2,\"log_bytes\":50,\"ended\":9},"
    "{\"n\":3,\"log_bytes\":20,\"ended\":null}]}";

static void goes(int64_t attempt, int64_t offset, int64_t bytes, int64_t to_attempt, int64_t to)
{
    json_auto_t *job = json_loads(job_text, 0, NULL);
    struct log_place place = {attempt, offset};
    log_place_advance(job, bytes, &place);
    assert_int_equal(place.attempt, to_attempt);
    assert_int_equal(place.offset, to);
}

static void test_places(void **state)
{
    (void)state;
    goes(1, 0, 0, 1, 0);
    goes(1, 0, 40, 1, 40);
    goes(1, 40, 60, 1, 100); /* to the very end: it stays, and reads nothing more of it */
    goes(1, 40, 61, 2, 1);
    goes(1, 0, 150, 2, 50);
    goes(1, 0, 155, 3, 5);
    goes(2, 10, 45, 3, 5);
    goes(3, 0, 500, 3, 500); /* it still runs, and may have grown since */
    goes(7, 3, 4, 7, 7);     /* an attempt that the job does not know of */
}

static const struct CMUnitTest tests[] = {TEST(test_places)};

int main(void)
{
    return RUN(tests);
}
