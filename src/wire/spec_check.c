/* Owns the rules about which fields of a job request go together, and derives missing fields
 * from others. */
#include "wire/spec_check.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/letter.h"
#include "base/str.h"
#include "model/speed.h"
#include "wire/notice.h"
#include "wire/spec_export.h"
#include "wire/spec_lists.h"
#include "wire/spec_name.h"
#include "wire/spec_places.h"
#include "wire/sweep.h"
#include "wire/value.h"

/* Linux allows a quarter of the stack limit for arguments and environment together, 2 MiB by
 * default. Some of it is reserved for the variables that Trainyard adds. */
enum { EXEC_MAX = 3 << 19 };

struct check {
    struct spec *s;
    const char *field; /* at fault */
    struct err *err;
};

static int fault(struct check *c, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static int fault(struct check *c, const char *field, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    c->field = field;
    err_set(c->err, ERR_INVALID, "%s: %s", field, text);
    spec_places_fail(c->s, field, c->err);
    return -1;
}

static int check_notify(struct check *c)
{
    const struct spec *s = c->s;
    struct notice_target target;
    unsigned events;
    struct err err;
    for (uint32_t i = 0; i < s->notify.n; i++)
        if (notice_target_parse(s->notify.at[i], &target, &err) < 0)
            return fault(c, "notify", "%s", err.text);
    if (s->notify_on && notice_events_parse(s->notify_on, &events, &err) < 0)
        return fault(c, "notify_on", "%s", err.text);
    return 0;
}

static int check_command(struct check *c)
{
    struct spec *s = c->s;
    size_t size = 0;
    if (s->script && s->command.n == 0)
        spec_list_add(s, &s->command, "script", NULL);
    if (s->command.n == 0 && !spec_has_image(s))
        return fault(c, "command", "nothing to run");
    if (s->command.n && !*s->command.at[0])
        return fault(c, "command", "the first word must not be empty");
    for (uint32_t i = 0; i < s->command.n; i++)
        size += strlen(s->command.at[i]) + 1 + sizeof(char *);
    for (uint32_t i = 0; i < s->env.n; i++)
        size += strlen(s->env.at[i]) + 1 + sizeof(char *);
    for (uint32_t i = 0; i < s->environment.n; i++)
        size += strlen(s->environment.at[i]) + 1 + sizeof(char *);
    if (size > EXEC_MAX)
        return fault(c, "command", "%zu bytes together with env; the kernel accepts about %d", size,
                     EXEC_MAX);
    if (!s->name) {
        char name[SPEC_NAME_SIZE];
        const struct spec_list image = {&s->image, 1};
        spec_name_derive(s->command.n ? &s->command : &image, name);
        s->name = arena_strdup(&s->arena, name);
    }
    return 0;
}

static int check_export(struct check *c)
{
    struct err why;
    if (c->s->export && spec_export_check(c->s->export, &why) < 0)
        return fault(c, "export", "%s", why.text);
    return 0;
}

static int check_times(struct check *c)
{
    const struct spec *s = c->s;
    if (s->deadline && s->deadline_at)
        return fault(c, "deadline_at", "give either deadline or deadline_at, not both");
    if (s->strict_deadline && !s->deadline && !s->deadline_at)
        return fault(c, "strict_deadline", "there is no deadline; give one with deadline");
    if (s->deadline && s->time_limit && s->time_limit > s->deadline && s->strict_deadline)
        return fault(c, "strict_deadline",
                     "time_limit is longer than deadline, so the job may run past it; lower "
                     "time_limit");
    if (s->signal.number && !s->time_limit)
        return fault(c, "signal", "it is sent before the time limit, but there is no time_limit");
    if (s->signal.number && s->signal.before >= s->time_limit)
        return fault(c, "signal",
                     "it would be sent before the job starts; time_limit is too short");
    return 0;
}

/* "pvc/NAME", "configmap/NAME" or "secret/NAME", of a Kubernetes cluster. */
static bool is_object(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz"),
           name = strspn(text + n + (text[n] == '/'), "abcdefghijklmnopqrstuvwxyz0123456789.-");
    return (!strncmp(text, "pvc/", 4) || !strncmp(text, "configmap/", 10) ||
            !strncmp(text, "secret/", 7)) &&
           name && text[n + 1 + name] == ':';
}

/* SOURCE:TARGET, both absolute, followed by nothing, ":ro" or ":rw". */
static bool is_mount(const char *text)
{
    const char *colon = strchr(text, ':');
    if ((text[0] != '/' && !is_object(text)) || !colon || colon[1] != '/')
        return false;
    const char *mode = strchr(colon + 1, ':');
    return !mode || !strcmp(mode, ":ro") || !strcmp(mode, ":rw");
}

/* NAME=SOFT or NAME=SOFT:HARD; -1 is no limit. */
static bool is_ulimit(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    if (!n || n > 16 || text[n] != '=')
        return false;
    const char *p = text + n;
    do {
        p++;
        size_t digits = strspn(p += *p == '-' && p[1] == '1', "0123456789");
        if (!digits || digits > 15)
            return false;
        p += digits;
    } while (*p == ':' && !memchr(text, ':', (size_t)(p - text)));
    return !*p;
}

/* [HOST[:PORT]/]PATH[:TAG][@DIGEST]; whether there is such an image, its registry knows. */
static bool is_image(const char *name)
{
    size_t n = 0;
    while (letter_is_alpha(name[n]) || letter_is_digit(name[n]) ||
           (n && name[n] && strchr("._-/:@", name[n])))
        n++;
    return n && !name[n];
}

/* UID or UID:GID, or names that the image knows. */
static bool is_run_as(const char *text)
{
    static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    size_t n = strspn(text, chars), m = text[n] == ':' ? strspn(text + n + 1, chars) : 0;
    return n && (!text[n] || (m && !text[n + 1 + m]));
}

/* An image, and what goes with it. */
static int check_container(struct check *c)
{
    const struct spec *s = c->s;
    char shown[VALUE_SHOWN];
    if (s->image && !is_image(s->image))
        return fault(c, "image", "'%s' is not the name of an image", value_show(s->image, shown));
    if (!spec_has_image(s) && s->run_as)
        return fault(c, "run_as", "requires an image");
    if (s->run_as && !is_run_as(s->run_as))
        return fault(c, "run_as", "'%s': expected UID[:GID], such as 1000:1000",
                     value_show(s->run_as, shown));
    if (!spec_has_image(s) && s->upload)
        return fault(c, "upload", "requires an image");
    if (!spec_has_image(s) && s->shm_mb)
        return fault(c, "shm_size", "requires an image");
    if (!spec_has_image(s) && s->ulimits.n)
        return fault(c, "ulimits", "require an image");
    for (uint32_t i = 0; i < s->ulimits.n; i++)
        if (!is_ulimit(s->ulimits.at[i]))
            return fault(c, "ulimits", "'%s': expected NAME=SOFT[:HARD], such as nofile=65536",
                         value_show(s->ulimits.at[i], shown));
    return 0;
}

static int check_paths(struct check *c)
{
    const struct spec *s = c->s;
    char shown[VALUE_SHOWN];
    if (s->workdir && s->workdir[0] != '/')
        return fault(c, "workdir", "'%s' is not an absolute path", value_show(s->workdir, shown));
    if (s->checkpoint_dir && s->checkpoint_dir[0] != '/')
        return fault(c, "checkpoint_dir", "'%s' is not an absolute path",
                     value_show(s->checkpoint_dir, shown));
    if (s->mounts.n && !spec_has_image(s))
        return fault(c, "mounts", "require an image");
    for (uint32_t i = 0; i < s->mounts.n; i++)
        if (!is_mount(s->mounts.at[i]))
            return fault(c, "mounts",
                         "'%s': expected /SOURCE:/TARGET[:ro], or on Kubernetes "
                         "pvc/NAME:/TARGET, configmap/NAME:/TARGET or secret/NAME:/TARGET",
                         value_show(s->mounts.at[i], shown));
    return 0;
}

static int check_size(struct check *c)
{
    const struct spec *s = c->s;
    if (s->gpu_type && s->gpus.max == 0)
        return fault(c, "gpu_type", "the job does not ask for GPUs");
    if (s->cpus.max > UNITS_MAX / s->workers.max || s->gpus.max > UNITS_MAX / s->workers.max)
        return fault(c, "workers", "all workers together ask for more than a million units");
    if (s->workers.max > 1 && !spec_has_launcher(s->resize))
        return fault(c, "workers", "several workers need resize: torchrun or horovod");
    if (s->cpus.max > UNITS_MAX / s->nodes.max || s->gpus.max > UNITS_MAX / s->nodes.max)
        return fault(c, "nodes", "all nodes together would need more than a million units");
    if (s->nodes.max > 1 && s->resize != SPEC_RESIZE_AUTO && s->resize != SPEC_RESIZE_NONE)
        return fault(c, "nodes",
                     "a job on several nodes keeps its size while it runs; leave out resize");
    if (s->nodes.max > 1 && (s->cpus.min != s->cpus.max || s->cpus.max % UNIT))
        return fault(c, "cpus", "a job on several nodes needs one whole number for each of them");
    if (s->nodes.max > 1 && s->gpus.min != s->gpus.max)
        return fault(c, "gpus", "a job on several nodes needs one number for each of them");
    if (s->resize == SPEC_RESIZE_LIVE && s->gpus.max > 0)
        return fault(c, "resize", "live works only without GPUs; use restart");
    if (s->preempt == SPEC_PREEMPT_PAUSE && s->gpus.max > 0)
        return fault(c, "preempt", "a paused job would keep its GPU memory; use restart");
    return 0;
}

/* Whether a word of the command, or the value of a variable, has {NAME}. */
static bool uses_parameter(const struct spec *s, uint32_t p)
{
    const struct spec_list *lists[] = {&s->command, &s->env};
    for (size_t l = 0; l < COUNT_OF(lists); l++)
        for (uint32_t i = 0; i < lists[l]->n; i++)
            if (sweep_uses(&s->sweep, p, lists[l]->at[i]))
                return true;
    return false;
}

/* The array of a sweep has all combinations, unless it chooses some. */
static int check_sweep(struct check *c)
{
    struct spec *s = c->s;
    struct err why;
    uint32_t n;
    if (!s->sweep.n)
        return 0;
    if (sweep_count(&s->sweep, &n, &why) < 0)
        return fault(c, "sweep", "%s", why.text);
    for (uint32_t p = 0; p < s->sweep.n; p++)
        if (!uses_parameter(s, p)) {
            int length = (int)strcspn(s->sweep.at[p], "=");
            return fault(c, "sweep",
                         "the command does not use %.*s; write {%.*s} where its value goes", length,
                         s->sweep.at[p], length, s->sweep.at[p]);
        }
    if (!s->array.n) {
        s->array.at = ARENA_NEW(&s->arena, struct indices_range);
        *s->array.at = (struct indices_range){0, n - 1, 1};
        s->array.n = 1;
    }
    for (uint32_t i = 0; i < s->array.n; i++)
        if (s->array.at[i].last >= n)
            return fault(c, "array", "the sweep has %u combinations, numbered from 0 to %u", n,
                         n - 1);
    return 0;
}

static int check_group(struct check *c)
{
    struct spec *s = c->s;
    struct err why;
    char name[PROGRESS_NAME];
    if (s->group && strlen(s->group) >= SPEC_GROUP_SIZE)
        return fault(c, "group", "a name has at most %d bytes", SPEC_GROUP_SIZE - 1);
    if (s->category && (!*s->category || strlen(s->category) >= SPEC_GROUP_SIZE))
        return fault(c, "category", "a name has 1 to %d bytes", SPEC_GROUP_SIZE - 1);
    if (s->metric && condition_metric(s->metric, strlen(s->metric), name, &why) < 0)
        return fault(c, "metric", "%s", why.text);
    if (s->keep_best && !s->group)
        return fault(c, "keep_best", "it needs the name of a group");
    if (s->keep_best && !s->every)
        return fault(c, "keep_best", "it needs every: after how many steps to compare");
    if (s->every && !s->keep_best)
        return fault(c, "every", "it needs keep_best: how many members always go on");
    return 0;
}

int spec_check(struct spec *s, const char **field, struct err *err)
{
    struct check c = {.s = s, .err = err};
    if (check_command(&c) < 0 || check_export(&c) < 0 || check_times(&c) < 0 ||
        check_paths(&c) < 0 || check_container(&c) < 0 || check_size(&c) < 0 ||
        check_sweep(&c) < 0 || check_group(&c) < 0 || check_notify(&c) < 0) {
        if (field)
            *field = c.field;
        return -1;
    }
    return 0;
}
