/* Owns the text form of a set of CPUs. */
#include "runtime/local/cpuset.h"

#include <ctype.h>
#include <stdlib.h>

uint32_t cpuset_count(const struct cpuset *s)
{
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof s->bits / sizeof *s->bits; i++)
        n += (uint32_t)__builtin_popcountl(s->bits[i]);
    return n;
}

void cpuset_format(const struct cpuset *s, struct str *out)
{
    out->n = 0;
    str_add(out, "");
    for (uint32_t first = 0; first < CPUSET_MAX; first++) {
        if (!cpuset_has(s, first))
            continue;
        uint32_t last = first;
        while (cpuset_has(s, last + 1))
            last++;
        str_addf(out, last > first ? "%s%u-%u" : "%s%u", out->n ? "," : "", first, last);
        first = last;
    }
}

/* A number below CPUSET_MAX at *p, which moves past it. */
static int parse_cpu(const char **p, uint32_t *out)
{
    if (!isdigit((unsigned char)**p))
        return -1;
    char *end;
    unsigned long n = strtoul(*p, &end, 10);
    if (n >= CPUSET_MAX)
        return -1;
    *p = end;
    *out = (uint32_t)n;
    return 0;
}

int cpuset_parse(const char *text, struct cpuset *out, struct err *err)
{
    struct cpuset s = {0};
    const char *p = text;
    while (*p && !isspace((unsigned char)*p)) {
        uint32_t first, last;
        if (parse_cpu(&p, &first))
            return err_set(err, ERR_INVALID, "'%s' is not a list of CPUs such as 0-1,4", text);
        last = first;
        if (*p == '-' && (p++, parse_cpu(&p, &last) || last < first))
            return err_set(err, ERR_INVALID, "'%s' is not a list of CPUs such as 0-1,4", text);
        for (uint32_t i = first; i <= last; i++)
            cpuset_add(&s, i);
        if (*p == ',' && p[1])
            p++;
        else if (*p && !isspace((unsigned char)*p))
            return err_set(err, ERR_INVALID, "'%s' is not a list of CPUs such as 0-1,4", text);
    }
    *out = s;
    return 0;
}
