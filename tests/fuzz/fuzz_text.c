/* Fuzzes what base makes of any text: numbers, durations, escapes, guesses. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

static const char *name_at(const void *ctx, size_t i)
{
    return ((const char *const *)ctx)[i];
}

static void numbers(const char *text)
{
    struct err err;
    int64_t i;
    double d;
    usec_t t;
    char back[32];
    if (str_parse_int(text, -1000, 1000, &i, &err) == 0)
        require(i >= -1000 && i <= 1000);
    if (str_parse_double(text, -1, 1e6, &d, &err) == 0)
        require(d >= -1 && d <= 1e6);
    if (time_parse(text, &t, &err) == 0) {
        require(t >= 0 && t <= USEC_LIMIT);
        require(strlen(time_format(t, back, sizeof back)) < sizeof back);
    }
}

/* What was escaped holds nothing that could end its string or its element. */
static void escapes(const char *text)
{
    struct str json = {0}, html = {0};
    str_add_json(&json, text);
    for (size_t i = 1; i + 1 < json.n; i++) {
        require((unsigned char)json.at[i] >= 0x20);
        if (json.at[i] == '\\')
            i++;
        else
            require(json.at[i] != '"');
    }
    str_add(&html, "");
    str_add_html(&html, text);
    require(!strpbrk(html.at, "<>\"'"));
    str_done(&json);
    str_done(&html);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"fifo", "srtf", "elastic-fifo", "", "a", "gittins"};
    char *text = xstrndup((const char *)data, size);
    struct err err = {0};
    numbers(text);
    escapes(text);
    str_nearest(text, COUNT_OF(names), name_at, names);
    err_set(&err, ERR_INVALID, "%s", text);
    err_prefix(&err, "%s", text);
    require(strlen(err.text) < sizeof err.text);
    free(text);
    return 0;
}
