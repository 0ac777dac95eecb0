/* Owns the line about an event: time, number, kind, job, and then every other member as
 * name=value. */
#include "cli/event_text.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "cli/member.h"
#include "cli/screen_text.h"

static void add_time(double at, struct str *out)
{
    char text[32] = "-";
    struct tm when;
    time_t seconds = (time_t)(fabs(at) < 1e12 ? at : 0);
    if (fabs(at) < 1e12 && localtime_r(&seconds, &when))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &when);
    str_addf(out, "%-19s", text);
}

/* Members that have a column of their own, or are empty. */
static bool is_left_out(const char *name, const json_t *value)
{
    static const char *const placed[] = {"seq", "at", "kind", "job"};
    for (size_t i = 0; i < COUNT_OF(placed); i++)
        if (!strcmp(placed[i], name))
            return true;
    return json_is_null(value) || (json_is_string(value) && !json_string_length(value));
}

/* Members whose value is a time of day. */
static bool is_time(const char *name)
{
    static const char *const times[] = {"deadline", "expected_end", "eligible"};
    for (size_t i = 0; i < COUNT_OF(times); i++)
        if (!strcmp(times[i], name))
            return true;
    return false;
}

static void add_value(const char *name, const json_t *value, struct str *out)
{
    if (json_is_number(value) && is_time(name)) {
        add_time(json_number_value(value), out);
        return;
    }
    if (json_is_string(value)) {
        screen_add(out, json_string_value(value));
        return;
    }
    if (json_is_real(value)) {
        str_addf(out, "%.6g", json_real_value(value));
        return;
    }
    AUTO_FREE char *text =
        json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    screen_add(out, text ? text : "");
}

void event_text_add(const json_t *event, struct str *out)
{
    struct str kind = {0};
    add_time(member_number(event, "at"), out);
    screen_add(&kind, member_text(event, "kind"));
    if (member_has(event, "seq"))
        str_addf(out, " %6lld", (long long)member_integer(event, "seq"));
    else
        str_addf(out, " %6s", "-");
    str_addf(out, "  %-14s", kind.at);
    str_done(&kind);
    if (member_has(event, "job"))
        str_addf(out, "  job %lld", (long long)member_integer(event, "job"));
    for (void *i = json_object_iter((json_t *)event); i;
         i = json_object_iter_next((json_t *)event, i)) {
        if (is_left_out(json_object_iter_key(i), json_object_iter_value(i)))
            continue;
        str_add(out, "  ");
        screen_add(out, json_object_iter_key(i));
        str_add(out, "=");
        add_value(json_object_iter_key(i), json_object_iter_value(i), out);
    }
    str_add(out, "\n");
}
