/* Owns the texts of notifications' events and targets. */
#include "wire/notice.h"

#include <string.h>

#include "base/mem.h"
#include "wire/value.h"

static const char *const event_names[] = {"start", "end",      "fail", "stall",
                                          "nan",   "deadline", "node"};
static const char *const kind_names[] = {
    [NOTICE_WEBHOOK] = "webhook", [NOTICE_SLACK] = "slack", [NOTICE_NTFY] = "ntfy",
    [NOTICE_COMMAND] = "command", [NOTICE_MAIL] = "mail",
};

const char *notice_event_name(unsigned event)
{
    size_t i = 0;
    while (i < COUNT_OF(event_names) - 1 && !(event & 1u << i))
        i++;
    return event_names[i];
}

static unsigned find_event(const char *word, size_t n)
{
    for (size_t i = 0; i < COUNT_OF(event_names); i++)
        if (strlen(event_names[i]) == n && !memcmp(event_names[i], word, n))
            return 1u << i;
    return n == 3 && !memcmp(word, "all", n) ? NOTICE_DEFAULT | NOTICE_START : 0;
}

int notice_events_parse(const char *text, unsigned *out, struct err *err)
{
    char shown[VALUE_SHOWN];
    unsigned bits = 0;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, ",");
        unsigned bit = find_event(p, n);
        if (!bit)
            return err_set(err, ERR_INVALID, "'%s': expected some of " NOTICE_WORDS ", or all",
                           value_show(text, shown));
        bits |= bit;
        p += n + (p[n] == ',');
    }
    if (!bits)
        return err_set(err, ERR_INVALID, "expected some of " NOTICE_WORDS ", or all");
    *out = bits;
    return 0;
}

static int check_address(const struct notice_target *t, const char *text, struct err *err)
{
    char shown[VALUE_SHOWN];
    bool url = t->kind != NOTICE_COMMAND && t->kind != NOTICE_MAIL;
    if (!*t->address || t->address[strcspn(t->address, "\r\n")])
        return err_set(err, ERR_INVALID, "'%s': expected an address after the colon, on one line",
                       value_show(text, shown));
    if (url && strncmp(t->address, "https://", 8) != 0 && strncmp(t->address, "http://", 7) != 0)
        return err_set(err, ERR_INVALID, "'%s': expected a URL that begins with https://",
                       value_show(text, shown));
    /* sendmail must not take it for an option, nor for several. */
    if (t->kind == NOTICE_MAIL &&
        (t->address[0] == '-' || strpbrk(t->address, " \t,;<>\"()") || strlen(t->address) > 254))
        return err_set(err, ERR_INVALID, "'%s': expected one mail address",
                       value_show(text, shown));
    return 0;
}

int notice_target_parse(const char *text, struct notice_target *out, struct err *err)
{
    char shown[VALUE_SHOWN];
    const char *colon = strchr(text, ':');
    for (size_t i = 0; colon && i < COUNT_OF(kind_names); i++) {
        struct notice_target t = {(enum notice_kind)i, colon + 1};
        if (strlen(kind_names[i]) != (size_t)(colon - text) ||
            memcmp(kind_names[i], text, (size_t)(colon - text)) != 0)
            continue;
        if (check_address(&t, text, err) < 0)
            return -1;
        *out = t;
        return 0;
    }
    return err_set(err, ERR_INVALID,
                   "'%s': expected webhook:URL, slack:URL, ntfy:URL, command:LINE or mail:ADDRESS",
                   value_show(text, shown));
}

void notice_target_show(const char *text, struct str *out)
{
    struct notice_target t;
    if (notice_target_parse(text, &t, NULL) < 0)
        return;
    const char *host = t.kind < NOTICE_COMMAND ? strstr(t.address, "://") + 3 : NULL;
    if (!host) {
        str_add(out, text);
        return;
    }
    size_t n = strcspn(host, "/?#");
    const char *at = memchr(host, '@', n); /* a password may be before it */
    str_add_n(out, text, (size_t)(host - text));
    host = at ? at + 1 : host;
    str_add_n(out, host, strcspn(host, "/?#"));
    str_add(out, host[strcspn(host, "/?#")] ? "/…" : "");
}
