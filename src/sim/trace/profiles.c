/* Owns profile tables. A curve is found by "type/model/batch" joined with a
 * separator that no file can hold in a name by accident. */
#include "sim/trace/profiles.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "sim/trace/pollux.h"
#include "sim/trace/table.h"

enum { TYPE, MODEL, BATCH, GPUS, RATE };

static const struct kind {
    enum profiles_kind kind;
    const char *name, *layout;
    struct column columns[RATE + 2]; /* "" = this kind has no such column */
} kinds[] = {
    {PROFILES_THROUGHPUTS,
     "throughput table",
     "gpu_type,model,global_batch_size,num_gpus,iters_per_s",
     {{"gpu_type", true},
      {"model", true},
      {"global_batch_size", true},
      {"num_gpus", true},
      {"iters_per_s", true},
      {NULL, false}}},
    {PROFILES_JOB_TYPES,
     "job type table",
     "gpu_type,job_type,num_gpus,steps_per_s",
     {{"gpu_type", true},
      {"job_type", true},
      {"", false},
      {"num_gpus", true},
      {"steps_per_s", true},
      {NULL, false}}},
    {PROFILES_SPEEDUPS,
     "speedup table",
     "model,gpus,speedup",
     {{"", false}, {"model", true}, {"", false}, {"gpus", true}, {"speedup", true}, {NULL, false}}},
    {PROFILES_RESTARTS,
     "table of restart costs",
     "model,gpus,restart_s",
     {{"", false},
      {"model", true},
      {"", false},
      {"gpus", true},
      {"restart_s", true},
      {NULL, false}}},
};

const char *profiles_layout(enum profiles_kind kind)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (kinds[i].kind == kind)
            return kinds[i].layout;
    return kind == PROFILES_DIRECTORY ? "a directory of APPLICATION/placements.csv" : "none";
}

static int make_key(const char *type, const char *model, const char *batch, char *buf, size_t size)
{
    return (size_t)snprintf(buf, size, "%s\x1f%s\x1f%s", type, model, batch) < size ? 0 : -1;
}

/* Adds a name to one of the lists unless it is there. */
#define NOTE_NAME(list, name, arena)                                                               \
    do {                                                                                           \
        size_t at_ = 0;                                                                            \
        while (at_ < (list)->n && strcmp((list)->at[at_], (name)) != 0)                            \
            at_++;                                                                                 \
        if (at_ == (list)->n)                                                                      \
            VEC_PUSH(list, arena_strdup(arena, name));                                             \
    } while (0)

/* What stands for "does not run on this many": nothing, 0 or nan. */
static int read_rate(const struct table *t, double *out, struct err *err)
{
    const char *text = table_text(t, RATE);
    *out = 0;
    if (!*text || str_equal_nocase(text, "nan"))
        return 0;
    return table_double(t, RATE, 0, 1e12, out, err);
}

static int add_row(struct profiles *p, const struct table *t, struct err *err)
{
    char key[512];
    const char *type = table_text(t, TYPE), *model = table_text(t, MODEL);
    int64_t n;
    double rate;
    uint32_t at;
    if (!*model)
        return table_fail(t, MODEL, err, "expected a name");
    if (!*type && *t->columns[TYPE].name)
        return table_fail(t, TYPE, err, "expected a GPU type");
    if (make_key(type, model, table_text(t, BATCH), key, sizeof key) < 0)
        return table_fail(t, MODEL, err, "a name this long");
    if (table_int(t, GPUS, 1, RATES_MAX, &n, err) < 0 || read_rate(t, &rate, err) < 0)
        return -1;
    if (p->curves.n == 0 || !map_get(&p->index, key, &at)) {
        at = (uint32_t)p->curves.n;
        map_add(&p->index, arena_strdup(&p->arena, key), at);
        VEC_PUSH(&p->curves, (struct profiles_curve){0});
        NOTE_NAME(&p->models, model, &p->arena);
        if (*type)
            NOTE_NAME(&p->types, type, &p->arena);
    }
    struct profiles_curve *c = &p->curves.at[at];
    while (c->at.n < (size_t)n)
        VEC_PUSH(&c->at, NAN);
    if (!isnan(c->at.at[n - 1]))
        return table_fail(t, GPUS, err, "this row is in the table twice");
    c->at.at[n - 1] = rate;
    return 0;
}

static const struct kind *find_kind(const struct table *t, struct err *err)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (table_fits(t, kinds[i].columns, NULL))
            return &kinds[i];
    csv_fail(&t->csv, 0, err,
             "no known profile table; expected the columns %s, or %s, or %s, or %s",
             kinds[0].layout, kinds[1].layout, kinds[2].layout, kinds[3].layout);
    return NULL;
}

static int read_rows(struct profiles *p, struct table *t, struct err *err)
{
    const struct kind *k = find_kind(t, err);
    int got;
    if (!k || table_bind(t, k->columns, k->name, err) < 0)
        return -1;
    p->kind = k->kind;
    while ((got = table_next(t, err)) > 0)
        if (add_row(p, t, err) < 0)
            return -1;
    if (got < 0)
        return -1;
    if (p->curves.n == 0)
        return err_set(err, ERR_INVALID, "%s: it has a header but no rows", t->csv.name);
    /* Sizes that were left out are sizes that do not run. */
    for (size_t i = 0; i < p->curves.n; i++)
        for (size_t j = 0; j < p->curves.at[i].at.n; j++)
            if (isnan(p->curves.at[i].at.at[j]))
                p->curves.at[i].at.at[j] = 0;
    return 0;
}

static int read_table(struct table *t, struct profiles *out, struct err *err)
{
    struct profiles p = {0};
    memcpy(p.name, t->csv.name, sizeof p.name);
    int rc = read_rows(&p, t, err);
    table_done(t);
    if (rc < 0) {
        profiles_done(&p);
        return -1;
    }
    *out = p;
    return 0;
}

int profiles_parse(const char *name, const char *text, size_t n, struct profiles *out,
                   struct err *err)
{
    struct table t;
    return table_from_text(&t, name, text, n, err) < 0 ? -1 : read_table(&t, out, err);
}

int profiles_open(const char *path, struct profiles *out, struct err *err)
{
    struct stat st;
    struct table t;
    if (stat(path, &st) < 0)
        return err_set(err, ERR_INVALID, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return table_open(&t, path, err) < 0 ? -1 : read_table(&t, out, err);
    *out = (struct profiles){.kind = PROFILES_DIRECTORY, .directory = path};
    snprintf(out->name, sizeof out->name, "%s", path);
    return 0;
}

void profiles_done(struct profiles *p)
{
    for (size_t i = 0; i < p->curves.n; i++)
        VEC_DONE(&p->curves.at[i].at);
    VEC_DONE(&p->curves);
    VEC_DONE(&p->types);
    VEC_DONE(&p->models);
    map_done(&p->index);
    arena_done(&p->arena);
    *p = (struct profiles){0};
}

int profiles_rates(const struct profiles *p, const char *type, const char *model, const char *batch,
                   struct arena *a, struct rates *out, struct err *err)
{
    char key[512];
    uint32_t at;
    if (p->kind == PROFILES_DIRECTORY)
        return pollux_rates(p->directory, model, type, batch, a, out, err);
    *out = (struct rates){0};
    if (make_key(type, model, batch, key, sizeof key) == 0 && map_get(&p->index, key, &at)) {
        out->at = p->curves.at[at].at.at;
        out->n = (uint32_t)p->curves.at[at].at.n;
    }
    return 0;
}

static void list_types(const struct profiles *p, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < p->types.n && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", p->types.at[i]);
}

static int match_type(const struct profiles *p, const char *type, const char **out, struct err *err)
{
    char known[80];
    if (p->kind == PROFILES_DIRECTORY) {
        *out = type; /* which files there are depends on the application */
        return 0;
    }
    for (size_t i = 0; i < p->types.n; i++)
        if (str_equal_nocase(type, p->types.at[i])) {
            *out = p->types.at[i];
            return 0;
        }
    list_types(p, known, sizeof known);
    return err_set(err, ERR_INVALID, "%s: no GPU type '%s'; it has %s", p->name, type, known);
}

int profiles_match_types(const struct profiles *p, const struct cluster *c,
                         const char *types[POOLS_MAX - 1], unsigned *n, struct err *err)
{
    char known[80];
    unsigned pools = c ? cluster_pools(c) - POOL_GPU : 0;
    bool unnamed = pools == 0 || (pools == 1 && !strcmp(c->gpu_types[0], "gpu"));
    *n = unnamed ? 1 : pools;
    if (p->kind == PROFILES_SPEEDUPS || p->kind == PROFILES_RESTARTS ||
        (unnamed && p->kind == PROFILES_DIRECTORY)) {
        types[0] = "";
        *n = 1;
        return 0;
    }
    if (unnamed && p->types.n == 1) {
        types[0] = p->types.at[0];
        return 0;
    }
    list_types(p, known, sizeof known);
    if (unnamed)
        return err_set(err, ERR_INVALID,
                       "%s has several GPU types (%s): say which the cluster has, as in 16x4:%s",
                       p->name, known, p->types.n ? p->types.at[0] : "t4");
    for (unsigned i = 0; i < pools; i++)
        if (match_type(p, c->gpu_types[i], &types[i], err) < 0)
            return -1;
    return 0;
}

static const char *model_name(const void *ctx, size_t i)
{
    return ((const struct profiles *)ctx)->models.at[i];
}

const char *profiles_nearest(const struct profiles *p, const char *model)
{
    return str_nearest(model, p->models.n, model_name, p);
}
