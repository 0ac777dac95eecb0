/* Tests of what the store remembers of categories. */
#include "store/categories.h"

#include <math.h>

#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

static void test_saved_and_replaced(void **state)
{
    struct store *s = store_dir_open(*state);
    struct category_row row = {.name = "ann cnn",
                               .at = 5,
                               .jobs = 2,
                               .fixed = 0.25,
                               .parallel = 0.75,
                               .comm = 0,
                               .estimates = 3,
                               .inside = 2,
                               .error = 0.1,
                               .bias = -0.05};
    struct category_row got;
    struct err err;
    assert_int_equal(store_category_get(s, "ann cnn", &got, &err), 0);
    assert_ok(store_category_save(s, &row, &err), err);
    assert_int_equal(store_category_get(s, "ann cnn", &got, &err), 1);
    assert_true(got.at == 5 && got.jobs == 2 && got.fixed == 0.25 && got.parallel == 0.75 &&
                got.comm == 0 && got.estimates == 3 && got.inside == 2 && got.error == 0.1 &&
                got.bias == -0.05);
    row.fixed = NAN;
    assert_ok(store_category_save(s, &row, &err), err);
    assert_int_equal(store_category_get(s, "ann cnn", &got, &err), 1);
    assert_true(isnan(got.fixed) && got.parallel == 0.75);
    assert_int_equal(store_category_get(s, "bob cnn", &got, &err), 0);
    store_close(s);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_saved_and_replaced),
};

int main(void)
{
    return RUN(tests);
}
