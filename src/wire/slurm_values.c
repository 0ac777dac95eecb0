/* Owns the spelling of Slurm's values. */
#include "wire/slurm_values.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { PARTS_MAX = 4, PART_LARGEST = 100000000 };

/* The numbers between '-' and ':', at most four; -1 for anything else. */
static int split_numbers(const char *text, int64_t parts[PARTS_MAX])
{
    int n = 0;
    for (const char *p = text;; p++) {
        int64_t v = 0;
        const char *start = p;
        for (; isdigit((unsigned char)*p) && v < PART_LARGEST; p++)
            v = v * 10 + (*p - '0');
        if (p == start || n == PARTS_MAX)
            return -1;
        parts[n++] = v;
        if (!*p)
            return n;
        if (*p != ':' && !(*p == '-' && n == 1))
            return -1;
    }
}

int slurm_parse_time(const char *text, usec_t *out, struct err *err)
{
    /* Seconds in each part, by the number of parts, without and with days. */
    static const int64_t weights[2][PARTS_MAX][PARTS_MAX] = {
        {{60}, {60, 1}, {3600, 60, 1}},
        {{0}, {86400, 3600}, {86400, 3600, 60}, {86400, 3600, 60, 1}},
    };
    int64_t parts[PARTS_MAX], sum = 0;
    if (str_equal_nocase(text, "UNLIMITED") || str_equal_nocase(text, "INFINITE") ||
        !strcmp(text, "-1")) {
        *out = 0;
        return 0;
    }
    bool days = strchr(text, '-') != NULL;
    int n = split_numbers(text, parts);
    if (n < 0 || (days ? n < 2 : n > 3))
        return err_set(err, ERR_INVALID,
                       "'%.40s': expected MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS, "
                       "DAYS-HOURS or DAYS-HOURS:MINUTES[:SECONDS]",
                       text);
    for (int i = 0; i < n; i++)
        sum += parts[i] * weights[days][n - 1][i];
    *out = sum * USEC_PER_SEC;
    return 0;
}

int slurm_parse_gpus(const char *text, char *type, size_t size, int64_t *n, struct err *err)
{
    const char *colon = strrchr(text, ':');
    const char *number = colon ? colon + 1 : text;
    bool only_type = !colon && !isdigit((unsigned char)*text);
    size_t length = only_type ? strlen(text) : colon ? (size_t)(colon - text) : 0;
    int64_t v = 1;
    if (strchr(text, ','))
        return err_set(err, ERR_INVALID, "'%.40s': GPUs of one type only", text);
    if (!*text || length >= size || (colon && length == 0))
        return err_set(err, ERR_INVALID, "'%.40s': expected [TYPE:]NUMBER", text);
    if (!only_type && str_parse_int(number, 0, 65536, &v, err) < 0)
        return -1;
    snprintf(type, size, "%.*s", (int)length, text);
    *n = v;
    return 0;
}
