/* Owns CPU lists and the affinity of threads. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "conductor/cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = sizeof(unsigned long) * CHAR_BIT };

/* Parses a number and moves *p past it; -1 if there is none. */
static long read_number(const char **p)
{
    char *end;
    if (**p < '0' || **p > '9')
        return -1;
    long n = strtol(*p, &end, 10);
    *p = end;
    return n;
}

int cpus_parse(const char *text, struct cpus *out, struct err *err)
{
    struct cpus c;
    const char *p = text;
    memset(&c, 0, sizeof c);
    do {
        long first = read_number(&p), last = first;
        if (first >= 0 && *p == '-') {
            p++;
            last = read_number(&p);
        }
        if (first < 0 || last < first || last >= CPUS_MAX || (*p && *p != ','))
            return err_set(err, ERR_INVALID, "'%.60s' is not a list of CPUs such as 0-1,4", text);
        for (long i = first; i <= last; i++)
            c.bits[i / WORD] |= 1UL << (i % WORD);
    } while (*p++ == ',');
    *out = c;
    return 0;
}

int cpus_apply(const struct cpus *c, pid_t thread)
{
    return sched_setaffinity(thread, sizeof c->bits, (const cpu_set_t *)c->bits) < 0 ? errno : 0;
}
