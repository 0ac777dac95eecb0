/* Owns reading goodput profiles. Every measured placement is kept under its shape; the means
 * of those with as many nodes and replicas, and the larger ones of the scalability file, are
 * kept for all other shapes, as in Pollux' simulator. */
#include "sim/trace/goodput_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/trace/profile_files.h"
#include "sim/trace/table.h"

/* The simulator of Pollux limits the local batch size of this application. */
static const struct {
    const char *application;
    uint32_t max_local;
} limits[] = {{"yolov3", 8}};

struct sample_row {
    struct shape shape;
    struct goodput_point point;
};

typedef VEC(struct sample_row) sample_rows;

enum { PLACEMENT, LOCAL_BATCH, STEP, SYNC };
static const struct column placement_columns[] = {{"placement", true},
                                                  {"local_bsz", true},
                                                  {"step_time", true},
                                                  {"sync_time", true},
                                                  {NULL, false}};

static int read_point(const struct table *t, int local, int step, int sync,
                      struct goodput_point *out, struct err *err)
{
    if (table_double(t, local, 1, 1e9, &out->local, err) < 0 ||
        table_double(t, step, 1e-9, 1e9, &out->step, err) < 0)
        return -1;
    return table_double(t, sync, 0, 1e9, &out->sync, err);
}

static int take_placement(const struct table *t, void *ctx, struct err *err)
{
    enum { NODES_MAX = 16 };
    sample_rows *rows = ctx;
    struct sample_row row;
    struct slot slots[NODES_MAX];
    const char *text = table_text(t, PLACEMENT);
    size_t n = strlen(text);
    if (n == 0 || n > NODES_MAX || strspn(text, "123456789") != n)
        return table_fail(t, PLACEMENT, err, "expected GPUs per node, a digit each");
    if (read_point(t, LOCAL_BATCH, STEP, SYNC, &row.point, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        slots[i] = (struct slot){(uint32_t)i, (text[i] - '0') * UNIT};
    row.shape = shape_of(&(struct placement){slots, (uint32_t)n});
    VEC_PUSH(rows, row);
    return 0;
}

enum { NODES, REPLICAS, LOCAL_BATCH_2, STEP_2, SYNC_2 };
static const struct column scalability_columns[] = {{"num_nodes", true}, {"num_replicas", true},
                                                    {"local_bsz", true}, {"step_time", true},
                                                    {"sync_time", true}, {NULL, false}};

static int take_scalability(const struct table *t, void *ctx, struct err *err)
{
    sample_rows *rows = ctx;
    struct sample_row row = {0};
    int64_t nodes, replicas;
    if (table_int(t, NODES, 1, 4096, &nodes, err) < 0 ||
        table_int(t, REPLICAS, nodes, 4096, &replicas, err) < 0 ||
        read_point(t, LOCAL_BATCH_2, STEP_2, SYNC_2, &row.point, err) < 0)
        return -1;
    row.shape = (struct shape){(uint32_t)nodes, (uint32_t)replicas, 0};
    VEC_PUSH(rows, row);
    return 0;
}

static int compare_shapes(const struct shape *a, const struct shape *b)
{
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->nodes != b->nodes)
        return a->nodes < b->nodes ? -1 : 1;
    return (a->replicas > b->replicas) - (a->replicas < b->replicas);
}

static int by_shape(const void *x, const void *y)
{
    const struct sample_row *a = x, *b = y;
    int c = compare_shapes(&a->shape, &b->shape);
    return c ? c : (a->point.local > b->point.local) - (a->point.local < b->point.local);
}

/* The mean of rows[0..n), which have the same local batch size. */
static struct goodput_point mean_point(const struct sample_row *rows, size_t n)
{
    struct goodput_point sum = {.local = rows[0].point.local};
    for (size_t i = 0; i < n; i++) {
        sum.step += rows[i].point.step;
        sum.sync += rows[i].point.sync;
    }
    sum.step /= (double)n;
    sum.sync /= (double)n;
    return sum;
}

/* Sorts the rows into curves: one for each shape, equal local batch sizes averaged. */
static const struct goodput_curve *make_curves(sample_rows *rows, struct arena *a, uint32_t *n)
{
    qsort(rows->at, rows->n, sizeof *rows->at, by_shape);
    struct goodput_curve *curves = ARENA_ARRAY(a, rows->n, struct goodput_curve);
    struct goodput_point *points = ARENA_ARRAY(a, rows->n, struct goodput_point);
    *n = 0;
    for (size_t i = 0, same; i < rows->n; i += same) {
        const struct sample_row *row = &rows->at[i];
        bool new = i == 0 || compare_shapes(&row->shape, &row[-1].shape) != 0;
        for (same = 1; i + same < rows->n && by_shape(row, row + same) == 0;)
            same++;
        if (new)
            curves[(*n)++] = (struct goodput_curve){row->shape, points, 0};
        curves[*n - 1].n++;
        *points++ = mean_point(row, same);
    }
    return curves;
}

static void measure_limits(const sample_rows *rows, struct goodput *g)
{
    g->min_local = UINT32_MAX;
    for (size_t i = 0; i < rows->n; i++) {
        const struct shape *s = &rows->at[i].shape;
        uint32_t local = (uint32_t)rows->at[i].point.local;
        g->largest = s->replicas > g->largest ? s->replicas : g->largest;
        if (!s->key)
            continue;
        g->min_local = local < g->min_local ? local : g->min_local;
        g->max_local = local > g->max_local ? local : g->max_local;
        if (s->nodes == 1 && s->replicas > g->per_node)
            g->per_node = s->replicas;
    }
}

void goodput_limit_pollux(struct goodput *g, const char *application)
{
    for (size_t i = 0; i < COUNT_OF(limits); i++)
        if (!strcmp(limits[i].application, application) && limits[i].max_local < g->max_local)
            g->max_local = limits[i].max_local;
}

static int read_times(const char *path, const char *type, struct arena *a, sample_rows *rows,
                      struct goodput *g, struct err *err)
{
    char file[PROFILE_PATH];
    if (profile_typed(path, "placements", type, file, err) < 0 ||
        table_each(file, placement_columns, "placements", take_placement, rows, err) < 0)
        return -1;
    if (rows->n == 0)
        return err_set(err, ERR_INVALID, "%.200s: no placements", file);
    size_t placed = rows->n;
    g->shapes = make_curves(rows, a, &g->nshapes);
    if (profile_typed(path, "scalability", type, file, err) < 0 ||
        table_each(file, scalability_columns, "scalability", take_scalability, rows, err) < 0)
        return -1;
    measure_limits(rows, g);
    if (!g->per_node)
        return err_set(err, ERR_INVALID, "%.200s: no placement on a single node", file);
    for (size_t i = 0; i < placed; i++)
        rows->at[i].shape.key = 0;
    g->means = make_curves(rows, a, &g->nmeans);
    return 0;
}

enum { PROGRESS, ITERATION, METRIC, GRAD_SQR, GRAD_VAR };
static const struct column validation_columns[] = {{"progress", true}, {"iteration", false},
                                                   {"metric", false},  {"grad_sqr", true},
                                                   {"grad_var", true}, {NULL, false}};

struct epoch_row {
    double progress, sqr, var;
};

struct validation {
    double batch;
    VEC(struct epoch_row) epochs;
};

typedef VEC(struct validation) validations;

static int take_epoch(const struct table *t, void *ctx, struct err *err)
{
    struct validation *v = ctx;
    struct epoch_row row;
    if (table_double(t, PROGRESS, 0, 1e15, &row.progress, err) < 0 ||
        table_double(t, GRAD_SQR, 0, 1e30, &row.sqr, err) < 0 ||
        table_double(t, GRAD_VAR, 0, 1e30, &row.var, err) < 0)
        return -1;
    if (v->epochs.n && row.progress <= v->epochs.at[v->epochs.n - 1].progress)
        return table_fail(t, PROGRESS, err, "expected more than in the epoch before");
    VEC_PUSH(&v->epochs, row);
    return 0;
}

static int by_batch(const void *a, const void *b)
{
    double x = ((const struct validation *)a)->batch, y = ((const struct validation *)b)->batch;
    return (x > y) - (x < y);
}

static int read_validations(const char *path, validations *out, struct err *err)
{
    struct name_list names = {0};
    int rc = profile_list(path, &names, err);
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        char file[PROFILE_PATH + 64], tail;
        long batch;
        if (sscanf(names.at[i], "validation-%9ld.cs%c", &batch, &tail) != 2 || batch <= 0 ||
            tail != 'v')
            continue;
        snprintf(file, sizeof file, "%s/validation-%ld.csv", path, batch);
        VEC_PUSH(out, (struct validation){.batch = (double)batch});
        rc = table_each(file, validation_columns, "validation", take_epoch, &out->at[out->n - 1],
                        err);
    }
    name_list_done(&names);
    if (rc == 0 && out->n == 0)
        rc = err_set(err, ERR_INVALID, "%s: no validation-BATCH.csv", path);
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, by_batch);
    return rc;
}

/* An epoch ends when the slowest of all batch sizes has made its progress. */
static int keep_validations(const validations *v, const char *path, struct arena *a,
                            struct goodput *g, struct err *err)
{
    g->nbatches = (uint32_t)v->n;
    g->epochs = UINT32_MAX;
    for (size_t b = 0; b < v->n; b++)
        if (v->at[b].epochs.n < g->epochs)
            g->epochs = (uint32_t)v->at[b].epochs.n;
    if (g->epochs == 0)
        return err_set(err, ERR_INVALID, "%s: a validation file has no epochs", path);
    double *batches = ARENA_ARRAY(a, v->n, double);
    double *sqr = ARENA_ARRAY(a, v->n * g->epochs, double);
    double *var = ARENA_ARRAY(a, v->n * g->epochs, double);
    double *progress = ARENA_ARRAY(a, g->epochs + 1, double);
    for (uint32_t e = 0; e < g->epochs; e++) {
        progress[e + 1] = INFINITY;
        for (size_t b = 0; b < v->n; b++) {
            const struct epoch_row *row = &v->at[b].epochs.at[e];
            batches[b] = v->at[b].batch;
            sqr[b * g->epochs + e] = row->sqr;
            var[b * g->epochs + e] = row->var;
            progress[e + 1] = fmin(progress[e + 1], row->progress);
        }
    }
    g->batches = batches;
    g->sqr = sqr;
    g->var = var;
    g->progress = progress;
    return 0;
}

int goodput_read(const char *directory, const char *application, const char *type, struct arena *a,
                 struct goodput *out, struct err *err)
{
    char path[PROFILE_PATH];
    sample_rows rows = {0};
    validations v = {0};
    struct goodput g = {.pace = 1};
    if (profile_application(directory, application, path, err) < 0)
        return -1;
    int rc = read_times(path, type, a, &rows, &g, err);
    if (rc == 0)
        rc = read_validations(path, &v, err);
    if (rc == 0)
        rc = keep_validations(&v, path, a, &g, err);
    VEC_DONE(&rows);
    for (size_t i = 0; i < v.n; i++)
        VEC_DONE(&v.at[i].epochs);
    VEC_DONE(&v);
    if (rc == 0)
        *out = g;
    return rc;
}
