/* Owns the profile directories of Pollux (Qiao et al., OSDI'21) and Sia
 * (SOSP'23). Their simulators also let the batch size follow the gradient
 * noise; here it stays fixed, so only speed is taken from the profiles. With
 * Pollux' own files this gives ElasticFlow's T4 table to the last digit. */
#include "sim/trace/pollux.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "sim/trace/profile_files.h"
#include "sim/trace/table.h"

struct point {
    double batch, step, sync; /* samples per replica; seconds */
};

/* A size that was measured with its replicas on as few nodes as possible. */
struct anchor {
    uint32_t n;
    bool placed;        /* from the placements file, which wins */
    char placement[64]; /* the first that was seen of this size */
    VEC(struct point) points;
};

struct curve {
    VEC(struct anchor) anchors;
    uint32_t node; /* GPUs of a node in the measurement */
};

static struct anchor *anchor_get(struct curve *c, uint32_t n)
{
    for (size_t i = 0; i < c->anchors.n; i++)
        if (c->anchors.at[i].n == n)
            return &c->anchors.at[i];
    VEC_PUSH(&c->anchors, (struct anchor){.n = n});
    return &c->anchors.at[c->anchors.n - 1];
}

static void curve_done(struct curve *c)
{
    for (size_t i = 0; i < c->anchors.n; i++)
        VEC_DONE(&c->anchors.at[i].points);
    VEC_DONE(&c->anchors);
}

static uint32_t placement_size(const char *placement)
{
    uint32_t n = 0;
    for (const char *p = placement; *p; p++) {
        if (*p < '1' || *p > '9')
            return 0;
        n += (uint32_t)(*p - '0');
    }
    return n;
}

/* Every node full but one. */
static bool is_packed(const char *placement, uint32_t node)
{
    unsigned part = 0;
    for (const char *p = placement; *p; p++)
        part += (uint32_t)(*p - '0') != node;
    return part <= 1;
}

static int read_point(const struct table *t, int batch, int step, int sync, struct point *out,
                      struct err *err)
{
    if (table_double(t, batch, 1e-9, 1e9, &out->batch, err) < 0 ||
        table_double(t, step, 1e-9, 1e9, &out->step, err) < 0)
        return -1;
    return table_double(t, sync, 0, 1e9, &out->sync, err);
}

enum { PLACEMENT, LOCAL_BATCH, STEP, SYNC };
static const struct column placement_columns[] = {{"placement", true},
                                                  {"local_bsz", true},
                                                  {"step_time", true},
                                                  {"sync_time", true},
                                                  {NULL, false}};

/* The first pass finds how many GPUs a node had. */
static int see_node(const struct table *t, void *ctx, struct err *err)
{
    struct curve *c = ctx;
    const char *text = table_text(t, PLACEMENT);
    uint32_t n = placement_size(text);
    if (n == 0 || strlen(text) >= sizeof((struct anchor *)0)->placement)
        return table_fail(t, PLACEMENT, err, "expected GPUs per node, a digit each");
    if (!text[1] && n > c->node)
        c->node = n;
    return 0;
}

/* The second takes the placements that are packed onto such nodes. */
static int take_placement(const struct table *t, void *ctx, struct err *err)
{
    struct curve *c = ctx;
    const char *text = table_text(t, PLACEMENT);
    struct point p;
    if (read_point(t, LOCAL_BATCH, STEP, SYNC, &p, err) < 0)
        return -1;
    if (!is_packed(text, c->node))
        return 0;
    struct anchor *a = anchor_get(c, placement_size(text));
    a->placed = true;
    if (!*a->placement)
        memcpy(a->placement, text, strlen(text) + 1);
    if (!strcmp(a->placement, text))
        VEC_PUSH(&a->points, p);
    return 0;
}

enum { NODES, REPLICAS, LOCAL_BATCH_2, STEP_2, SYNC_2 };
static const struct column scalability_columns[] = {{"num_nodes", true}, {"num_replicas", true},
                                                    {"local_bsz", true}, {"step_time", true},
                                                    {"sync_time", true}, {NULL, false}};

static int take_scalability(const struct table *t, void *ctx, struct err *err)
{
    struct curve *c = ctx;
    struct point p;
    int64_t nodes, n;
    if (table_int(t, NODES, 1, RATES_MAX, &nodes, err) < 0 ||
        table_int(t, REPLICAS, 1, RATES_MAX, &n, err) < 0 ||
        read_point(t, LOCAL_BATCH_2, STEP_2, SYNC_2, &p, err) < 0)
        return -1;
    if (nodes != (n + c->node - 1) / c->node)
        return 0;
    struct anchor *a = anchor_get(c, (uint32_t)n);
    if (!a->placed)
        VEC_PUSH(&a->points, p);
    return 0;
}

static int by_batch(const void *a, const void *b)
{
    double x = ((const struct point *)a)->batch, y = ((const struct point *)b)->batch;
    return (x > y) - (x < y);
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = ((const struct anchor *)a)->n, y = ((const struct anchor *)b)->n;
    return (x > y) - (x < y);
}

static int read_curve(const char *path, const char *type, struct curve *c, struct err *err)
{
    char file[PROFILE_PATH];
    if (profile_typed(path, "placements", type, file, err) < 0 ||
        table_each(file, placement_columns, "placements", see_node, c, err) < 0)
        return -1;
    if (c->node == 0)
        return err_set(err, ERR_INVALID, "%.200s: no placement on a single node", file);
    if (table_each(file, placement_columns, "placements", take_placement, c, err) < 0 ||
        profile_typed(path, "scalability", type, file, err) < 0 ||
        table_each(file, scalability_columns, "scalability", take_scalability, c, err) < 0)
        return -1;
    qsort(c->anchors.at, c->anchors.n, sizeof *c->anchors.at, by_size);
    for (size_t i = 0; i < c->anchors.n; i++)
        qsort(c->anchors.at[i].points.at, c->anchors.at[i].points.n, sizeof(struct point),
              by_batch);
    return 0;
}

/* Rounds up, forgiving the last bit of a quotient. */
static double ceiling(double x)
{
    return ceil(x - 1e-8);
}

/* Seconds for one iteration of the global batch; NAN when it does not run. */
static double iteration_time(const struct anchor *a, uint32_t n, double batch)
{
    const struct point *p = a->points.at, *last = p + a->points.n - 1;
    double local = ceiling(batch / n);
    double extra = ceiling(local / last->batch) - 1; /* passes before the one that syncs */
    double pass = ceiling(local / (extra + 1));
    if (local < p->batch || pass < p->batch || pass > last->batch)
        return NAN;
    while (p < last && p[1].batch < pass)
        p++;
    double share = p < last ? (pass - p->batch) / (p[1].batch - p->batch) : 0;
    double step = p->step, sync = p->sync;
    if (share > 0) {
        step += share * (p[1].step - p->step);
        sync += share * (p[1].sync - p->sync);
    }
    return step + extra * (step - sync);
}

/* The same for any size, between its measured neighbours. */
static double curve_time(const struct curve *c, uint32_t n, double batch)
{
    const struct anchor *hi = c->anchors.at;
    while (hi->n < n)
        hi++;
    double t = iteration_time(hi, n, batch);
    if (hi->n == n)
        return t;
    if (hi == c->anchors.at)
        return NAN;
    double low = iteration_time(hi - 1, n, batch);
    return low + (t - low) * (double)(n - hi[-1].n) / (double)(hi->n - hi[-1].n);
}

int pollux_rates(const char *directory, const char *application, const char *type,
                 const char *batch, struct arena *a, struct rates *out, struct err *err)
{
    char path[PROFILE_PATH];
    struct curve c = {0};
    double size;
    if (str_parse_double(batch, 1, 1e9, &size, err) < 0 ||
        profile_application(directory, application, path, err) < 0)
        return -1;
    if (read_curve(path, type, &c, err) < 0) {
        curve_done(&c);
        return -1;
    }
    uint32_t last = c.anchors.at[c.anchors.n - 1].n;
    double *at = ARENA_ARRAY(a, last, double);
    for (uint32_t n = 1; n <= last; n++) {
        double t = curve_time(&c, n, size);
        at[n - 1] = t > 0 ? 1 / t : 0;
    }
    curve_done(&c);
    *out = (struct rates){at, last};
    return 0;
}

enum { PROGRESS, ITERATION };
static const struct column validation_columns[] = {{"progress", false}, {"iteration", true},
                                                   {"metric", false},   {"grad_sqr", false},
                                                   {"grad_var", false}, {NULL, false}};

static int take_iteration(const struct table *t, void *ctx, struct err *err)
{
    return table_double(t, ITERATION, 1, 1e15, ctx, err);
}

/* Iterations after the last epoch. */
static int read_iterations(const char *path, long batch, double *out, struct err *err)
{
    char file[PROFILE_PATH + 64];
    *out = 0;
    snprintf(file, sizeof file, "%s/validation-%ld.csv", path, batch);
    if (table_each(file, validation_columns, "validation", take_iteration, out, err) < 0)
        return -1;
    return *out > 0 ? 0 : err_set(err, ERR_INVALID, "%.200s: no epochs", file);
}

int pollux_steps(const char *directory, const char *application, const char *batch, double *out,
                 struct err *err)
{
    char path[PROFILE_PATH];
    struct name_list names = {0};
    double size, at_lo, at_hi;
    long lo = 0, hi = 0;
    if (str_parse_double(batch, 1, 1e9, &size, err) < 0 ||
        profile_application(directory, application, path, err) < 0 ||
        profile_list(path, &names, err) < 0)
        return -1;
    for (size_t i = 0; i < names.n; i++) {
        long v;
        char tail;
        if (sscanf(names.at[i], "validation-%9ld.cs%c", &v, &tail) != 2 || v <= 0 || tail != 'v')
            continue;
        if ((double)v <= size && v > lo)
            lo = v;
        if ((double)v >= size && (!hi || v < hi))
            hi = v;
    }
    name_list_done(&names);
    if (!lo || !hi)
        return err_set(err, ERR_INVALID, "%s: no validation file for a batch size %s %s", path,
                       lo ? "of at least" : "of at most", batch);
    if (read_iterations(path, lo, &at_lo, err) < 0 || read_iterations(path, hi, &at_hi, err) < 0)
        return -1;
    double share = hi > lo ? (size - (double)lo) / (double)(hi - lo) : 0;
    *out = at_lo + share * (at_hi - at_lo);
    return 0;
}
