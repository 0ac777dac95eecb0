/* Fuzzes the replay of a journal: each line is a row, its first letter the kind (b, e,
 * p). Whatever stands there, the engine is given something it can work with, or the
 * row is refused with a text.
 *
 * Random bytes would seldom be JSON: most changes are of whole numbers and lines. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "journal/journal.h"
#include "journal/read.h"
#include "journal/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static const char *kind_of(char letter)
{
    return letter == 'b' ? "boot" : letter == 'e' ? "event" : letter == 'p' ? "plan" : "other";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct replay_result found = {0};
    struct replay *r = replay_create(&found);
    char *text = xstrndup((const char *)data, size), *rest = text;
    int64_t seq = 0, boot = 1;
    int rc = 0;
    struct err err = {0};
    for (char *line; rc == 0 && (line = strsep(&rest, "\n")) && *line;) {
        boot += *line == 'b' && seq > 0;
        rc = replay_row(r, ++seq, boot, kind_of(*line), line + 1, &err);
    }
    if (rc == 0)
        replay_end(r);
    demand(rc == 0 || (err.code != ERR_OK && err.text[0]));
    demand(found.events + found.decisions + found.passed_over <= (uint64_t)seq);
    replay_free(r);
    replay_result_done(&found);
    free(text);
    return 0;
}

/* ---- changes ------------------------------------------------------------- */

/* Puts text in the place of data[from..to). */
static size_t splice(uint8_t *data, size_t size, size_t max, size_t from, size_t to,
                     const char *text, size_t n)
{
    if (size - (to - from) + n > max)
        return size;
    memmove(data + from + n, data + to, size - to);
    memcpy(data + from, text, n);
    return size - (to - from) + n;
}

static bool in_number(uint8_t c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '.';
}

static size_t change_number(uint8_t *data, size_t size, size_t max, struct rng *r)
{
    static const char *const numbers[] = {
        "0",    "1",       "2",       "3",          "-1",       "999",
        "1000", "1001",    "2000",    "64000",      "10000000", "60000000",
        "null", "\"nan\"", "\"inf\"", "\"-inf\"",   "0.5",      "1e-9",
        "1e18", "1e300",   "1e16",    "true",       "false",    "4294967295",
        "1e30", "8",       "16",      "1000000000", "99999",    "9223372036854775"};
    size_t from = (size_t)rng_below(r, size);
    while (from < size && !in_number(data[from]))
        from++;
    size_t to = from;
    while (from > 0 && in_number(data[from - 1]))
        from--;
    while (to < size && in_number(data[to]))
        to++;
    const char *text = numbers[rng_below(r, COUNT_OF(numbers))];
    return splice(data, size, max, from, to, text, strlen(text));
}

static void pick_line(const uint8_t *data, size_t size, struct rng *r, size_t *from, size_t *to)
{
    *from = *to = (size_t)rng_below(r, size);
    while (*from > 0 && data[*from - 1] != '\n')
        --*from;
    while (*to < size && data[*to] != '\n')
        ++*to;
    *to += *to < size;
}

static size_t copy_line(uint8_t *data, size_t size, size_t max, struct rng *r)
{
    size_t from, to, where, end;
    pick_line(data, size, r, &from, &to);
    pick_line(data, size, r, &where, &end);
    char *line = xstrndup((const char *)data + from, to - from);
    size = splice(data, size, max, where, where, line, to - from);
    free(line);
    return size;
}

static size_t remove_line(uint8_t *data, size_t size, size_t max, struct rng *r)
{
    size_t from, to;
    pick_line(data, size, r, &from, &to);
    return splice(data, size, max, from, to, "", 0);
}

static size_t change_policy(uint8_t *data, size_t size, size_t max, struct rng *r)
{
    static const char *const names[] = {
        "fifo",    "las",   "specon",         "flowcon", "qos",
        "gittins", "tradl", "voda-afs-l",     "optimus", "malleable",
        "srtf",    "edf",   "schedulearn-rr", "ffdl",    "elastic-las"};
    static const char key[] = "\"policy\":\"";
    size_t from = 0, n = strlen(key);
    while (from + n <= size && memcmp(data + from, key, n) != 0)
        from++;
    if (from + n > size)
        return size;
    size_t to = from += n;
    while (to < size && data[to] != '"')
        to++;
    const char *name = names[rng_below(r, COUNT_OF(names))];
    return splice(data, size, max, from, to, name, strlen(name));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    struct rng r;
    rng_init(&r, seed);
    if (size == 0)
        return LLVMFuzzerMutate(data, size, max);
    switch (rng_below(&r, 10)) {
    case 0:
        return LLVMFuzzerMutate(data, size, max);
    case 1:
        return copy_line(data, size, max, &r);
    case 2:
        return remove_line(data, size, max, &r);
    case 3:
        return change_policy(data, size, max, &r);
    default:
        for (uint64_t n = 1 + rng_below(&r, 3); n && size; n--)
            size = change_number(data, size, max, &r);
        return size;
    }
}
