/* Owns the job's own pattern. It is the user's text run over the job's output, so
 * that neither can be trusted: every match has a limit of work, stack and memory,
 * and a pattern that keeps running into them is given up. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "progress/pattern.h"

#include <math.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "progress/number.h"

#define PATTERN_BYTES 1024
/* About a millisecond on a line of 4 KiB. */
#define MATCH_STEPS 50000
#define MATCH_DEPTH 500
#define MATCH_KIB 256
#define NESTED 50
/* Lines that may run into the limits. */
#define COSTLY_LINES 16

struct group {
    int number;
    char name[PROGRESS_NAME];
};

struct progress_pattern {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    unsigned costly;
    unsigned n;
    struct group group[PROGRESS_METRICS];
};

void progress_pattern_free(struct progress_pattern *p)
{
    if (!p)
        return;
    pcre2_match_context_free(p->context);
    pcre2_match_data_free(p->data);
    pcre2_code_free(p->code);
    free(p);
}

static void free_pattern(struct progress_pattern **p)
{
    progress_pattern_free(*p);
}

static void free_context(pcre2_compile_context **c)
{
    pcre2_compile_context_free(*c);
}

static bool is_field(const char *name)
{
    static const char *const fields[] = {"step", "total", "epoch", "epochs", "loss", "rate"};
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        if (!strcmp(name, fields[i]))
            return true;
    }
    return false;
}

/* The names of the groups, from pcre2's table of them. */
static int read_groups(struct progress_pattern *p, struct err *err)
{
    uint32_t count = 0, size = 0;
    PCRE2_SPTR table = NULL;
    pcre2_pattern_info(p->code, PCRE2_INFO_NAMECOUNT, &count);
    pcre2_pattern_info(p->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
    pcre2_pattern_info(p->code, PCRE2_INFO_NAMETABLE, &table);
    bool field = false;
    for (uint32_t i = 0; i < count; i++, table += size) {
        const char *name = (const char *)table + 2;
        if (p->n == COUNT_OF(p->group))
            return err_set(err, ERR_INVALID, "progress pattern: more than %zu named groups",
                           COUNT_OF(p->group));
        struct group *g = &p->group[p->n++];
        g->number = table[0] << 8 | table[1];
        strncpy(g->name, name, sizeof g->name - 1);
        field = field || is_field(name);
    }
    if (!field)
        return err_set(err, ERR_INVALID,
                       "progress pattern: no group named step, total, epoch, epochs, loss or rate; "
                       "write for example 'step (?<step>\\d+) of (?<total>\\d+)'");
    return 0;
}

static int compile(struct progress_pattern *p, const char *text, struct err *err)
{
    __attribute__((cleanup(free_context))) pcre2_compile_context *context =
        pcre2_compile_context_create(NULL);
    if (!context)
        return err_set(err, ERR_INTERNAL, "progress pattern: no memory");
    pcre2_set_parens_nest_limit(context, NESTED);
    int code;
    PCRE2_SIZE offset;
    p->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                            PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C, &code,
                            &offset, context);
    if (p->code)
        return 0;
    char why[128];
    pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
    return err_set(err, ERR_INVALID, "progress pattern: %s at offset %zu of '%s'", why,
                   (size_t)offset, text);
}

int progress_pattern_create(const char *text, struct progress_pattern **out, struct err *err)
{
    if (!*text)
        return err_set(err, ERR_INVALID, "progress pattern: it is empty");
    if (strlen(text) > PATTERN_BYTES)
        return err_set(err, ERR_INVALID, "progress pattern: %zu bytes; at most %d are allowed",
                       strlen(text), PATTERN_BYTES);
    __attribute__((cleanup(free_pattern))) struct progress_pattern *p = xcalloc(1, sizeof *p);
    if (compile(p, text, err) < 0 || read_groups(p, err) < 0)
        return -1;
    p->data = pcre2_match_data_create_from_pattern(p->code, NULL);
    p->context = pcre2_match_context_create(NULL);
    if (!p->data || !p->context)
        return err_set(err, ERR_INTERNAL, "progress pattern: no memory");
    pcre2_set_match_limit(p->context, MATCH_STEPS);
    pcre2_set_depth_limit(p->context, MATCH_DEPTH);
    pcre2_set_heap_limit(p->context, MATCH_KIB);
    *out = TAKE(p);
    return 0;
}

int progress_pattern_check(const char *pattern, struct err *err)
{
    struct progress_pattern *p;
    if (progress_pattern_create(pattern, &p, err) < 0)
        return -1;
    progress_pattern_free(p);
    return 0;
}

static bool as_whole(double value, int64_t *out)
{
    if (!(value >= 0 && value <= 1e15))
        return false;
    *out = (int64_t)value;
    return true;
}

static void add_group(struct sighting *s, const char *name, double value)
{
    int64_t whole;
    if (!strcmp(name, "step")) {
        if (as_whole(value, &whole)) {
            s->at = whole;
            s->has |= SIGHTING_AT;
        }
    } else if (!strcmp(name, "total")) {
        if (as_whole(value, &whole) && whole) {
            s->total = whole;
            s->has |= SIGHTING_TOTAL;
        }
    } else if (!strcmp(name, "epoch")) {
        s->epoch = value;
        s->has |= value >= 0 && isfinite(value) ? SIGHTING_EPOCH : 0;
    } else if (!strcmp(name, "epochs")) {
        if (as_whole(value, &whole) && whole) {
            s->epochs = whole;
            s->has |= SIGHTING_EPOCHS;
        }
    } else if (!strcmp(name, "rate")) {
        s->rate = value;
        s->has |= value >= 0 && isfinite(value) ? SIGHTING_RATE : 0;
    } else if (!strcmp(name, "loss")) {
        s->loss = value;
        s->loss_rank = PROGRESS_LOSS_WHOLE;
    } else {
        struct progress_name metric = {.kind = PROGRESS_WORD_METRIC};
        strncpy(metric.text, name, sizeof metric.text - 1);
        sighting_add(s, &metric, value, true);
    }
}

/* A pattern that finds epochs but no steps counts in epochs. */
static void count_in_epochs(struct sighting *s)
{
    if ((s->has & SIGHTING_AT) || !(s->has & SIGHTING_EPOCH))
        return;
    s->at = (int64_t)fmin(s->epoch, 1e15);
    s->has |= SIGHTING_AT;
    if (!(s->has & SIGHTING_TOTAL) && (s->has & SIGHTING_EPOCHS)) {
        s->total = s->epochs;
        s->has |= SIGHTING_TOTAL;
    }
}

bool progress_pattern_read(struct progress_pattern *p, const char *line, size_t n,
                           struct sighting *s)
{
    if (progress_pattern_given_up(p))
        return false;
    int rc = pcre2_match(p->code, (PCRE2_SPTR)line, n, 0, 0, p->data, p->context);
    if (rc == PCRE2_ERROR_MATCHLIMIT || rc == PCRE2_ERROR_DEPTHLIMIT || rc == PCRE2_ERROR_HEAPLIMIT)
        p->costly++;
    if (rc < 0)
        return false;
    sighting_init(s, "pattern");
    s->trust = TRUST_SAID;
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(p->data);
    for (unsigned i = 0; i < p->n; i++) {
        PCRE2_SIZE begin = at[2 * p->group[i].number], end = at[2 * p->group[i].number + 1];
        double value;
        if (begin == PCRE2_UNSET || end <= begin ||
            !progress_number_read(line + begin, end - begin, &value))
            continue;
        add_group(s, p->group[i].name, value);
    }
    count_in_epochs(s);
    return s->has || sighting_has_metric(s);
}

bool progress_pattern_given_up(const struct progress_pattern *p)
{
    return p->costly >= COSTLY_LINES;
}
