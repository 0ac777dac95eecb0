/* Owns the fields of a job request: their names, their spelling, their
 * defaults, and what contradicts what. */
#include "wire/spec.h"

#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "base/str.h"

static const char resize_choices[] = "auto|none|live|restart|torchrun|horovod";
static const char preempt_choices[] = "restart|pause|never";

const struct spec_field spec_fields[] = {
    {"name", 'n', SPEC_TEXT, "NAME", "a name for people (default: the command's)"},
    {"command", 0, SPEC_LIST, "WORDS", "what to run (on the command line: behind --)"},
    {"cpus", 'c', SPEC_UNITS, "MIN-MAX", "CPUs it can run on, as 2, 1-4 or 0.5-2 (default 1)"},
    {"gpus", 'g', SPEC_UNITS, "MIN-MAX", "GPUs it can run on, as 1 or 1-4 (default none)"},
    {"gpu_type", 0, SPEC_TEXT, "TYPE", "only GPUs of this type"},
    {"memory", 'm', SPEC_MEMORY, "SIZE", "memory limit, as 512m or 4g (default none)"},
    {"workers", 'w', SPEC_COUNT, "MIN-MAX", "worker processes of an elastic launcher (default 1)"},
    {"resize", 0, SPEC_CHOICE, resize_choices, "how it changes its size (default auto)"},
    {"preempt", 0, SPEC_CHOICE, preempt_choices, "how it makes room for others (default restart)"},
    {"deadline", 'd', SPEC_DURATION, "TIME", "it shall end within this time of its submission"},
    {"deadline_at", 0, SPEC_NUMBER, "UNIX", "it shall end at this time (seconds since 1970)"},
    {"time_limit", 't', SPEC_DURATION, "TIME", "it is stopped after running this long"},
    {"signal", 0, SPEC_SIGNAL, "SIG@SECONDS", "sent this long before the time limit"},
    {"checkpoint_signal", 0, SPEC_SIGNAL, "SIG", "asks it to save itself (default TERM)"},
    {"grace", 0, SPEC_DURATION, "TIME", "time between asking it to stop and killing it (default 60s)"},
    {"priority", 'p', SPEC_NUMBER, "N", "a higher one goes first (default 0)"},
    {"weight", 0, SPEC_NUMBER, "N", "its share in policies that weigh jobs (default 1)"},
    {"target", 0, SPEC_NUMBER, "VALUE", "metric at which you are content"},
    {"total", 0, SPEC_NUMBER, "STEPS", "training steps in all, when its output does not say"},
    {"pattern", 0, SPEC_TEXT, "REGEX", "progress in its output: (?<step>..) (?<total>..) (?<loss>..)"},
    {"retries", 0, SPEC_NUMBER, "N", "start it again this often when it fails (default 0)"},
    {"backoff", 0, SPEC_DURATION, "TIME", "wait this long before, doubling (default 10s)"},
    {"requeue", 0, SPEC_FLAG, NULL, "start it again when its node or conductor is lost"},
    {"after", 'a', SPEC_DEPS, "KIND:JOBS", "after:, afterok:, afternotok:, afterany:12,13 or singleton"},
    {"array", 0, SPEC_ARRAY, "INDICES", "one job per index, as 0-9, 1,3,5 or 0-99%4 (4 at once)"},
    {"hold", 'H', SPEC_FLAG, NULL, "wait until it is released"},
    {"workdir", 0, SPEC_TEXT, "DIR", "where it runs (default: here)"},
    {"env", 'e', SPEC_MAP, "KEY=VALUE", "environment variables"},
    {"checkpoint_dir", 0, SPEC_TEXT, "DIR", "where it saves itself: TRAINYARD_CHECKPOINT_DIR"},
    {"image", 'i', SPEC_TEXT, "IMAGE", "container image (default: a process on the node)"},
    {"mounts", 0, SPEC_LIST, "SRC:DST[:ro]", "directories to mount into the container"},
    {"user", 0, SPEC_TEXT, "USER", "whose job it is (default: yours)"},
    {0},
};

enum field {
    NAME, COMMAND, CPUS, GPUS, GPU_TYPE, MEMORY, WORKERS, RESIZE, PREEMPT, DEADLINE, DEADLINE_AT,
    TIME_LIMIT, SIGNAL, CHECKPOINT_SIGNAL, GRACE, PRIORITY, WEIGHT, TARGET, TOTAL, PATTERN, RETRIES,
    BACKOFF, REQUEUE, AFTER, ARRAY, HOLD, WORKDIR, ENV, CHECKPOINT_DIR, IMAGE, MOUNTS, USER, FIELDS
};

/* Where a field lives, for those that are one value of a plain type. */
static const char **text_of(struct spec *s, enum field f)
{
    switch (f) {
    case NAME:
        return &s->name;
    case GPU_TYPE:
        return &s->gpu_type;
    case PATTERN:
        return &s->pattern;
    case WORKDIR:
        return &s->workdir;
    case CHECKPOINT_DIR:
        return &s->checkpoint_dir;
    case IMAGE:
        return &s->image;
    default:
        return &s->user;
    }
}

static usec_t *duration_of(struct spec *s, enum field f)
{
    return f == DEADLINE     ? &s->deadline
           : f == TIME_LIMIT ? &s->time_limit
           : f == GRACE      ? &s->grace
                             : &s->backoff;
}

static struct spec_list *list_of(struct spec *s, enum field f)
{
    return f == COMMAND ? &s->command : f == ENV ? &s->env : &s->mounts;
}

void spec_init(struct spec *s)
{
    *s = (struct spec){
        .cpus_min = UNIT,
        .cpus_max = UNIT,
        .workers_min = 1,
        .workers_max = 1,
        .checkpoint_signal = SIGTERM,
        .grace = 60 * USEC_PER_SEC,
        .weight = 1,
        .target = NAN,
        .backoff = 10 * USEC_PER_SEC,
    };
}

void spec_done(struct spec *s)
{
    arena_done(&s->arena);
}

static const char *field_name(const void *ctx, size_t i)
{
    (void)ctx;
    return spec_fields[i].name;
}

const struct spec_field *spec_find(const char *name, struct err *err)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (!strcmp(spec_fields[i].name, name))
            return &spec_fields[i];
    const char *near = str_nearest(name, FIELDS, field_name, NULL);
    if (near)
        err_set(err, ERR_INVALID, "unknown field '%s'; did you mean '%s'?", name, near);
    else
        err_set(err, ERR_INVALID, "unknown field '%s'", name);
    return NULL;
}

/* "2" or "1-4"; thousandths for units. */
static int parse_span(const char *text, double scale, double lo, double hi, double *min,
                      double *max, struct err *err)
{
    char low[32], high[32];
    const char *dash = strchr(text, '-');
    size_t n = dash ? (size_t)(dash - text) : strlen(text);
    if (n == 0 || n >= sizeof low || (dash && strlen(dash + 1) >= sizeof high))
        return err_set(err, ERR_INVALID, "'%s': expected a number or MIN-MAX", text);
    snprintf(low, sizeof low, "%.*s", (int)n, text);
    snprintf(high, sizeof high, "%s", dash ? dash + 1 : low);
    double a, b;
    if (str_parse_double(low, lo, hi, &a, err) < 0 || str_parse_double(high, lo, hi, &b, err) < 0)
        return -1;
    if (a > b)
        return err_set(err, ERR_INVALID, "'%s': the minimum is above the maximum", text);
    *min = round(a * scale);
    *max = round(b * scale);
    return 0;
}

static int set_units(struct spec *s, enum field f, const char *text, struct err *err)
{
    double min, max;
    bool cpus = f == CPUS;
    if (parse_span(text, UNIT, cpus ? 0.001 : 0, 65536, &min, &max, err) < 0)
        return -1;
    if (!cpus && (fmod(min, UNIT) != 0 || fmod(max, UNIT) != 0))
        return err_set(err, ERR_INVALID, "'%s': GPUs come whole", text);
    *(cpus ? &s->cpus_min : &s->gpus_min) = (units_t)min;
    *(cpus ? &s->cpus_max : &s->gpus_max) = (units_t)max;
    return 0;
}

static int set_count(struct spec *s, const char *text, struct err *err)
{
    double min, max;
    if (parse_span(text, 1, 1, 65536, &min, &max, err) < 0)
        return -1;
    s->workers_min = (uint32_t)min;
    s->workers_max = (uint32_t)max;
    return 0;
}

static int set_memory(struct spec *s, const char *text, struct err *err)
{
    char number[32];
    size_t n = strlen(text);
    double scale = 1, value;
    if (n && n < sizeof number && isalpha((unsigned char)text[n - 1])) {
        const char *unit = strchr("kmgt", tolower((unsigned char)text[n - 1]));
        if (!unit)
            return err_set(err, ERR_INVALID, "'%s' is not a size; write 512m or 4g", text);
        static const double scales[] = {1.0 / 1024, 1, 1024, 1024 * 1024};
        scale = scales[strchr("kmgt", *unit) - "kmgt"];
        n--;
    }
    if (n == 0 || n >= sizeof number)
        return err_set(err, ERR_INVALID, "'%s' is not a size; write 512m or 4g", text);
    snprintf(number, sizeof number, "%.*s", (int)n, text);
    if (str_parse_double(number, 0, 1e9, &value, err) < 0)
        return -1;
    s->memory_mb = (int64_t)ceil(value * scale);
    return 0;
}

static int parse_choice(const char *choices, const char *text, int *out, struct err *err)
{
    int index = 0;
    for (const char *p = choices; *p; index++) {
        size_t n = strcspn(p, "|");
        if (strlen(text) == n && !strncmp(p, text, n)) {
            *out = index;
            return 0;
        }
        p += n + (p[n] == '|');
    }
    return err_set(err, ERR_INVALID, "'%s': expected one of %s", text, choices);
}

static int set_choice(struct spec *s, enum field f, const char *text, struct err *err)
{
    int index;
    if (parse_choice(f == RESIZE ? resize_choices : preempt_choices, text, &index, err) < 0)
        return -1;
    if (f == RESIZE)
        s->resize = (enum spec_resize)index;
    else
        s->preempt = (enum spec_preempt)index;
    return 0;
}

static int set_number(struct spec *s, enum field f, const char *text, struct err *err)
{
    double v;
    int64_t n;
    switch (f) {
    case PRIORITY:
        if (str_parse_int(text, -1000000, 1000000, &n, err) < 0)
            return -1;
        s->priority = (int32_t)n;
        return 0;
    case RETRIES:
        if (str_parse_int(text, 0, 1000, &n, err) < 0)
            return -1;
        s->retries = (uint32_t)n;
        return 0;
    case WEIGHT:
        return str_parse_double(text, 0.001, 1000, &s->weight, err);
    case TARGET:
        return str_parse_double(text, -1e300, 1e300, &s->target, err);
    case TOTAL:
        return str_parse_double(text, 0, 1e15, &s->total, err);
    default:
        if (str_parse_double(text, 0, 1e11, &v, err) < 0)
            return -1;
        return time_from_seconds(v, &s->deadline_at);
    }
}

static int set_flag(struct spec *s, enum field f, const char *text, struct err *err)
{
    bool yes = !*text || !strcmp(text, "true") || !strcmp(text, "yes") || !strcmp(text, "1");
    bool no = !strcmp(text, "false") || !strcmp(text, "no") || !strcmp(text, "0");
    if (!yes && !no)
        return err_set(err, ERR_INVALID, "'%s': expected true or false", text);
    *(f == HOLD ? &s->hold : &s->requeue) = yes;
    return 0;
}

static int set_signal(struct spec *s, enum field f, const char *text, struct err *err)
{
    char name[16];
    size_t n = strcspn(text, "@");
    if (n >= sizeof name)
        return err_set(err, ERR_INVALID, "'%s' is not a signal", text);
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    int number = spec_signal_number(name, err);
    if (!number)
        return -1;
    if (f == CHECKPOINT_SIGNAL) {
        if (text[n])
            return err_set(err, ERR_INVALID, "'%s': expected a signal only", text);
        s->checkpoint_signal = number;
        return 0;
    }
    usec_t before = 60 * USEC_PER_SEC;
    if (text[n] && time_parse(text + n + 1, &before, err) < 0)
        return -1;
    s->signal = number;
    s->signal_before = before;
    return 0;
}

static void list_push(struct spec *s, struct spec_list *list, const char *text)
{
    if ((list->n & (list->n - 1)) == 0) { /* full: a power of two, or none yet */
        const char **more = arena_raw(&s->arena, (list->n ? list->n * 2 : 1) * sizeof *more);
        if (list->n)
            memcpy(more, list->at, list->n * sizeof *more);
        list->at = more;
    }
    list->at[list->n++] = arena_strdup(&s->arena, text);
}

static int add_map(struct spec *s, const char *text, struct err *err)
{
    size_t n = strcspn(text, "=");
    if (n == 0 || !text[n])
        return err_set(err, ERR_INVALID, "'%s': expected KEY=VALUE", text);
    for (uint32_t i = 0; i < s->env.n; i++)
        if (!strncmp(s->env.at[i], text, n + 1)) {
            s->env.at[i] = arena_strdup(&s->arena, text);
            return 0;
        }
    list_push(s, &s->env, text);
    return 0;
}

static const char *const dep_names[] = {"after", "afterok", "afternotok", "afterany", "singleton"};

static void dep_push(struct spec *s, enum spec_dep_kind kind, const char *job, size_t n)
{
    struct spec_dep *more = arena_raw(&s->arena, (s->deps.n + 1) * sizeof *more);
    if (s->deps.n)
        memcpy(more, s->deps.at, s->deps.n * sizeof *more);
    more[s->deps.n++] =
        (struct spec_dep){kind, job ? arena_strndup(&s->arena, job, n) : NULL};
    s->deps.at = more;
}

static int add_deps(struct spec *s, const char *text, struct err *err)
{
    size_t n = strcspn(text, ":");
    for (int kind = SPEC_AFTER; kind <= SPEC_SINGLETON; kind++) {
        if (strlen(dep_names[kind]) != n || strncmp(dep_names[kind], text, n) != 0)
            continue;
        if (kind == SPEC_SINGLETON) {
            if (text[n])
                return err_set(err, ERR_INVALID, "'%s': singleton names no job", text);
            dep_push(s, SPEC_SINGLETON, NULL, 0);
            return 0;
        }
        const char *p = text + n;
        do {
            size_t length = strcspn(++p, ",:");
            if (length == 0)
                return err_set(err, ERR_INVALID, "'%s': expected %s:JOB[,JOB]", text,
                               dep_names[kind]);
            dep_push(s, (enum spec_dep_kind)kind, p, length);
            p += length;
        } while (*p);
        return 0;
    }
    return err_set(err, ERR_INVALID,
                   "'%s': expected after:, afterok:, afternotok:, afterany: with jobs, or singleton",
                   text);
}

/* "3", "0-9" or "0-9:3" up to a comma, a percent sign or the end. */
static int parse_range(const char **p, struct spec_range *out, struct err *err)
{
    char *end;
    const char *start = *p;
    unsigned long v[3] = {0, 0, 1};
    const char *separators = "-:";
    if (!isdigit((unsigned char)**p))
        return err_set(err, ERR_INVALID, "'%s': expected an index", *p);
    v[0] = v[1] = strtoul(*p, &end, 10);
    for (int i = 0; i < 2 && *end == separators[i]; i++) {
        if (!isdigit((unsigned char)end[1]))
            return err_set(err, ERR_INVALID, "'%s': expected FIRST-LAST or FIRST-LAST:STEP", start);
        v[i + 1] = strtoul(end + 1, &end, 10);
    }
    if (v[0] > 10000000 || v[1] > 10000000 || v[1] < v[0] || v[2] == 0 || v[2] > 10000000)
        return err_set(err, ERR_INVALID, "'%s': indices must rise, from 0 to 10000000", start);
    *out = (struct spec_range){(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2]};
    *p = end;
    return 0;
}

static int set_array(struct spec *s, const char *text, struct err *err)
{
    enum { RANGES = 64, INDICES = 100000 };
    struct spec_range ranges[RANGES];
    uint32_t n = 0, limit = 0;
    uint64_t indices = 0;
    const char *p = text;
    do {
        if (n == RANGES)
            return err_set(err, ERR_INVALID, "more than %d ranges in an array", RANGES);
        if (parse_range(&p, &ranges[n], err) < 0)
            return -1;
        indices += (ranges[n].last - ranges[n].first) / ranges[n].step + 1;
        n++;
    } while (*p == ',' && *++p);
    if (*p == '%') {
        int64_t v;
        if (str_parse_int(p + 1, 1, INDICES, &v, err) < 0)
            return -1;
        limit = (uint32_t)v;
    } else if (*p) {
        return err_set(err, ERR_INVALID, "'%s': expected 0-9, 1,3,5 or 0-99%%4", text);
    }
    if (indices > INDICES)
        return err_set(err, ERR_INVALID, "an array of more than %d jobs", INDICES);
    s->array.at = arena_raw(&s->arena, n * sizeof *ranges);
    memcpy(s->array.at, ranges, n * sizeof *ranges);
    s->array.n = n;
    s->array.limit = limit;
    return 0;
}

static int set_text(struct spec *s, enum field f, const char *text, struct err *err)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p < 0x20 && f != PATTERN)
            return err_set(err, ERR_INVALID, "control characters are not allowed");
    if (f == NAME && (strlen(text) > 128 || !*text || isdigit((unsigned char)*text)))
        return err_set(err, ERR_INVALID,
                       "'%.40s': a name has 1 to 128 characters and begins with no digit", text);
    *text_of(s, f) = arena_strdup(&s->arena, text);
    return 0;
}

static int set_field(struct spec *s, enum field f, enum spec_type type, const char *text,
                     struct err *err)
{
    switch (type) {
    case SPEC_TEXT:
        return set_text(s, f, text, err);
    case SPEC_UNITS:
        return set_units(s, f, text, err);
    case SPEC_COUNT:
        return set_count(s, text, err);
    case SPEC_MEMORY:
        return set_memory(s, text, err);
    case SPEC_DURATION:
        return time_parse(text, duration_of(s, f), err);
    case SPEC_NUMBER:
        return set_number(s, f, text, err);
    case SPEC_FLAG:
        return set_flag(s, f, text, err);
    case SPEC_CHOICE:
        return set_choice(s, f, text, err);
    case SPEC_SIGNAL:
        return set_signal(s, f, text, err);
    case SPEC_LIST:
        list_push(s, list_of(s, f), text);
        return 0;
    case SPEC_MAP:
        return add_map(s, text, err);
    case SPEC_DEPS:
        return add_deps(s, text, err);
    case SPEC_ARRAY:
        return set_array(s, text, err);
    }
    return err_set(err, ERR_INTERNAL, "unknown type");
}

int spec_set(struct spec *s, const struct spec_field *f, const char *text, struct err *err)
{
    if (set_field(s, (enum field)(f - spec_fields), f->type, text, err) < 0)
        return err_prefix(err, "%s", f->name);
    return 0;
}
