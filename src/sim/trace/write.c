/* Owns the writing of our own CSV. A field is written when it is not what its
 * absence would mean, and a column when some job has such a field, so that a
 * simple trace stays a simple file. */
#include "sim/trace/write.h"

#include <math.h>
#include <string.h>

#include "sim/devices.h"
#include "sim/report/outfile.h"
#include "sim/trace/own.h"
#include "sim/trace/spelling.h"

/* Text as a field, quoted where a reader would take it for something else. */
static void add_text(struct str *s, const char *text)
{
    size_t n = strlen(text);
    bool blank = n && (strchr(" \t", text[0]) || strchr(" \t", text[n - 1]));
    if (!blank && !strpbrk(text, ",\"\r\n")) {
        str_add_n(s, text, n);
        return;
    }
    str_add_n(s, "\"", 1);
    for (const char *p = text; *p; p++)
        str_add_n(s, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    str_add_n(s, "\"", 1);
}

/* Who the job is and what it asks for. */
static void add_request(struct str *s, const struct trace *t, const struct job *j, int column)
{
    static const char *const kinds[] = {"rigid", "moldable", "malleable"};
    bool elastic = j->kind != JOB_RIGID;
    if (column == OWN_ID)
        add_text(s, j->name);
    else if (column == OWN_SUBMIT)
        seconds_print(s, j->submit);
    else if (column == OWN_WORK)
        work_print(s, j->work);
    else if (column == OWN_REQ)
        units_print(s, j->req);
    else if (column == OWN_UNIT && j->pool == POOL_CPU)
        str_add(s, "cpu");
    else if (column == OWN_TYPE && j->pool != POOL_CPU && j->pool != POOL_ANY_GPU)
        add_text(s, t->gpu_types[j->pool - POOL_GPU]);
    else if (column == OWN_MIN && elastic)
        units_print(s, j->min);
    else if (column == OWN_MAX && elastic)
        units_print(s, j->max);
    else if (column == OWN_KIND && elastic)
        str_add(s, kinds[j->kind]);
    else if (column == OWN_DEADLINE_AT && j->deadline != USEC_NEVER)
        seconds_print(s, j->deadline);
}

/* What else there is to say of it. */
static void add_detail(struct str *s, const struct trace *t, const struct job *j, int column)
{
    if (column == OWN_WEIGHT && j->weight != 1)
        number_print(s, j->weight);
    else if (column == OWN_MEMORY && j->memory_mb)
        str_addf(s, "%lld", (long long)j->memory_mb);
    else if (column == OWN_DEVICES)
        devices_print(s, t->device_names, &j->devices);
    else if (column == OWN_CPUS_PER_GPU && j->cpus)
        units_print(s, j->cpus);
    else if (column == OWN_WHOLE && j->whole != (j->pool == POOL_CPU))
        str_add(s, j->whole ? "yes" : "no");
    else if (column == OWN_PREEMPT && (j->can_pause || j->no_preempt))
        str_add(s, j->no_restart ? "freeze" : j->can_pause ? "pause" : "never");
    else if (column == OWN_SPEEDS)
        speeds_print(s, j, t->gpu_types);
    else if (column == OWN_LOSS && j->loss.kind != LOSS_NONE)
        loss_print(s, &j->loss);
    else if (column == OWN_TARGET && !isnan(j->target))
        number_print(s, j->target);
    else if (column == OWN_GROUP && j->group)
        add_text(s, j->group);
}

/* All of a job's costs or none: a job that gives none gets the defaults. */
static void add_cost(struct str *s, const struct job *j, int column)
{
    const struct job_cost *c = &j->cost;
    if (!c->restart && !c->resize && !c->move && !c->checkpoint)
        return;
    if (column == OWN_RESTART)
        seconds_print(s, c->restart);
    else if (column == OWN_RESIZE)
        seconds_print(s, c->resize);
    else if (column == OWN_MOVE)
        seconds_print(s, c->move);
    else if (column == OWN_CHECKPOINT)
        seconds_print(s, c->checkpoint);
}

static void add_field(struct str *s, const struct trace *t, const struct job *j, int column)
{
    if (column <= OWN_DEADLINE_AT)
        add_request(s, t, j, column);
    else if (column >= OWN_RESTART && column <= OWN_CHECKPOINT)
        add_cost(s, j, column);
    else
        add_detail(s, t, j, column);
}

static bool is_used(const struct trace *t, int column)
{
    struct str field = {0};
    for (uint32_t i = 0; i < t->n && field.n == 0; i++)
        add_field(&field, t, &t->jobs[i], column);
    bool used = field.n > 0;
    str_done(&field);
    return used;
}

static void write_lines(const struct trace *t, FILE *to)
{
    int columns[OWN_COLUMNS], n = 0;
    struct str line = {0};
    for (int i = 0; i < OWN_COLUMNS; i++)
        if (is_used(t, i)) {
            str_addf(&line, "%s%s", n ? "," : "", own_columns[i].name);
            columns[n++] = i;
        }
    for (uint32_t i = 0; i < t->n; i++) {
        str_add_n(&line, "\n", 1);
        for (int k = 0; k < n; k++) {
            if (k)
                str_add_n(&line, ",", 1);
            add_field(&line, t, &t->jobs[i], columns[k]);
        }
        fwrite(line.at, 1, line.n, to);
        line.n = 0;
    }
    fputc('\n', to);
    str_done(&line);
}

int trace_write(const struct trace *t, const char *path, struct err *err)
{
    struct outfile f;
    if (outfile_open(&f, path, err) < 0)
        return -1;
    write_lines(t, f.stream);
    return outfile_commit(&f, err);
}
