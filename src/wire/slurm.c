/* Owns the meaning of #SBATCH options. */
#include "wire/slurm.h"

#include <stdio.h>

#include "base/str.h"
#include "model/speed.h"
#include "wire/notice.h"
#include "wire/slurm_options.h"
#include "wire/slurm_values.h"
#include "wire/spec_lists.h"
#include "wire/spec_set.h"
#include "wire/value.h"

/* What became of an option. */
enum outcome { FAILED = -1, TAKEN, IGNORED };

struct known {
    struct slurm_name is;
    /* One of these says what it means: a field, with this text when it takes no value; a
     * number, with its parser; or else a function. */
    const char *field, *text;
    enum outcome (*number)(struct slurm *x, struct slurm_number *at, const char *value,
                           struct err *err);
    size_t at; /* offset of the number in struct slurm */
    enum outcome (*take)(struct slurm *x, const char *value, struct err *err);
};

/* Sets a field and remembers the place of the option. */
static enum outcome set(struct slurm *x, const char *field, const char *text, struct err *err)
{
    const struct spec_field *f = spec_find(field, err);
    if (spec_field_repeats(f) && f->type != SPEC_MAP)
        spec_clear(x->s, f);
    if (spec_set(x->s, f, text, err) < 0)
        return FAILED;
    spec_place_set(x->s, f, x->now);
    return TAKEN;
}

static enum outcome count(struct slurm *x, struct slurm_number *at, const char *value,
                          struct err *err)
{
    if (str_parse_int(value, 1, 1000000, &at->value, err) < 0)
        return FAILED;
    at->place = x->now;
    return TAKEN;
}

static enum outcome memory(struct slurm *x, struct slurm_number *at, const char *value,
                           struct err *err)
{
    if (value_memory(value, &at->value, err) < 0)
        return FAILED;
    at->place = x->now;
    return TAKEN;
}

static enum outcome gpus(struct slurm *x, struct slurm_number *at, const char *value,
                         struct err *err)
{
    char type[64];
    if (slurm_parse_gpus(value, type, sizeof type, &at->value, err) < 0)
        return FAILED;
    at->place = x->now;
    return *type ? set(x, "gpu_type", type, err) : TAKEN;
}

/* A job has one node here. */
static enum outcome take_nodes(struct slurm *x, const char *value, struct err *err)
{
    int64_t min, max;
    (void)x;
    if (value_span(value, 1, 1e6, 1, &min, &max, err) < 0)
        return FAILED;
    return min == 1 ? TAKEN : IGNORED;
}

/* The GPUs in "gpu:2" or "gpu:a100:2,shard:1". */
static enum outcome take_gres(struct slurm *x, const char *value, struct err *err)
{
    enum outcome outcome = IGNORED;
    for (const char *p = value; *p && outcome != FAILED;) {
        size_t n = strcspn(p, ",");
        AUTO_FREE char *part = xstrndup(p, n);
        if (!strcmp(part, "gpu"))
            outcome = gpus(x, &x->gpus, "1", err);
        else if (!strncmp(part, "gpu:", 4))
            outcome = gpus(x, &x->gpus, part + 4, err);
        p += n + (p[n] == ',');
    }
    return outcome;
}

static enum outcome take_time(struct slurm *x, const char *value, struct err *err)
{
    char text[32];
    usec_t limit;
    if (slurm_parse_time(value, &limit, err) < 0)
        return FAILED;
    snprintf(text, sizeof text, "%lld", (long long)(limit / USEC_PER_SEC));
    return set(x, "time_limit", text, err);
}

/* Only a date has a counterpart. */
static enum outcome take_deadline(struct slurm *x, const char *value, struct err *err)
{
    bool date = strlen(value) >= 10 && value[4] == '-';
    return date ? set(x, "deadline_at", value, err) : IGNORED;
}

static enum outcome take_dependency(struct slurm *x, const char *value, struct err *err)
{
    const char *odd = strpbrk(value, "?+");
    if (odd)
        err_set(err, ERR_INVALID, "'%c' (%s) is not supported", *odd,
                *odd == '?' ? "any of several jobs" : "a time after the start");
    return odd ? FAILED : set(x, "after", value, err);
}

/* "[{R|B}:]SIGNAL[@SECONDS]": here it always goes to all processes of the job. */
static enum outcome take_signal(struct slurm *x, const char *value, struct err *err)
{
    size_t flags = strspn(value, "RB");
    return set(x, "signal", flags && value[flags] == ':' ? value + flags + 1 : value, err);
}

/* Slurm's nice is the opposite of a priority. */
static enum outcome take_nice(struct slurm *x, const char *value, struct err *err)
{
    char text[32];
    int64_t nice = 100;
    if (value && str_parse_int(value, -1000000, 1000000, &nice, err) < 0)
        return FAILED;
    snprintf(text, sizeof text, "%lld", -(long long)nice);
    return set(x, "priority", text, err);
}

/* "ALL", "NONE", "NIL", "[ALL,]KEY[=VALUE],...". */
static enum outcome take_export(struct slurm *x, const char *value, struct err *err)
{
    bool all = false;
    __attribute__((cleanup(str_done))) struct str names = {0};
    for (const char *p = value; *p;) {
        size_t n = strcspn(p, ",");
        AUTO_FREE char *word = xstrndup(p, n);
        p += n + (p[n] == ',');
        if (!strcmp(word, "ALL"))
            all = true;
        else if (strchr(word, '=') && set(x, "env", word, err) == FAILED)
            return FAILED;
        else if (!strchr(word, '=') && strcmp(word, "NONE") != 0 && strcmp(word, "NIL") != 0)
            str_addf(&names, "%s%s", names.n ? "," : "", word);
    }
    return set(x, "export", all ? "all" : names.n ? names.at : "none", err);
}

#define NUMBER(how, member) .number = how, .at = offsetof(struct slurm, member)

/* Events of sbatch's --mail-type; those without a counterpart have no name. */
static const struct {
    const char *slurm, *ours;
} mail_types[] = {{"NONE", ""},
                  {"BEGIN", "start"},
                  {"END", "end"},
                  {"FAIL", "fail"},
                  {"TIME_LIMIT", "fail"},
                  {"INVALID_DEPEND", "fail"},
                  {"ALL", "start,end,fail,node"},
                  {"REQUEUE", ""},
                  {"STAGE_OUT", ""},
                  {"ARRAY_TASKS", ""},
                  {"TIME_LIMIT_90", ""},
                  {"TIME_LIMIT_80", ""},
                  {"TIME_LIMIT_50", ""}};

static int add_mail_type(const char *word, size_t n, struct str *out, struct err *err)
{
    AUTO_FREE char *name = xstrndup(word, n);
    for (size_t i = 0; i < COUNT_OF(mail_types); i++)
        if (str_equal_nocase(name, mail_types[i].slurm)) {
            str_addf(out, "%s%s", out->n && *mail_types[i].ours ? "," : "", mail_types[i].ours);
            return 0;
        }
    return err_set(err, ERR_INVALID, "'%.40s': expected NONE, BEGIN, END, FAIL or ALL", name);
}

static enum outcome take_mail_type(struct slurm *x, const char *value, struct err *err)
{
    struct str events = {0};
    enum outcome outcome = TAKEN;
    for (const char *p = value; *p && outcome == TAKEN;) {
        size_t n = strcspn(p, ",");
        if (add_mail_type(p, n, &events, err) < 0)
            outcome = FAILED;
        p += n + (p[n] == ',');
    }
    x->mails = outcome == TAKEN && events.n;
    if (x->mails)
        outcome = set(x, "notify_on", events.at, err);
    str_done(&events);
    return outcome;
}

static enum outcome take_mail_user(struct slurm *x, const char *value, struct err *err)
{
    struct str target = {0};
    str_addf(&target, "mail:%s", value);
    x->mail_user = arena_strdup(&x->s->arena, target.at);
    str_done(&target);
    (void)err;
    return TAKEN;
}

static const struct known known[] = {
    {{"array", 'a', SLURM_VALUE}, .field = "array"},
    {{"chdir", 'D', SLURM_VALUE}, .field = "workdir"},
    {{"comment", 0, SLURM_VALUE}, .field = "comment"},
    {{"cpus-per-gpu", 0, SLURM_VALUE}, NUMBER(count, gpu_cpus)},
    {{"cpus-per-task", 'c', SLURM_VALUE}, NUMBER(count, task_cpus)},
    {{"deadline", 0, SLURM_VALUE}, .take = take_deadline},
    {{"dependency", 'd', SLURM_VALUE}, .take = take_dependency},
    {{"export", 0, SLURM_VALUE}, .take = take_export},
    {{"gpus", 'G', SLURM_VALUE}, NUMBER(gpus, gpus)},
    {{"gpus-per-node", 0, SLURM_VALUE}, NUMBER(gpus, gpus)},
    {{"gpus-per-task", 0, SLURM_VALUE}, NUMBER(gpus, task_gpus)},
    {{"gres", 0, SLURM_VALUE}, .take = take_gres},
    {{"hold", 'H', SLURM_NOTHING}, .field = "hold", .text = "true"},
    {{"job-name", 'J', SLURM_VALUE}, .field = "name"},
    {{"mail-type", 0, SLURM_VALUE}, .take = take_mail_type},
    {{"mail-user", 0, SLURM_VALUE}, .take = take_mail_user},
    {{"mem", 0, SLURM_VALUE}, NUMBER(memory, memory)},
    {{"mem-per-cpu", 0, SLURM_VALUE}, NUMBER(memory, cpu_memory)},
    {{"mem-per-gpu", 0, SLURM_VALUE}, NUMBER(memory, gpu_memory)},
    {{"nice", 0, SLURM_MAYBE}, .take = take_nice},
    {{"no-requeue", 0, SLURM_NOTHING}, .field = "requeue", .text = "false"},
    {{"nodes", 'N', SLURM_VALUE}, .take = take_nodes},
    {{"ntasks", 'n', SLURM_VALUE}, NUMBER(count, tasks)},
    {{"ntasks-per-node", 0, SLURM_VALUE}, NUMBER(count, node_tasks)},
    {{"requeue", 0, SLURM_NOTHING}, .field = "requeue", .text = "true"},
    {{"signal", 0, SLURM_VALUE}, .take = take_signal},
    {{"time", 't', SLURM_VALUE}, .take = take_time},
};

enum { KNOWN = COUNT_OF(known) };

/* All names: first the options that have an effect, then the others. */
static const struct slurm_name *name_at(size_t i)
{
    return i < KNOWN ? &known[i].is : &slurm_ignored[i - KNOWN];
}

static const char *name_text(const void *ctx, size_t i)
{
    (void)ctx;
    return name_at(i)->name;
}

static size_t count_names(void)
{
    size_t n = KNOWN;
    while (name_at(n)->name)
        n++;
    return n;
}

/* Its index, by letter, by name or by a unique prefix of a name; -1 = unknown. */
static int find(const struct script_option *o)
{
    int found = -1, alike = 0;
    for (size_t i = 0; name_at(i)->name; i++) {
        const struct slurm_name *is = name_at(i);
        if (!o->is_long ? is->letter && is->letter == o->name[0] : !strcmp(is->name, o->name))
            return (int)i;
        if (o->is_long && !strncmp(is->name, o->name, strlen(o->name))) {
            found = (int)i;
            alike++;
        }
    }
    return alike == 1 ? found : -1;
}

static void ignore(struct slurm *x, const struct script_option *o, const char *value)
{
    __attribute__((cleanup(str_done))) struct str text = {0};
    str_addf(&text, "%s:%u: %s%s", o->place.file, o->place.line, o->is_long ? "--" : "-", o->name);
    if (value)
        str_addf(&text, "%s%s", o->is_long ? "=" : " ", value);
    spec_list_add(x->s, x->ignored, text.at, NULL);
}

/* Not an option of Slurm itself: a typo, or an option that a site has added. */
static int take_unknown(struct slurm *x, struct script_words *words, const struct script_option *o,
                        struct err *err)
{
    char shown[VALUE_SHOWN];
    const char *near = o->is_long ? str_nearest(o->name, count_names(), name_text, NULL) : NULL;
    if (near) {
        err_set(err, ERR_INVALID, "unknown option --%s; did you mean --%s?",
                value_show(o->name, shown), near);
        return spec_place_fail(o->place, err);
    }
    bool next = !o->value && words->next < words->n && words->at[words->next][0] != '-';
    ignore(x, o, next ? words->at[words->next++] : o->value);
    return 0;
}

static enum outcome take_known(struct slurm *x, const struct known *k, const char *value,
                               struct err *err)
{
    if (k->field)
        return set(x, k->field, k->text ? k->text : value, err);
    if (k->number)
        return k->number(x, (struct slurm_number *)((char *)x + k->at), value, err);
    return k->take(x, value, err);
}

static int take_option(struct slurm *x, struct script_words *words, const struct script_option *o,
                       struct err *err)
{
    int i = find(o);
    if (i < 0)
        return take_unknown(x, words, o, err);
    enum slurm_takes takes = name_at((size_t)i)->takes;
    const char *value = o->value;
    if (takes == SLURM_VALUE && !(value = script_value(words, o, err)))
        return -1;
    if (takes == SLURM_NOTHING && value) {
        err_set(err, ERR_INVALID, "--%s takes no value", name_at((size_t)i)->name);
        return spec_place_fail(o->place, err);
    }
    x->now = o->place;
    enum outcome outcome = (size_t)i < KNOWN ? take_known(x, &known[i], value, err) : IGNORED;
    if (outcome == IGNORED)
        ignore(x, o, value);
    if (outcome != FAILED)
        return 0;
    err_prefix(err, "--%s", name_at((size_t)i)->name);
    return spec_place_fail(o->place, err);
}

int slurm_take(struct slurm *x, struct script_words *words, struct err *err)
{
    struct script_option o;
    int got;
    while ((got = script_option(words, &o, err)) > 0)
        if (take_option(x, words, &o, err) < 0)
            return -1;
    return got;
}

/* Sets a field to the product of two numbers, of which `each` was given. */
static int set_product(struct slurm *x, const char *field, const struct slurm_number *each,
                       int64_t times, struct err *err)
{
    char text[32];
    long long product = each->value * times;
    x->now = each->place;
    snprintf(text, sizeof text, "%lld", product);
    return set(x, field, text, err) == FAILED ? spec_place_fail(each->place, err) : 0;
}

static int finish_cpus(struct slurm *x, int64_t tasks, int64_t gpus_in_all, struct err *err)
{
    const struct slurm_number one = {1, x->tasks.place.file ? x->tasks.place : x->node_tasks.place};
    if (x->task_cpus.place.file)
        return set_product(x, "cpus", &x->task_cpus, tasks, err);
    if (x->gpu_cpus.place.file && gpus_in_all)
        return set_product(x, "cpus", &x->gpu_cpus, gpus_in_all, err);
    return tasks > 1 ? set_product(x, "cpus", &one, tasks, err) : 0;
}

int slurm_finish(struct slurm *x, struct err *err)
{
    int64_t tasks = x->tasks.value > x->node_tasks.value ? x->tasks.value : x->node_tasks.value;
    tasks = tasks ? tasks : 1;
    /* As with sbatch, nobody gets mail without --mail-type. */
    if (x->mails &&
        set(x, "notify", x->mail_user ? x->mail_user : "mail:" NOTICE_USER, err) == FAILED)
        return -1;
    if (x->gpus.place.file && set_product(x, "gpus", &x->gpus, 1, err) < 0)
        return -1;
    if (x->task_gpus.place.file && set_product(x, "gpus", &x->task_gpus, tasks, err) < 0)
        return -1;
    int64_t gpus_in_all = x->s->gpus.max / UNIT;
    if (finish_cpus(x, tasks, gpus_in_all, err) < 0)
        return -1;
    int64_t cpus_in_all = x->s->cpus.max ? (x->s->cpus.max + UNIT - 1) / UNIT : 1;
    if (x->memory.place.file)
        return set_product(x, "memory", &x->memory, 1, err);
    if (x->cpu_memory.place.file)
        return set_product(x, "memory", &x->cpu_memory, cpus_in_all, err);
    return x->gpu_memory.place.file ? set_product(x, "memory", &x->gpu_memory, gpus_in_all, err)
                                    : 0;
}
