/* Tests of the events and targets of notifications. */
#include "wire/notice.h"

#include <string.h>

#include "support/test.h"

static void test_events(void **state)
{
    struct err err;
    unsigned bits = 0;
    (void)state;
    assert_ok(notice_events_parse("end,fail", &bits, &err), err);
    assert_int_equal(bits, NOTICE_END | NOTICE_FAIL);
    assert_ok(notice_events_parse("all", &bits, &err), err);
    assert_int_equal(bits, NOTICE_DEFAULT | NOTICE_START);
    assert_error(notice_events_parse("end,often", &bits, &err), err, ERR_INVALID, "often");
    assert_error(notice_events_parse("", &bits, &err), err, ERR_INVALID, "expected some of");
    assert_error(notice_events_parse("en", &bits, &err), err, ERR_INVALID, "'en'");
    assert_string_equal(notice_event_name(NOTICE_NAN), "nan");
    assert_string_equal(notice_event_name(NOTICE_NODE), "node");
}

static void test_targets(void **state)
{
    static const struct {
        const char *text, *fault, *shown;
    } cases[] = {
        {"webhook:https://u:p@example.org:8443/hook?key=1", NULL,
         "webhook:https://example.org:8443/…"},
        {"slack:https://hooks.slack.com/services/T/B/X", NULL, "slack:https://hooks.slack.com/…"},
        {"ntfy:http://localhost", NULL, "ntfy:http://localhost"},
        {"mail:ann@example.org", NULL, "mail:ann@example.org"},
        {"mail:$USER", NULL, "mail:$USER"},
        {"command:logger -t x", NULL, "command:logger -t x"},
        {"mail:", "expected an address", ""},
        {"mail:-oQ/tmp", "one mail address", ""},
        {"mail:a@b, c@d", "one mail address", ""},
        {"mail:a@b\nBcc: c", "on one line", ""},
        {"webhook:ftp://x", "begins with https://", ""},
        {"webhooks:https://x", "expected webhook:URL", ""},
        {"https://x", "expected webhook:URL", ""},
        {"", "expected webhook:URL", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct notice_target t;
        struct str shown = {0};
        struct err err;
        if (cases[i].fault)
            assert_error(notice_target_parse(cases[i].text, &t, &err), err, ERR_INVALID,
                         cases[i].fault);
        else
            assert_ok(notice_target_parse(cases[i].text, &t, &err), err);
        notice_target_show(cases[i].text, &shown);
        assert_string_equal(shown.at ? shown.at : "", cases[i].shown);
        str_done(&shown);
    }
}

static const struct CMUnitTest tests[] = {TEST(test_events), TEST(test_targets)};

int main(void)
{
    return RUN(tests);
}
