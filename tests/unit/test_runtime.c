/* The queue of operations that are complete. */
#include "runtime/runtime.h"
#include "support/test.h"

static void test_operations_come_out_in_order(void **state)
{
    (void)state;
    struct runtime_host h = {0};
    struct runtime_op op[3] = {0};
    runtime_host_init(&h);
    assert_null(runtime_collect(&h));
    for (size_t i = 0; i < COUNT_OF(op); i++)
        runtime_complete(&h, &op[i]);
    for (size_t i = 0; i < COUNT_OF(op); i++)
        assert_ptr_equal(runtime_collect(&h), &op[i]);
    assert_null(runtime_collect(&h));
}

/* As when what is collected begins the next one, of the same attempt. */
static void test_an_operation_can_be_used_again(void **state)
{
    (void)state;
    struct runtime_host h = {0};
    struct runtime_op a = {0}, b = {0};
    runtime_host_init(&h);
    runtime_complete(&h, &a);
    for (unsigned i = 0; i < 3; i++) {
        runtime_complete(&h, &b);
        assert_ptr_equal(runtime_collect(&h), &a);
        runtime_complete(&h, &a);
        assert_ptr_equal(runtime_collect(&h), &b);
    }
    assert_ptr_equal(runtime_collect(&h), &a);
    assert_null(runtime_collect(&h));
    runtime_complete(&h, &b);
    assert_ptr_equal(runtime_collect(&h), &b);
}

static const struct CMUnitTest tests[] = {
    TEST(test_operations_come_out_in_order),
    TEST(test_an_operation_can_be_used_again),
};

int main(void)
{
    return RUN(tests);
}
