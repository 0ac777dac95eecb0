/* Parameters of policies: declared with a range and a default, parsed from "name=value". */
#ifndef POLICY_PARAMS_H
#define POLICY_PARAMS_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

enum param_type {
    PARAM_NUMBER,
    PARAM_PERCENT,  /* "5" or "5%": 0.05 */
    PARAM_DURATION, /* microseconds */
    PARAM_CHOICE,   /* index into choices */
    PARAM_LIST,     /* increasing numbers, separated by slashes */
    PARAM_NUMBERS,  /* the same in any order */
};

enum { PARAMS_MAX = 8, PARAM_LIST_MAX = 8 };

struct param {
    const char *name;
    enum param_type type;
    const char *preset;  /* the default, as a user writes it */
    double lo, hi;       /* of the number, of each list entry, of seconds */
    const char *choices; /* "strict|skip|backfill" */
    const char *help;
};

struct param_value {
    double number; /* or the index of a choice, or microseconds */
    double list[PARAM_LIST_MAX];
    uint32_t n; /* entries of the list */
};

struct params {
    struct param_value v[PARAMS_MAX]; /* in the order of declaration */
};

static inline usec_t param_usec(const struct params *p, unsigned i)
{
    return (usec_t)p->v[i].number;
}

/* Sets all defaults. Tests check the declarations. */
void params_default(const struct param *declared, struct params *out);

/* The index of a name among the declared ones; -1 = none. */
int params_find(const struct param *declared, const char *name, size_t length);

/* Parses one value into *out. */
int param_parse(const struct param *declared, const char *text, struct param_value *out,
                struct err *err);

/* "name (seconds, 0 to 3600, default 20s): help" without the help. */
void param_describe(const struct param *p, char *buf, size_t size);

#endif
