/* Owns the table for people. The seconds of a column share one number of
 * decimals, so that digits of the same weight stand above each other; what is
 * best is decided on the text that is printed, so that two equal texts are
 * never told apart. */
#include "sim/report/result_text.h"

#include <math.h>
#include <stddef.h>

#include "base/str.h"
#include "sim/report/figure.h"

enum { TABLE_WIDTH = 120, NAME_MOST = 40, NAME_LEAST = 10, COLUMNS = 16, NAMES_SHOWN = 5 };

/* Of a share more is better, of a rate less. */
enum figure_kind {
    FIGURE_SECONDS,
    FIGURE_COUNT,
    FIGURE_SHARE,
    FIGURE_RATE,
    FIGURE_RATIO,
    FIGURE_MET
};

static const struct column {
    const char *heading;
    enum figure_kind kind;
    size_t offset; /* of the figure in struct sim_result */
} columns[COLUMNS] = {
    {"mean JCT", FIGURE_SECONDS, offsetof(struct sim_result, mean_jct_s)},
    {"median", FIGURE_SECONDS, offsetof(struct sim_result, median_jct_s)},
    {"p95", FIGURE_SECONDS, offsetof(struct sim_result, p95_jct_s)},
    {"p99", FIGURE_SECONDS, offsetof(struct sim_result, p99_jct_s)},
    {"wait", FIGURE_SECONDS, offsetof(struct sim_result, mean_wait_s)},
    {"makespan", FIGURE_SECONDS, offsetof(struct sim_result, makespan_s)},
    {"met", FIGURE_MET, offsetof(struct sim_result, deadline_met)},
    {"worst", FIGURE_RATIO, offsetof(struct sim_result, worst_fairness)},
    {"unfair", FIGURE_RATE, offsetof(struct sim_result, unfair)},
    {"used", FIGURE_SHARE, offsetof(struct sim_result, utilization)},
    {"busy", FIGURE_SHARE, offsetof(struct sim_result, allocated_used)}, /* where not all are */
    {"Wh", FIGURE_SECONDS, offsetof(struct sim_result, energy_wh)},      /* where it is known */
    {"preempt", FIGURE_COUNT, offsetof(struct sim_result, preemptions)},
    {"resize", FIGURE_COUNT, offsetof(struct sim_result, resizes)},
    {"move", FIGURE_COUNT, offsetof(struct sim_result, migrations)},
    {"fail", FIGURE_COUNT, offsetof(struct sim_result, failures)}, /* where any did */
};

struct cell {
    char text[32];
    bool best;
};

struct table {
    const struct sim_result *r;
    uint32_t n;
    bool colour, marked;              /* marked: something is the best of its column */
    unsigned shown[COLUMNS], columns; /* indexes of those that are shown */
    struct cell *cells;               /* COLUMNS to a row */
    int width[COLUMNS], name_width;
};

/* NAN where the figure does not apply. */
static double figure_of(const struct column *c, const struct sim_result *r)
{
    const char *at = (const char *)r + c->offset;
    switch (c->kind) {
    case FIGURE_SECONDS:
    case FIGURE_SHARE:
    case FIGURE_RATE:
    case FIGURE_RATIO:
        return *(const double *)(const void *)at;
    case FIGURE_COUNT:
        return (double)*(const uint64_t *)(const void *)at;
    case FIGURE_MET:
        return r->deadline_jobs ? (double)r->deadline_met : NAN;
    }
    return NAN;
}

/* Counts that would widen the table are rounded: 123,456 becomes 123k. */
static void spell_count(struct str *s, double v)
{
    if (v < 1e5)
        figure_add_grouped(s, v, 0);
    else if (v < 1e6)
        str_addf(s, "%.0fk", floor(v / 1e3));
    else
        figure_add_grouped(s, v / 1e6, v < 1e8 ? 1 : 0), str_add(s, "M");
}

static void spell_cell(const struct column *c, const struct sim_result *r, unsigned decimals,
                       struct cell *cell)
{
    double v = figure_of(c, r);
    struct str s = {0};
    if (!isfinite(v))
        str_add(&s, "-");
    else if (c->kind == FIGURE_SECONDS)
        figure_add_grouped(&s, v, decimals);
    else if (c->kind == FIGURE_COUNT)
        spell_count(&s, v);
    else if (c->kind == FIGURE_SHARE || c->kind == FIGURE_RATE)
        figure_add_grouped(&s, v * 100, 1), str_add(&s, "%");
    else if (c->kind == FIGURE_RATIO)
        figure_add_grouped(&s, v, v < 100 ? 2 : 0);
    else
        str_addf(&s, "%u/%u", r->deadline_met, r->deadline_jobs);
    snprintf(cell->text, sizeof cell->text, "%s", s.at);
    str_done(&s);
}

static unsigned column_decimals(const struct column *c, const struct table *t)
{
    double largest = 0;
    for (uint32_t i = 0; i < t->n; i++)
        largest = fmax(largest, figure_of(c, &t->r[i]));
    return largest < 100 ? 2 : largest < 1e5 ? 1 : 0;
}

/* Marks the best; nothing when all are the same. */
static void mark_best(struct table *t, unsigned column)
{
    const struct column *c = &columns[column];
    bool more = c->kind == FIGURE_SHARE || c->kind == FIGURE_MET, differ = false;
    uint32_t best = 0;
    for (uint32_t i = 1; i < t->n; i++) {
        double v = figure_of(c, &t->r[i]), w = figure_of(c, &t->r[best]);
        if (isfinite(v) && (!isfinite(w) || (more ? v > w : v < w)))
            best = i;
    }
    const char *text = t->cells[best * COLUMNS + column].text;
    for (uint32_t i = 0; i < t->n; i++)
        differ = differ || strcmp(t->cells[i * COLUMNS + column].text, text) != 0;
    t->marked = t->marked || differ;
    for (uint32_t i = 0; differ && i < t->n; i++)
        t->cells[i * COLUMNS + column].best = !strcmp(t->cells[i * COLUMNS + column].text, text);
}

static void fill_column(struct table *t, unsigned column)
{
    const struct column *c = &columns[column];
    unsigned decimals = column_decimals(c, t);
    t->width[column] = (int)strlen(c->heading);
    for (uint32_t i = 0; i < t->n; i++) {
        struct cell *cell = &t->cells[i * COLUMNS + column];
        spell_cell(c, &t->r[i], decimals, cell);
        int width = (int)strlen(cell->text);
        t->width[column] = width > t->width[column] ? width : t->width[column];
    }
    mark_best(t, column);
}

/* What the figures leave of the width. */
static int rest_of_width(const struct table *t)
{
    int rest = TABLE_WIDTH;
    for (unsigned c = 0; c < t->columns; c++)
        rest -= t->width[t->shown[c]] + 2;
    return rest;
}

static bool is_shown(const struct table *t, size_t offset)
{
    for (unsigned c = 0; c < t->columns; c++)
        if (columns[t->shown[c]].offset == offset)
            return true;
    return false;
}

static void hide_column(struct table *t, size_t offset)
{
    unsigned kept = 0;
    for (unsigned c = 0; c < t->columns; c++)
        if (columns[t->shown[c]].offset != offset)
            t->shown[kept++] = t->shown[c];
    t->columns = kept;
}

/* A combination without the words for its axes, "las,best-fit,hard". */
static void short_name(const char *name, struct str *out)
{
    static const char *const words[] = {"allocate=", "place=", "share="};
    for (const char *p = name; *p;) {
        size_t skip = 0;
        for (size_t i = 0; i < COUNT_OF(words) && (p == name || p[-1] == ','); i++)
            if (!strncmp(p, words[i], strlen(words[i])))
                skip = strlen(words[i]);
        p += skip;
        if (!skip)
            str_add_n(out, p++, 1);
    }
}

/* The width that tells all names apart. */
static int least_names(const struct table *t)
{
    int longest = NAME_LEAST;
    for (uint32_t i = 0; i < t->n; i++) {
        struct str brief = {0};
        short_name(t->r[i].policy, &brief);
        longest = (int)brief.n > longest ? (int)brief.n : longest;
        str_done(&brief);
    }
    return longest < NAME_MOST ? longest : NAME_MOST;
}

/* Where not all columns fit beside the names, those about fairness are left out. */
static void fit_columns(struct table *t)
{
    static const size_t spare[] = {offsetof(struct sim_result, unfair),
                                   offsetof(struct sim_result, worst_fairness)};
    for (size_t i = 0; i < COUNT_OF(spare) && rest_of_width(t) < least_names(t); i++)
        hide_column(t, spare[i]);
}

/* The names get what the figures leave. */
static void size_names(struct table *t)
{
    int rest = rest_of_width(t), longest = (int)strlen("policy");
    for (uint32_t i = 0; i < t->n; i++) {
        int width = (int)strlen(t->r[i].policy);
        longest = width > longest ? width : longest;
    }
    int most = rest < NAME_MOST ? rest : NAME_MOST;
    most = most < NAME_LEAST ? NAME_LEAST : most;
    t->name_width = longest < most ? longest : most;
}

/* A name that is too long is shortened, and if that is not enough loses its middle:
 * variants of one policy differ at the end. */
static void print_name(const char *name, int width, FILE *out)
{
    struct str brief = {0};
    if ((int)strlen(name) > width)
        short_name(name, &brief);
    const char *text = brief.at ? brief.at : name;
    int length = (int)strlen(text), tail = (width - 1) / 2, head = width - 1 - tail;
    if (length <= width)
        fprintf(out, "%-*s", width, text);
    else
        fprintf(out, "%.*s…%s", head, text, text + length - tail);
    str_done(&brief);
}

static void print_row(const struct table *t, uint32_t row, FILE *out)
{
    print_name(t->r[row].policy, t->name_width, out);
    for (unsigned c = 0; c < t->columns; c++) {
        unsigned column = t->shown[c];
        const struct cell *cell = &t->cells[row * COLUMNS + column];
        bool bright = cell->best && t->colour;
        fprintf(out, " %*s", t->width[column] - (int)strlen(cell->text), "");
        fprintf(out, "%s%s%s%s", bright ? "\033[1;32m" : "", cell->text, cell->best ? "*" : "",
                bright ? "\033[0m" : "");
        if (!cell->best && c + 1 < t->columns)
            fputc(' ', out);
    }
    fputc('\n', out);
}

static void print_head(const struct table *t, FILE *out)
{
    fprintf(out, "%s%-*s", t->colour ? "\033[1m" : "", t->name_width, "policy");
    for (unsigned c = 0; c < t->columns; c++)
        fprintf(out, " %*s%s", t->width[t->shown[c]], columns[t->shown[c]].heading,
                c + 1 < t->columns ? " " : "");
    fprintf(out, "%s\n", t->colour ? "\033[0m" : "");
}

/* Whether a character of UTF-8 that begins with this byte would steer a terminal. */
static bool steers(const unsigned char *p)
{
    return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

uint32_t result_print_name(const char *name, uint32_t most, FILE *out)
{
    struct str valid = {0};
    uint32_t shown = 0;
    str_add_utf8(&valid, name ? name : "?");
    for (const char *p = valid.at ? valid.at : ""; *p && shown < most; shown++) {
        const char *end = p + 1;
        while (((unsigned char)*end & 0xc0) == 0x80)
            end++;
        if (steers((const unsigned char *)p))
            fputc('?', out);
        else
            fwrite(p, 1, (size_t)(end - p), out);
        p = end;
    }
    str_done(&valid);
    return shown;
}

static void print_jobs(const struct sim_result *r, enum sim_outcome outcome, FILE *out)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < r->jobs && shown < NAMES_SHOWN; i++) {
        if (r->job[i].outcome != outcome)
            continue;
        fputs(shown++ ? ", " : ": ", out);
        result_print_name(r->job[i].job->name, UINT32_MAX, out);
    }
    uint32_t all = outcome == SIM_NEVER ? r->never : r->unfinished;
    fputs(all > shown ? ", ..." : "", out);
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static const char *why_stopped(enum sim_stop stop)
{
    if (stop == STOP_FAILURES)
        return "nodes failed too often for any of them to end";
    return "the policy starts none of them, or their end is centuries away";
}

static void print_legend(const struct table *t, FILE *out)
{
    fputs("Times are in seconds. JCT: from submission to end, of finished jobs.", out);
    fputs(t->marked ? " * best of its column.\n" : "\n", out);
    if (is_shown(t, offsetof(struct sim_result, worst_fairness)))
        fputs("worst: largest JCT over that with an equal share of the cluster.", out);
    if (is_shown(t, offsetof(struct sim_result, unfair)))
        fputs(" unfair: jobs for which this is above 1.1.", out);
    if (is_shown(t, offsetof(struct sim_result, worst_fairness)))
        fputc('\n', out);
}

static void print_notes(const struct table *t, FILE *out)
{
    print_legend(t, out);
    /* What the cluster cannot hold it cannot under any policy. */
    if (t->n && t->r[0].never) {
        fprintf(out, "%u job%s can never run on this cluster", t->r[0].never,
                plural(t->r[0].never));
        print_jobs(&t->r[0], SIM_NEVER, out);
        fprintf(out, "%s%s\n", t->r[0].never > 1 ? "; the first " : "; it ", t->r[0].never_why);
    }
    for (uint32_t i = 0; i < t->n; i++)
        if (t->r[i].unfinished) {
            fprintf(out, "%s: %u job%s unfinished", t->r[i].policy, t->r[i].unfinished,
                    plural(t->r[i].unfinished));
            print_jobs(&t->r[i], SIM_UNFINISHED, out);
            fprintf(out, "; %s\n", why_stopped(t->r[i].stop));
        }
}

/* Whether a column that most traces have no use for says anything about this result. */
static bool is_telling(unsigned column, const struct sim_result *r)
{
    size_t offset = columns[column].offset;
    if (offset == offsetof(struct sim_result, allocated_used))
        return r->allocated_used < 0.9995;
    if (offset == offsetof(struct sim_result, energy_wh))
        return isfinite(r->energy_wh);
    return offset != offsetof(struct sim_result, failures) || r->failures > 0;
}

static void choose_columns(struct table *t)
{
    for (unsigned c = 0; c < COLUMNS; c++) {
        bool telling = false;
        for (uint32_t i = 0; i < t->n; i++)
            telling = telling || is_telling(c, &t->r[i]);
        if (telling)
            t->shown[t->columns++] = c;
    }
}

void result_table(const struct sim_result *r, uint32_t n, bool colour, FILE *out)
{
    AUTO_FREE struct cell *cells = xcalloc((size_t)n * COLUMNS, sizeof *cells);
    struct table t = {.r = r, .n = n, .colour = colour, .cells = cells};
    choose_columns(&t);
    for (unsigned c = 0; c < t.columns; c++)
        fill_column(&t, t.shown[c]);
    fit_columns(&t);
    size_names(&t);
    print_head(&t, out);
    for (uint32_t i = 0; i < n; i++)
        print_row(&t, i, out);
    print_notes(&t, out);
}
