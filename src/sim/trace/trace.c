/* Owns the reading of traces: finds the format by the header, runs the format's
 * reader over the records, and holds what is true of every trace: ids are
 * unique, submissions are in order, every job is valid, nothing is skipped. */
#include "sim/trace/trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "sim/trace/reader.h"

/* The first that fits a header is taken: Muri's and ElasticFlow's columns
 * include those of Tiresias. */
static const struct trace_format *const formats[] = {
    &trace_own,    &trace_muri,   &trace_elasticflow, &trace_tiresias,
    &trace_philly, &trace_pollux, &trace_voda,        &trace_gavel};

/* No format fits. When the header is nearly one of them, say what is wrong
 * with it; else list them. */
static int fail_format(struct table *t, struct err *err)
{
    const struct trace_format *near = NULL;
    size_t most = 1, known;
    /* From the end: of formats that share columns the plainest comes last. */
    for (size_t i = COUNT_OF(formats); i-- > 0;) {
        table_fits(t, formats[i]->columns, &known);
        if (known > most) {
            most = known;
            near = formats[i];
        }
    }
    if (near && table_bind(t, near->columns, near->name, err) < 0)
        return -1;
    return csv_fail(&t->csv, 0, err,
                    "not a trace: no known header. Known formats: trainyard (id,submit,work,...), "
                    "tiresias, muri, elasticflow, philly, pollux, voda, gavel; see docs/traces.md");
}

static int find_format(struct trace_reader *r, struct err *err)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++)
        if (table_fits(&r->table, formats[i]->columns, NULL)) {
            r->format = formats[i];
            return table_bind(&r->table, r->format->columns, r->format->name, err);
        }
    return fail_format(&r->table, err);
}

static int open_profiles(struct trace_reader *r, struct err *err)
{
    const struct trace_format *f = r->format;
    const char *path = r->options->profiles;
    if (!path && f->needs_profiles)
        return err_set(err, ERR_INVALID, "%s: the %s format needs --profiles: %s",
                       r->table.csv.name, f->name, profiles_layout(f->profiles));
    if (!path)
        return 0;
    if (f->profiles == PROFILES_NONE)
        return err_set(err, ERR_INVALID, "%s: the %s format takes no --profiles", r->table.csv.name,
                       f->name);
    if (profiles_open(path, &r->profiles, err) < 0)
        return -1;
    if (r->profiles.kind != f->profiles)
        return err_set(err, ERR_INVALID, "%s: has %s, but the %s format needs %s", r->profiles.name,
                       profiles_layout(r->profiles.kind), f->name, profiles_layout(f->profiles));
    return profiles_match_types(&r->profiles, r->options->cluster, r->types, &r->ntypes, err);
}

static int open_pairs(struct trace_reader *r, struct err *err)
{
    const char *path = r->options->colocated;
    if (!path)
        return 0;
    if (!r->format->colocated || !r->profiles.kind)
        return err_set(err, ERR_INVALID, "%s: --colocated needs the gavel format and --profiles",
                       r->table.csv.name);
    return pairs_open(path, &r->pairs, err);
}

static int read_submit(const struct trace_reader *r, usec_t *out, struct err *err)
{
    double ms;
    if (!r->format->milliseconds)
        return table_time(&r->table, r->format->submit, out, err);
    if (table_double(&r->table, r->format->submit, 0, (double)(USEC_LIMIT / 1000), &ms, err) < 0)
        return -1;
    *out = llround(ms * 1000);
    return 0;
}

/* Reads the current record as job n of the trace. */
static int read_job(struct trace_reader *r, struct trace *t, struct err *err)
{
    const struct trace_format *f = r->format;
    struct job *j = &t->jobs[t->n];
    const char *id = table_text(&r->table, f->id);
    *j = (struct job){.id = t->n,
                      .name = arena_strdup(&t->arena, id),
                      .weight = 1,
                      .deadline = USEC_NEVER,
                      .target = NAN,
                      .cost = r->options->cost};
    if (!*id)
        return table_fail(&r->table, f->id, err, "expected an id");
    if (read_submit(r, &j->submit, err) < 0)
        return -1;
    if (t->n && j->submit < j[-1].submit)
        return table_fail(&r->table, f->submit, err,
                          "before the job above it; sort the file by this column");
    if (f->row(r, j, err) < 0)
        return -1;
    if (job_normalise(j, err) < 0) {
        char shown[48];
        const struct csv_field *first = &r->table.csv.fields.at[0];
        return err_prefix(err, "%s:%u:%u: job '%s'", r->table.csv.name, first->line, first->column,
                          csv_show(id, shown, sizeof shown));
    }
    return 0;
}

/* Ids that count upwards cannot repeat, and most traces have no others: the
 * map is filled when the first one comes that does not. */
struct id_index {
    struct map jobs;
    VEC(uint32_t) lines; /* of each job */
    int64_t last;        /* of the ids that count upwards; -1 = none yet */
    bool mapped;
};

static bool counts_up(const char *id, int64_t *last)
{
    int64_t n = 0;
    const char *p = id;
    for (; *p >= '0' && *p <= '9' && p - id < 18; p++)
        n = n * 10 + (*p - '0');
    if (*p || n <= *last || (id[0] == '0' && id[1]))
        return false;
    *last = n;
    return true;
}

static int note_id(struct id_index *ids, const struct trace_reader *r, const struct trace *t,
                   struct err *err)
{
    const struct job *j = &t->jobs[t->n];
    uint32_t first;
    if (!ids->mapped && !counts_up(j->name, &ids->last)) {
        ids->mapped = true;
        for (uint32_t i = 0; i < t->n; i++)
            map_add(&ids->jobs, t->jobs[i].name, i);
    }
    if (ids->mapped && !map_add(&ids->jobs, j->name, j->id)) {
        map_get(&ids->jobs, j->name, &first);
        return table_fail(&r->table, r->format->id, err, "this id is on line %u already",
                          ids->lines.at[first]);
    }
    VEC_PUSH(&ids->lines, r->table.csv.fields.at[0].line);
    return 0;
}

static int read_jobs(struct trace_reader *r, struct trace *t, struct err *err)
{
    struct id_index ids = {.last = -1};
    int got;
    t->jobs = arena_raw(&t->arena, csv_records_left(&r->table.csv) * sizeof *t->jobs);
    while ((got = table_next(&r->table, err)) > 0) {
        if (read_job(r, t, err) < 0 || note_id(&ids, r, t, err) < 0) {
            got = -1;
            break;
        }
        t->n++;
    }
    map_done(&ids.jobs);
    VEC_DONE(&ids.lines);
    if (got == 0 && t->n == 0)
        return err_set(err, ERR_INVALID, "%s: it has a header but no jobs", r->table.csv.name);
    return got;
}

static void keep_types(struct trace *t, const struct cluster *c)
{
    for (unsigned i = 0; c && i < POOLS_MAX - 1 && c->gpu_types[i]; i++)
        t->gpu_types[i] = arena_strdup(&t->arena, c->gpu_types[i]);
    for (unsigned i = 0; c && i < DEVICES_MAX && c->device_names[i]; i++)
        t->device_names[i] = arena_strdup(&t->arena, c->device_names[i]);
}

static void reader_done(struct trace_reader *r)
{
    profiles_done(&r->profiles);
    pairs_done(&r->pairs);
    map_done(&r->interned);
    map_done(&r->scaling_index);
    map_done(&r->speeds_index);
    map_done(&r->learning_index);
    map_done(&r->sharing_index);
    VEC_DONE(&r->sharings);
    VEC_DONE(&r->learnings);
    VEC_DONE(&r->texts);
    VEC_DONE(&r->scalings);
    VEC_DONE(&r->curves);
    table_done(&r->table);
}

/* Takes over the table. */
static int read_trace(const struct table *table, const struct trace_options *options,
                      struct trace *out, struct err *err)
{
    struct trace t = {0};
    struct trace_reader r = {.table = *table, .options = options, .arena = &t.arena};
    int rc = find_format(&r, err);
    if (rc == 0)
        rc = open_profiles(&r, err);
    if (rc == 0)
        rc = open_pairs(&r, err);
    if (rc == 0)
        rc = read_jobs(&r, &t, err);
    if (rc == 0) {
        pairs_fill(&r.pairs, r.types, r.ntypes, r.arena);
        t.format = r.format->name;
        keep_types(&t, options->cluster);
        *out = t;
    } else {
        trace_done(&t);
    }
    reader_done(&r);
    return rc;
}

int trace_read(const char *path, const struct trace_options *options, struct trace *out,
               struct err *err)
{
    struct table table;
    return table_open(&table, path, err) < 0 ? -1 : read_trace(&table, options, out, err);
}

int trace_parse(const char *name, const char *text, size_t n, const struct trace_options *options,
                struct trace *out, struct err *err)
{
    struct table table;
    if (table_from_text(&table, name, text, n, err) < 0)
        return -1;
    return read_trace(&table, options, out, err);
}

void trace_done(struct trace *t)
{
    arena_done(&t->arena);
    *t = (struct trace){0};
}
