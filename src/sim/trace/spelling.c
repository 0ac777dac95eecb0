/* Owns the spelling of numbers, speed curves and loss curves in our own CSV. */
#include "sim/trace/spelling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIZES_MAX = 4096, NUMBER_MAX = 40 };

/* Reads one number of a list up to any of `stops`; *p is left at the stop. */
static int next_number(const char **p, const char *stops, double lo, double hi, double *out,
                       struct err *err)
{
    char number[NUMBER_MAX];
    size_t n = strcspn(*p, stops);
    if (n >= sizeof number)
        return err_set(err, ERR_INVALID, "expected shorter numbers");
    memcpy(number, *p, n);
    number[n] = '\0';
    *p += n;
    return str_parse_double(number, lo, hi, out, err);
}

/* One list, up to a blank or the end. "-" is the curve of a type that does not run the job. */
static int parse_list(const char **text, struct arena *a, struct speed *out, struct err *err)
{
    double *speeds;
    const char *p = *text;
    uint32_t n = 1, k = 0, runs = 0;
    for (const char *q = p; *q && *q != ' '; q++)
        n += *q == '/';
    if (n > SIZES_MAX)
        return err_set(err, ERR_INVALID, "expected at most %d speeds", SIZES_MAX);
    speeds = ARENA_ARRAY(a, n, double);
    for (;; p++, k++) {
        if (*p == '-' && strchr("/ ", p[1]))
            p++;
        else if (next_number(&p, "/ ", 1e-9, 1e9, &speeds[k], err) < 0)
            return err_prefix(err, "expected speeds like 1/1.8/2.5, with - for a size that does "
                                   "not run");
        else
            runs++;
        if (*p != '/')
            break;
    }
    *out = runs ? speed_table(a, speeds, n) : speed_none();
    *text = p;
    return 0;
}

static int fail_runs(struct err *err)
{
    return err_set(err, ERR_INVALID, "expected at least one size that runs");
}

static int find_type(const struct cluster *c, const char *name, size_t n, unsigned *out,
                     struct err *err)
{
    char type[32];
    snprintf(type, sizeof type, "%.*s", (int)(n < sizeof type ? n : sizeof type - 1), name);
    for (unsigned i = 0; c && i < cluster_pools(c) - POOL_GPU; i++)
        if (str_equal_nocase(c->gpu_types[i], type)) {
            *out = i;
            return 0;
        }
    return err_set(err, ERR_INVALID, "the cluster has no GPU type '%s'", type);
}

static int parse_typed(const char *p, const struct cluster *c, struct arena *a,
                       struct spelt_speeds *out, struct err *err)
{
    unsigned pools = c ? cluster_pools(c) : POOL_GPU, seen = 0, able = 0, pool = 0;
    struct speed *speeds = ARENA_ARRAY(a, pools, struct speed);
    while (*p) {
        size_t n = strcspn(p, "= ");
        if (p[n] != '=')
            return err_set(err, ERR_INVALID, "expected TYPE=speeds for every GPU type");
        if (find_type(c, p, n, &pool, err) < 0)
            return -1;
        if (speeds[POOL_GPU + pool].at)
            return err_set(err, ERR_INVALID, "GPU type '%s' is given twice", c->gpu_types[pool]);
        p += n + 1;
        if (parse_list(&p, a, &speeds[POOL_GPU + pool], err) < 0)
            return -1;
        seen++;
        able += speed_runs(&speeds[POOL_GPU + pool]);
        p += strspn(p, " ");
    }
    for (unsigned i = POOL_GPU; i < pools; i++)
        if (!speeds[i].at)
            return err_set(err, ERR_INVALID, "expected speeds of the cluster's GPU type '%s' too",
                           c->gpu_types[i - POOL_GPU]);
    if (!able)
        return fail_runs(err);
    *out = seen == 1 ? (struct spelt_speeds){&speeds[POOL_GPU], 1}
                     : (struct spelt_speeds){speeds, (uint8_t)pools};
    return 0;
}

int speeds_parse(const char *text, const struct cluster *c, struct arena *a,
                 struct spelt_speeds *out, struct err *err)
{
    if (strchr(text, '='))
        return parse_typed(text, c, a, out, err);
    struct speed *one = ARENA_NEW(a, struct speed);
    if (parse_list(&text, a, one, err) < 0)
        return -1;
    if (!speed_runs(one))
        return fail_runs(err);
    if (*text)
        return err_set(err, ERR_INVALID, "expected one list, or TYPE=speeds for every GPU type");
    *out = (struct spelt_speeds){one, 1};
    return 0;
}

static void print_list(struct str *s, const struct speed *curve)
{
    if (!speed_runs(curve))
        str_add_n(s, "-", 1);
    for (uint32_t k = 1; k <= curve->len; k++) {
        if (k > 1)
            str_add_n(s, "/", 1);
        if (curve->next[k - 1] == k)
            number_print(s, curve->at[k]);
        else
            str_add_n(s, "-", 1);
    }
}

void speeds_print(struct str *s, const struct job *j, const char *const *types)
{
    if (j->nspeeds == 1) {
        print_list(s, &j->speeds[0]);
        return;
    }
    for (unsigned i = POOL_GPU; i < j->nspeeds; i++) {
        str_addf(s, "%s%s=", i > POOL_GPU ? " " : "", types[i - POOL_GPU]);
        print_list(s, &j->speeds[i]);
    }
}

static const struct {
    const char *name;
    enum loss_kind kind;
    int numbers;
} losses[] = {{"none", LOSS_NONE, 0},
              {"exp", LOSS_EXP, 1},
              {"inverse", LOSS_INVERSE, 3},
              {"power", LOSS_POWER, 3}};

int loss_parse(const char *text, struct loss *out, struct err *err)
{
    static const char hint[] = "expected exp:A, inverse:A:B:C, power:A:B:C or none";
    double v[3] = {0};
    const char *p = text + strcspn(text, ":");
    for (size_t i = 0; i < COUNT_OF(losses); i++) {
        size_t n = strlen(losses[i].name);
        if ((size_t)(p - text) != n || memcmp(text, losses[i].name, n) != 0)
            continue;
        /* a and b must not be negative, or the curve would rise; c may be. */
        for (int k = 0; k < losses[i].numbers; k++)
            if (*p++ != ':' || next_number(&p, ":", k == 2 ? -1e9 : 0, 1e9, &v[k], err) < 0)
                return err_set(err, ERR_INVALID, "%s with numbers from 0", hint);
        if (*p || (losses[i].kind == LOSS_INVERSE && v[1] == 0))
            break;
        *out = (struct loss){losses[i].kind, v[0], v[1], v[2]};
        return 0;
    }
    return err_set(err, ERR_INVALID, "%s", hint);
}

void loss_print(struct str *s, const struct loss *l)
{
    const double v[3] = {l->a, l->b, l->c};
    for (size_t i = 0; i < COUNT_OF(losses); i++) {
        if (losses[i].kind != l->kind)
            continue;
        str_add(s, losses[i].name);
        for (int k = 0; k < losses[i].numbers && k < (int)COUNT_OF(v); k++) {
            str_add_n(s, ":", 1);
            number_print(s, v[k]);
        }
    }
}

void number_print(struct str *s, double x)
{
    char text[NUMBER_MAX];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    str_add(s, text);
}

/* A whole number with `decimals` of its digits behind the point, and no zeroes
 * at the end. */
static void fixed_print(struct str *s, int64_t n, int decimals)
{
    char text[NUMBER_MAX];
    int64_t scale = 1;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    int length = snprintf(text, sizeof text, "%lld.%0*lld", (long long)(n / scale), decimals,
                          (long long)(n % scale));
    while (text[length - 1] == '0')
        length--;
    str_add_n(s, text, (size_t)(text[length - 1] == '.' ? length - 1 : length));
}

void units_print(struct str *s, units_t n)
{
    fixed_print(s, n, 3);
}

void seconds_print(struct str *s, usec_t t)
{
    fixed_print(s, t, 6);
}

void work_print(struct str *s, double work)
{
    if (work == floor(work) && work <= (double)USEC_LIMIT) {
        seconds_print(s, (usec_t)work);
        return;
    }
    number_print(s, work);
    str_add(s, "us");
}
