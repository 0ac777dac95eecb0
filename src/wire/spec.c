/* Owns the table of a job request's fields and their defaults, and derives the words to
 * execute. */
#include "wire/spec.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "base/str.h"
#include "model/speed.h"
#include "wire/notice.h"
#include "wire/spec_lists.h"
#include "wire/value.h"

#define AT(member) .at = offsetof(struct spec, member)
#define CENTURY (36525.0 * 86400)

const struct spec_field spec_fields[] = {
    {"name", 'n', SPEC_TEXT, "NAME", "name of the job (default: from the command)", AT(name)},
    {"command", 0, SPEC_LIST, "WORDS", "what to run (on the command line: after --)", AT(command),
     .not_option = true},
    {"script", 0, SPEC_BODY, "TEXT", "a script to run; the words of the command are its arguments",
     AT(script), .not_option = true},
    {"cpus", 'c', SPEC_CPUS, "MIN-MAX",
     "CPUs it can use, such as 2, 1-4 or 0.5-2 (default 1; with a deadline, as many as it needs)",
     AT(cpus), 0.001, 65536},
    {"gpus", 'g', SPEC_GPUS, "MIN-MAX", "GPUs it can use, such as 1 or 1-4 (default none)",
     AT(gpus), 0, 65536},
    {"gpu_type", 0, SPEC_TEXT, "TYPE", "use only GPUs of this type", AT(gpu_type)},
    {"memory", 'm', SPEC_MEMORY, "SIZE", "memory limit, such as 512m or 4g (default none)",
     AT(memory_mb)},
    {"workers", 'w', SPEC_COUNT, "MIN-MAX", "worker processes of an elastic launcher (default 1)",
     AT(workers), 1, 65536},
    {"nodes", 0, SPEC_COUNT, "MIN-MAX",
     "run it on so many nodes at once, with its CPUs, GPUs and memory on each (default 1)",
     AT(nodes), 1, 1024},
    {"resize", 0, SPEC_CHOICE, "auto|none|live|restart|torchrun|horovod",
     "how it can be resized (default auto)", AT(resize)},
    {"preempt", 0, SPEC_CHOICE, "auto|restart|pause|never",
     "how it makes room for others (default auto: restart if it has a checkpoint)", AT(preempt)},
    {"deadline", 'd', SPEC_DURATION, "TIME", "it should end within this time after submission",
     AT(deadline), 0.001, CENTURY},
    {"deadline_at", 0, SPEC_WHEN, "WHEN", "it should end by this time, such as 2030-01-31T18:00",
     AT(deadline_at)},
    {"strict_deadline", 0, SPEC_FLAG, NULL,
     "refuse the job if its deadline cannot be met, as far as that is known", AT(strict_deadline)},
    {"no_probe", 0, SPEC_FLAG, NULL,
     "never run it on another size for a short time to learn how it scales", AT(no_probe)},
    {"time_limit", 't', SPEC_DURATION, "TIME", "stop it after running this long", AT(time_limit), 0,
     CENTURY},
    {"signal", 0, SPEC_WARNING, "SIG@SECONDS", "send this signal that long before the time limit",
     AT(signal)},
    {"checkpoint_signal", 0, SPEC_SIGNAL, "SIG",
     "signal that asks it to save a checkpoint (default TERM)", AT(checkpoint_signal)},
    {"grace", 0, SPEC_DURATION, "TIME", "time between asking it to stop and SIGKILL (default 60s)",
     AT(grace), 0, 86400},
    {"lease", 0, SPEC_LEASE, "TIME|none",
     "when its node is lost, it stops there after this time and can start elsewhere (default: the "
     "server's)",
     AT(lease), 10, 86400},
    {"priority", 'p', SPEC_INT, "N", "jobs with a higher priority go first (default 0)",
     AT(priority), -1000000, 1000000},
    {"weight", 0, SPEC_REAL, "N", "its weight in policies that share by weight (default 1)",
     AT(weight), 0.001, 1000},
    {"target", 0, SPEC_REAL, "VALUE", "target value of the metric", AT(target), -1e300, 1e300},
    {"metric", 0, SPEC_TEXT, "NAME",
     "metric by which it is judged (default: its loss, otherwise its first metric)", AT(metric)},
    {"goal", 0, SPEC_CHOICE, "auto|min|max",
     "whether less or more of the metric is better (default auto: by its name)", AT(goal)},
    {"category", 0, SPEC_TEXT, "NAME",
     "jobs of one category share estimates (default: by user, program, model and image)",
     AT(category)},
    {"total", 0, SPEC_TOTAL, "N[UNIT]",
     "how long it trains, such as 500, 500steps or 10epochs, if its output does not say",
     AT(total)},
    {"pattern", 0, SPEC_TEXT, "REGEX",
     "find progress in its output: (?<step>..) (?<total>..) (?<loss>..)", AT(pattern)},
    {"stop_on_nan", 0, SPEC_FLAG, NULL, "stop it when its loss is NaN or infinite",
     AT(stop_on_nan)},
    {"stop_when", 0, SPEC_IF, "CONDITION",
     "stop it, as done, when a metric is good enough, such as \"val_loss < 0.1\"", AT(stop_when)},
    {"stop_when_flat", 0, SPEC_FLAT, "PART/WINDOW",
     "stop it, as done, when its metric improves by less than this, such as 5%/10min or "
     "1%/500steps",
     AT(stop_when_flat)},
    {"wait_children", 0, SPEC_FLAG, NULL,
     "wait for processes that its command leaves running, instead of ending them",
     AT(wait_children)},
    {"retries", 0, SPEC_INT, "N", "restart it up to N times on failure (default 0)", AT(retries), 0,
     1000},
    {"backoff", 0, SPEC_DURATION, "TIME", "wait this long before a restart, doubling (default 10s)",
     AT(backoff), 0, 7 * 86400},
    {"requeue", 0, SPEC_FLAG, NULL, "restart it when its node or conductor is lost", AT(requeue)},
    {"after", 'a', SPEC_DEPS, "KIND:JOBS",
     "wait for other jobs: after:, afterok:, afternotok:, afterany:12,13 or singleton", AT(after)},
    {"array", 0, SPEC_ARRAY, "INDICES",
     "one job per index, such as 0-9, 1,3,5 or 0-99%4 (4 at once)", AT(array)},
    {"sweep", 0, SPEC_MAP, "NAME=VALUES",
     "one job per combination of values, such as lr=0.1,0.01 or bs=32..256:x2; {lr} in the command "
     "stands for the value",
     AT(sweep)},
    {"group", 0, SPEC_TEXT, "NAME", "group of jobs that `best` ranks and keep_best compares",
     AT(group)},
    {"keep_best", 0, SPEC_INT, "N",
     "stop the worse half of the group at each comparison, but keep at least N", AT(keep_best), 0,
     INDICES_MAX},
    {"every", 0, SPEC_INT, "STEPS",
     "compare after this many steps, then each time they have doubled", AT(every), 1, 1e9},
    {"hold", 'H', SPEC_FLAG, NULL, "do not start it until it is released", AT(hold)},
    {"workdir", 0, SPEC_TEXT, "DIR", "working directory (default: the current one)", AT(workdir)},
    {"env", 'e', SPEC_MAP, "KEY=VALUE", "environment variables", AT(env)},
    {"export", 0, SPEC_TEXT, "all|none|NAMES",
     "what it gets of your environment; names as in WANDB_MODE,CUDA_* (default all)", AT(export)},
    {"environment", 0, SPEC_MAP, "KEY=VALUE",
     "the submitter's environment; not stored in the database", AT(environment),
     .not_option = true},
    {"pty", 0, SPEC_CHOICE, "auto|no|yes",
     "give it a terminal, so that it prints line by line (default auto: where nothing else does)",
     AT(pty)},
    {"checkpoint_dir", 0, SPEC_TEXT, "DIR", "where it saves checkpoints (TRAINYARD_CHECKPOINT_DIR)",
     AT(checkpoint_dir)},
    {"image", 'i', SPEC_TEXT, "IMAGE",
     "container image (default: that of the server, or none: a process on the node)", AT(image)},
    {"run_as", 0, SPEC_TEXT, "UID[:GID]",
     "user and group of the container's processes and files (default: those of the image)",
     AT(run_as)},
    {"mounts", 0, SPEC_LIST, "SRC:DST[:ro]", "directories to mount into the container", AT(mounts),
     .option = "mount"},
    {"upload", 0, SPEC_TEXT, "DIR",
     "folder to copy into the container, as its working directory unless that is given",
     AT(upload)},
    {"shm_size", 0, SPEC_MEMORY, "SIZE", "size of /dev/shm in the container, such as 1g",
     AT(shm_mb)},
    {"ulimits", 0, SPEC_LIST, "NAME=SOFT[:HARD]", "limits of the container, such as nofile=65536",
     AT(ulimits), .option = "ulimit"},
    {"user", 0, SPEC_TEXT, "USER", "owner of the job (default: you)", AT(user)},
    {"notify", 0, SPEC_LIST, "TARGET",
     "send notices about it to mail:ADDRESS, webhook:URL, slack:URL, ntfy:URL or command:LINE",
     AT(notify)},
    {"notify_on", 0, SPEC_TEXT, "EVENTS",
     "which notices: some of " NOTICE_WORDS ", or all (default: all but start)", AT(notify_on)},
    {"comment", 0, SPEC_TEXT, "TEXT", "a note", AT(comment)},
    {0},
};

enum { FIELDS = COUNT_OF(spec_fields) - 1 };

void spec_init(struct spec *s)
{
    *s = (struct spec){
        .workers = {1, 1},
        .nodes = {1, 1},
        .grace = 60 * USEC_PER_SEC,
        .weight = 1,
        .target = NAN,
        .backoff = 10 * USEC_PER_SEC,
    };
}

bool spec_has_image(const struct spec *s)
{
    return s->image && strcmp(s->image, SPEC_NO_IMAGE) != 0;
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
    char shown[VALUE_SHOWN];
    for (const struct spec_field *f = spec_fields; f->name; f++)
        if (!strcmp(f->name, name))
            return f;
    const char *near = str_nearest(name, FIELDS, field_name, NULL);
    value_show(name, shown);
    if (near)
        err_set(err, ERR_INVALID, "unknown field '%s'; did you mean '%s'?", shown, near);
    else
        err_set(err, ERR_INVALID, "unknown field '%s'", shown);
    return NULL;
}

static char option_char(char c)
{
    return c == '_' ? '-' : c;
}

const char *spec_option_name(const struct spec_field *f, char buf[SPEC_OPTION_SIZE])
{
    const char *name = f->option ? f->option : f->name;
    size_t n = 0;
    for (; n < SPEC_OPTION_SIZE - 1 && name[n]; n++)
        buf[n] = option_char(name[n]);
    buf[n] = '\0';
    return buf;
}

const struct spec_field *spec_find_option(const char *option)
{
    for (const struct spec_field *f = spec_fields; f->name; f++) {
        const char *name = f->option ? f->option : f->name;
        size_t n = 0;
        while (name[n] && option_char(name[n]) == option_char(option[n]))
            n++;
        if (!name[n] && !option[n] && !f->not_option)
            return f;
    }
    return NULL;
}

static const size_t sizes[] = {
    [SPEC_TEXT] = sizeof(const char *),
    [SPEC_BODY] = sizeof(const char *),
    [SPEC_CPUS] = sizeof(struct spec_span),
    [SPEC_GPUS] = sizeof(struct spec_span),
    [SPEC_COUNT] = sizeof(struct spec_span),
    [SPEC_MEMORY] = sizeof(int64_t),
    [SPEC_LEASE] = sizeof(usec_t),
    [SPEC_DURATION] = sizeof(usec_t),
    [SPEC_WHEN] = sizeof(usec_t),
    [SPEC_INT] = sizeof(int32_t),
    [SPEC_REAL] = sizeof(double),
    [SPEC_TOTAL] = sizeof(struct spec_total),
    [SPEC_FLAG] = sizeof(bool),
    [SPEC_CHOICE] = sizeof(unsigned),
    [SPEC_SIGNAL] = sizeof(int),
    [SPEC_WARNING] = sizeof(struct spec_warning),
    [SPEC_IF] = sizeof(struct condition),
    [SPEC_FLAT] = sizeof(struct flatness),
    [SPEC_ARRAY] = sizeof(struct indices),
    [SPEC_LIST] = sizeof(struct spec_list),
    [SPEC_MAP] = sizeof(struct spec_list),
    [SPEC_DEPS] = sizeof(struct spec_deps),
};

void spec_clear(struct spec *s, const struct spec_field *f)
{
    struct spec d;
    spec_init(&d);
    memcpy((char *)s + f->at, (char *)&d + f->at, sizes[f->type]);
}

bool spec_differs(const struct spec *s, const struct spec_field *f)
{
    struct spec d;
    const void *at = (const char *)s + f->at;
    switch (f->type) {
    case SPEC_TOTAL:
        return ((const struct spec_total *)at)->value != 0;
    case SPEC_WARNING:
        return ((const struct spec_warning *)at)->number != 0;
    case SPEC_IF:
        return *((const struct condition *)at)->metric;
    case SPEC_FLAT:
        return ((const struct flatness *)at)->part > 0;
    case SPEC_ARRAY:
        return ((const struct indices *)at)->n > 0;
    case SPEC_LIST:
    case SPEC_MAP:
        return ((const struct spec_list *)at)->n > 0;
    case SPEC_DEPS:
        return ((const struct spec_deps *)at)->n > 0;
    default:
        spec_init(&d);
        return memcmp(at, (char *)&d + f->at, sizes[f->type]) != 0;
    }
}

/* The kernel splits "#!/usr/bin/env -S python3 -u" into two words. */
static void add_interpreter(const struct spec *s, struct spec_list *words, struct arena *a)
{
    static const char blanks[] = " \t";
    if (strncmp(s->script, "#!", 2) != 0) {
        words->at[words->n++] = "/bin/sh";
        return;
    }
    const char *p = s->script + 2, *end = p + strcspn(p, "\n");
    p += strspn(p, blanks);
    while (end > p && strchr(blanks, end[-1]))
        end--;
    size_t n = strcspn(p, " \t\n");
    words->at[words->n++] = arena_strndup(a, p, n);
    p += n + strspn(p + n, blanks);
    if (p < end)
        words->at[words->n++] = arena_strndup(a, p, (size_t)(end - p));
}

struct spec_list spec_words(const struct spec *s, const char *path, struct arena *a)
{
    if (!s->script)
        return s->command;
    struct spec_list words = {.at = ARENA_ARRAY(a, s->command.n + 3, const char *)};
    add_interpreter(s, &words, a);
    words.at[words.n++] = arena_strdup(a, path);
    for (uint32_t i = 1; i < s->command.n; i++)
        words.at[words.n++] = s->command.at[i];
    return words;
}
