/* Tests of secrets and hashes, with the examples of RFC 6234 and RFC 4231. */
#include "base/secret.h"

#include <string.h>

#include "support/test.h"

static void test_hash(void **state)
{
    char out[SECRET_HEX];
    (void)state;
    secret_hash("abc", out);
    assert_string_equal(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    secret_hash("", out);
    assert_string_equal(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void test_sign(void **state)
{
    static const char message[] = "what do ya want for nothing?";
    char out[SECRET_HEX];
    (void)state;
    secret_sign("Jefe", message, strlen(message), out);
    assert_string_equal(out, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void test_random(void **state)
{
    char a[65], b[65], few[8];
    struct err err;
    (void)state;
    assert_ok(secret_random(a, sizeof a, &err), err);
    assert_ok(secret_random(b, sizeof b, &err), err);
    assert_int_equal(strlen(a), 64);
    assert_int_equal(strspn(a, "0123456789abcdef"), 64);
    assert_string_not_equal(a, b);
    assert_ok(secret_random(few, sizeof few, &err), err);
    assert_int_equal(strlen(few), 6);
}

static const struct CMUnitTest tests[] = {TEST(test_hash), TEST(test_sign), TEST(test_random)};

int main(void)
{
    return RUN(tests);
}
