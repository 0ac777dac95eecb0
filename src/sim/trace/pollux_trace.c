/* Owns the workloads of Pollux (OSDI'21) and Sia (SOSP'23). A job trains its
 * application to the last profiled epoch and is malleable between the sizes at
 * which its batch runs. Either only its speed at a fixed global batch size
 * counts (sim/trace/pollux.h), or its goodput (model/goodput.h). */
#include <stdio.h>
#include <string.h>

#include "sim/trace/goodput_read.h"
#include "sim/trace/reader.h"
#include "sim/trace/sia.h"

enum { ID, SUBMIT, MODEL, REPLICAS, BATCH };

static const struct column columns[] = {{"name", true},        {"time", true},
                                        {"application", true}, {"num_replicas", true},
                                        {"batch_size", true},  {NULL, false}};

/* Pollux trains these at a fixed size in its own runs. */
static const struct {
    const char *application;
    double batch;
    uint32_t most;
} fixed[] = {{"ncf", 32768, 1}};

static double batch_of(const struct trace_reader *r, const char *application, double asked,
                       uint32_t *most)
{
    if (r->options->batch == BATCH_FIXED)
        return asked;
    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        if (!strcmp(fixed[i].application, application)) {
            *most = fixed[i].most;
            return fixed[i].batch;
        }
    return 0;
}

/* The largest number of replicas that the batch can be divided among, on any type. */
static uint32_t most_replicas(const struct goodput *g, uint32_t types, double batch, uint32_t most)
{
    uint32_t best = 1;
    for (uint32_t t = 0; t < types; t++) {
        uint32_t n = (uint32_t)((batch > 0 ? batch : goodput_largest(g)) / g[t].min_local);
        n = n < g[t].largest ? n : g[t].largest;
        best = n > best ? n : best;
    }
    return best < most ? best : most;
}

/* The goodput of the application on each type of the cluster. */
static int read_types(struct trace_reader *r, const char *application, struct goodput *g,
                      struct err *err)
{
    bool sia = r->options->sia;
    for (unsigned t = 0; t < r->ntypes; t++) {
        if (goodput_read(r->profiles.directory, application, r->types[t], r->arena, &g[t], err) < 0)
            return table_prefix(&r->table, MODEL, err);
        if (!sia)
            goodput_limit_pollux(&g[t], application);
        g[t].limited_by_shape = sia;
        g[t].pace = sia ? 1 / sia_application(application)->slowdown : 1;
    }
    return 0;
}

static int make_learning(struct trace_reader *r, const char *application, double batch,
                         uint32_t most, struct learning **out, struct err *err)
{
    struct goodput *g = ARENA_ARRAY(r->arena, r->ntypes, struct goodput);
    struct learning *l = ARENA_NEW(r->arena, struct learning);
    if (read_types(r, application, g, err) < 0)
        return -1;
    if (batch > goodput_largest(g) || (batch > 0 && batch < goodput_initial(g)))
        return table_fail(&r->table, BATCH, err, "expected %g to %g, where gradients were measured",
                          goodput_initial(g), goodput_largest(g));
    if (!learning_init(l, g, r->ntypes, batch, most_replicas(g, r->ntypes, batch, most), r->arena))
        return table_fail(&r->table, BATCH, err, "does not run on one GPU of type '%s'",
                          r->types[0]);
    *out = l;
    return 0;
}

/* How the job learns; each application and batch size is read once. NULL on failure. */
static const struct learning *find_learning(struct trace_reader *r, double asked, struct err *err)
{
    const char *application = table_text(&r->table, MODEL);
    char key[512];
    uint32_t at, most = UINT32_MAX;
    struct learning *l = NULL;
    double batch = batch_of(r, application, asked, &most);
    if ((size_t)snprintf(key, sizeof key, "%s\x1f%g", application, batch) >= sizeof key) {
        table_fail(&r->table, MODEL, err, "expected a shorter name");
        return NULL;
    }
    if (map_get(&r->learning_index, key, &at))
        return r->learnings.at[at];
    if (make_learning(r, application, batch, most, &l, err) < 0)
        return NULL;
    map_add(&r->learning_index, arena_strdup(r->arena, key), (uint32_t)r->learnings.n);
    VEC_PUSH(&r->learnings, l);
    return l;
}

/* The size that is fastest in some epoch on some type. */
static units_t fastest_size(const struct learning *l)
{
    units_t best = UNIT;
    for (size_t i = 0; i < (size_t)l->goodput->epochs * l->nspeeds; i++) {
        const struct speed *s = &l->speeds[i];
        units_t n = speed_runs(s) ? speed_best(s, (units_t)s->len * UNIT) : 0;
        best = n > best ? n : best;
    }
    return best;
}

/* The largest size up to n on some type, of what is profiled. */
static units_t admissible_size(const struct learning *l, units_t n)
{
    units_t best = UNIT;
    for (uint8_t i = 0; i < l->nspeeds; i++) {
        units_t here = speed_runs(&l->speeds[i]) ? speed_floor(&l->speeds[i], n) : 0;
        best = here > best ? here : best;
    }
    return best;
}

/* Up to the size that is fastest, or that was asked for. */
static void set_learning(const struct trace_reader *r, struct job *j, const struct learning *l,
                         units_t asked)
{
    units_t max = fastest_size(l);
    max = asked > max && admissible_size(l, asked) == asked ? asked : max;
    j->kind = JOB_MALLEABLE;
    j->pool = POOL_ANY_GPU;
    j->learning = l;
    j->speeds = learning_speeds(l, 0);
    j->nspeeds = l->nspeeds;
    j->work = l->left[0] * (double)USEC_PER_SEC;
    j->min = UNIT;
    j->max = max;
    j->req = admissible_size(l, asked < max ? asked : max);
    if (r->options->sia)
        j->cost.restart = j->cost.resize = j->cost.move = sia_application(j->group)->restart;
}

static int pollux_row(struct trace_reader *r, struct job *j, struct err *err)
{
    const struct scaling *s;
    units_t asked;
    double batch;
    if (reader_gpus(r, REPLICAS, &asked, err) < 0 ||
        table_double(&r->table, BATCH, 1, 1e9, &batch, err) < 0)
        return -1;
    j->group = reader_intern(r, table_text(&r->table, MODEL));
    if (r->options->batch != BATCH_STEPS) {
        const struct learning *l = find_learning(r, batch, err);
        if (!l)
            return -1;
        set_learning(r, j, l, asked);
        return 0;
    }
    if (reader_scaling(r, MODEL, BATCH, &s, err) < 0)
        return -1;
    reader_set_malleable(r, s, s->steps, asked, j);
    return 0;
}

const struct trace_format trace_pollux = {.name = "pollux",
                                          .columns = columns,
                                          .id = ID,
                                          .submit = SUBMIT,
                                          .profiles = PROFILES_DIRECTORY,
                                          .needs_profiles = true,
                                          .row = pollux_row};
