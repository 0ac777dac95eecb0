/* Owns the spelling of the generator's parameters, and its models. */
#include "sim/trace/workload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/trace/spelling.h"

/* Speedups of Voda's experiments. The fits are non-negative least squares of
 * 1/S over a + b/n + c(n-1); c came out as 0 for all four. */
const struct workload_model workload_models[] = {
    {"vgg16", {1, 1.785, 2.5, 3.125}, 0.09955, 0.90337},
    {"resnet50", {1, 1.857, 2.6, 3.25}, 0.07693, 0.92307},
    {"inceptionv3", {1, 1.842, 2.692, 3.5}, 0.05644, 0.94767},
    {"transformer", {1, 1.657, 2.148, 2.521}, 0.19816, 0.80307},
    {NULL, {0}, 0, 0},
};

static int parse_units(const char *text, units_t *out, struct err *err)
{
    double v;
    if (str_parse_double(text, 0.001, 1e6, &v, err) < 0)
        return -1;
    *out = llround(v * UNIT);
    if (fabs(v * UNIT - (double)*out) > 1e-6)
        return err_set(err, ERR_INVALID, "expected at most three decimals");
    return 0;
}

static int parse_time(const char *text, usec_t lo, usec_t *out, struct err *err)
{
    if (time_parse(text, out, err) < 0)
        return -1;
    return *out >= lo ? 0 : err_set(err, ERR_INVALID, "expected at least %gs", time_seconds(lo));
}

/* The part up to the next slash; *p is left behind it, or NULL at the end. */
static char *next_part(char **p)
{
    char *part = *p, *slash = strchr(part, '/');
    if (slash)
        *slash = '\0';
    *p = slash ? slash + 1 : NULL;
    return part;
}

static int parse_model(const char *text, units_t *out, struct err *err)
{
    for (int i = 0; workload_models[i].name; i++)
        if (str_equal_nocase(text, workload_models[i].name)) {
            *out = i;
            return 0;
        }
    return err_set(err, ERR_INVALID,
                   "no model '%s'; there are vgg16, resnet50, inceptionv3 and transformer", text);
}

/* "1/2/4" with equal shares, or "1/2/4:0.7/0.2/0.1". */
static int parse_mix(char *text, int (*item)(const char *, units_t *, struct err *),
                     struct workload_mix *out, struct err *err)
{
    struct workload_mix m = {0};
    char *shares = strchr(text, ':'), *p = text;
    double sum = 0;
    if (shares)
        *shares++ = '\0';
    for (; p; m.n++) {
        if (m.n == WORKLOAD_CHOICES)
            return err_set(err, ERR_INVALID, "expected at most %d choices", WORKLOAD_CHOICES);
        if (item(next_part(&p), &m.size[m.n], err) < 0)
            return -1;
        m.share[m.n] = 1;
    }
    uint32_t given = 0;
    for (p = shares; p; given++)
        if (given == m.n || str_parse_double(next_part(&p), 0, 1e9, &m.share[given], err) < 0)
            return err_set(err, ERR_INVALID, "expected as many shares as choices, from 0");
    for (uint32_t i = 0; i < m.n; i++)
        sum += m.share[i];
    if ((shares && given != m.n) || !(sum > 0))
        return err_set(err, ERR_INVALID, "expected as many shares as choices, not all 0");
    for (uint32_t i = 0; i < m.n; i++)
        m.share[i] /= sum;
    *out = m;
    return 0;
}

/* "1.5-4", or one number for both ends. */
static int parse_slack(char *text, double slack[2], struct err *err)
{
    char *dash = strchr(text, '-');
    if (dash)
        *dash++ = '\0';
    if (str_parse_double(text, 1e-3, 1e6, &slack[0], err) < 0 ||
        str_parse_double(dash ? dash : text, 1e-3, 1e6, &slack[1], err) < 0)
        return -1;
    return slack[0] <= slack[1] ? 0 : err_set(err, ERR_INVALID, "expected LOW-HIGH");
}

/* Index into "first|second|third". */
static int parse_choice(const char *text, const char *choices, int *out, struct err *err)
{
    size_t n = strlen(text);
    const char *p = choices;
    for (int i = 0;; i++) {
        size_t length = strcspn(p, "|");
        if (length == n && !memcmp(p, text, n)) {
            *out = i;
            return 0;
        }
        if (!p[length])
            return err_set(err, ERR_INVALID, "expected one of %s", choices);
        p += length + 1;
    }
}

enum key {
    JOBS,
    LOAD,
    MEAN,
    SIGMA,
    SIZES,
    MODELS,
    KIND,
    UNITS,
    MIN,
    MAX,
    DEADLINES,
    SLACK,
    LOSS,
    BURST,
    BUSY,
    SPELL,
    KEYS
};
static const char *const keys[KEYS] = {"jobs", "load",  "mean", "sigma", "sizes",     "models",
                                       "kind", "unit",  "min",  "max",   "deadlines", "slack",
                                       "loss", "burst", "busy", "spell"};

/* How large, how many and how long. */
static int set_load(struct workload *w, enum key key, char *value, struct err *err)
{
    switch (key) {
    case JOBS:
        return str_parse_int(value, 1, 10000000, &w->jobs, err);
    case LOAD:
        return str_parse_double(value, 1e-6, 1e6, &w->load, err);
    case MEAN:
        return parse_time(value, USEC_PER_SEC, &w->mean, err);
    case SIGMA:
        return str_parse_double(value, 0, 4, &w->sigma, err);
    case SIZES:
        return parse_mix(value, parse_units, &w->sizes, err);
    case BURST:
        return str_parse_double(value, 1, 1e6, &w->burst, err);
    case BUSY:
        return str_parse_double(value, 1e-3, 0.999, &w->busy, err);
    default:
        return parse_time(value, USEC_PER_SEC, &w->spell, err);
    }
}

/* Of what kind. */
static int set_kind(struct workload *w, enum key key, char *value, struct err *err)
{
    int choice = 0, rc = 0;
    switch (key) {
    case MODELS:
        return parse_mix(value, parse_model, &w->models, err);
    case KIND:
        rc = parse_choice(value, "rigid|moldable|malleable", &choice, err);
        w->kind = (enum job_kind)choice;
        return rc;
    case UNITS:
        rc = parse_choice(value, "gpu|cpu", &choice, err);
        w->cpu = choice != 0;
        return rc;
    case MIN:
        return parse_units(value, &w->min, err);
    case MAX:
        return parse_units(value, &w->max, err);
    case DEADLINES:
        return str_parse_double(value, 0, 1, &w->deadlines, err);
    case SLACK:
        return parse_slack(value, w->slack, err);
    default:
        w->draw_loss = !strcmp(value, "exp");
        return w->draw_loss ? 0 : loss_parse(value, &w->loss, err);
    }
}

static const char *key_name(const void *ctx, size_t i)
{
    return ((const char *const *)ctx)[i];
}

static int set_key(struct workload *w, char *text, bool seen[KEYS], struct err *err)
{
    char *value = strchr(text, '=');
    if (value)
        *value++ = '\0';
    for (int i = 0; i < KEYS; i++) {
        if (strcmp(keys[i], text) != 0)
            continue;
        if (!value || !*value)
            return err_set(err, ERR_INVALID, "'%s' needs a value: %s=...", text, text);
        if (seen[i])
            return err_set(err, ERR_INVALID, "'%s' is given twice", text);
        seen[i] = true;
        bool load = i <= SIZES || i >= BURST;
        if ((load ? set_load : set_kind)(w, (enum key)i, value, err) < 0)
            return err_prefix(err, "%s", text);
        return 0;
    }
    const char *near = str_nearest(text, KEYS, key_name, keys);
    return err_set(err, ERR_INVALID, "no parameter '%.40s'%s%s%s", text,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* What was said must have an effect. */
static int check(const struct workload *w, const bool seen[KEYS], struct err *err)
{
    for (int i = BURST; i <= SPELL && !w->bursty; i++)
        if (seen[i])
            return err_set(err, ERR_INVALID, "'%s' is only for bursty arrivals", keys[i]);
    if (w->kind == JOB_RIGID && (seen[MIN] || seen[MAX]))
        return err_set(err, ERR_INVALID, "min and max need kind=malleable or kind=moldable");
    if (seen[SLACK] && !seen[DEADLINES])
        return err_set(err, ERR_INVALID, "slack needs deadlines=SHARE");
    for (uint32_t i = 0; i < w->sizes.n && !w->cpu; i++)
        if (w->sizes.size[i] % UNIT)
            return err_set(err, ERR_INVALID, "sizes: a number of GPUs must be a whole number");
    if (!w->cpu && (w->min % UNIT || w->max % UNIT))
        return err_set(err, ERR_INVALID, "min and max: a number of GPUs must be a whole number");
    if (w->max && w->max < w->min)
        return err_set(err, ERR_INVALID, "min is above max");
    return 0;
}

int workload_parse(const char *spec, struct workload *out, struct err *err)
{
    struct workload w = {
        .jobs = 1000,
        .load = 0.8,
        .mean = 3600 * USEC_PER_SEC,
        .sigma = 1.5,
        .slack = {1.5, 4},
        .burst = 10,
        .busy = 0.1,
        .sizes = {{1 * UNIT, 2 * UNIT, 4 * UNIT, 8 * UNIT}, {0.7, 0.1, 0.15, 0.05}, 4}};
    bool seen[KEYS] = {false};
    size_t n = strcspn(spec, ":");
    w.bursty = n == 6 && !memcmp(spec, "bursty", 6);
    if (!w.bursty && (n != 7 || memcmp(spec, "poisson", 7) != 0))
        return err_set(err, ERR_INVALID,
                       "generate '%.40s': expected poisson or bursty, as in "
                       "poisson:jobs=1000,load=0.8",
                       spec);
    AUTO_FREE char *text = xstrdup(spec[n] ? spec + n + 1 : "");
    for (char *p = text, *next; *p; p = next) {
        char *comma = strchr(p, ',');
        next = comma ? comma + 1 : p + strlen(p);
        if (comma)
            *comma = '\0';
        if (set_key(&w, p, seen, err) < 0)
            return err_prefix(err, "generate");
    }
    if (w.kind != JOB_RIGID && !seen[MODELS])
        for (uint32_t i = 0; workload_models[i].name; i++, w.models.n++) {
            w.models.size[i] = i;
            w.models.share[i] = 0.25;
        }
    w.own_sizes = seen[SIZES];
    if (check(&w, seen, err) < 0)
        return err_prefix(err, "generate");
    *out = w;
    return 0;
}
