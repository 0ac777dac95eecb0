/* Tests of cli/key: bytes of a terminal to keys. */
#include "cli/key.h"

#include "support/test.h"

static void test_keys(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        int keys[4]; /* ends with -1 */
    } cases[] = {
        {"q", {'q', -1}},
        {"jk", {'j', 'k', -1}},
        {"\r", {KEY_ENTER, -1}},
        {"\n", {KEY_ENTER, -1}},
        {"\033", {KEY_ESCAPE, -1}},
        {"\033[A\033[B", {KEY_UP, KEY_DOWN, -1}},
        {"\033OA\033OBx", {KEY_UP, KEY_DOWN, 'x', -1}},
        {"\033[5~\033[6~", {KEY_PAGE_UP, KEY_PAGE_DOWN, -1}},
        {"\033[H\033[F", {KEY_HOME, KEY_END, -1}},
        {"\033[1~\033[4~", {KEY_HOME, KEY_END, -1}},
        {"\033[1;5Aq", {KEY_NONE, 'q', -1}}, /* control and an arrow: nothing here */
        {"\033[200~q", {KEY_NONE, 'q', -1}},
        {"\033[1", {KEY_NONE, -1}}, /* cut off */
        {"\033q", {KEY_ESCAPE, 'q', -1}},
        {"\001\177", {KEY_NONE, KEY_NONE, -1}},
        {"\xc3\xbc", {KEY_NONE, KEY_NONE, -1}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *p = cases[i].bytes;
        size_t left = strlen(p);
        for (size_t k = 0; cases[i].keys[k] != -1; k++) {
            int key;
            assert_true(left > 0);
            size_t n = key_decode(p, left, &key);
            assert_true(n > 0 && n <= left);
            assert_int_equal(key, cases[i].keys[k]);
            p += n;
            left -= n;
        }
        assert_int_equal(left, 0);
    }
}

static const struct CMUnitTest tests[] = {TEST(test_keys)};

int main(void)
{
    return RUN(tests);
}
