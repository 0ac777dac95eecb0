/* Owns the way back from a job request to text, signal names, and the rules
 * about which fields go together. */
#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "base/str.h"
#include "wire/spec.h"

static const struct {
    const char *name;
    int number;
} signals[] = {
    {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"ABRT", SIGABRT}, {"KILL", SIGKILL},
    {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"CONT", SIGCONT},
    {"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"WINCH", SIGWINCH},
};

int spec_signal_number(const char *text, struct err *err)
{
    int64_t number;
    const char *name = !strncmp(text, "SIG", 3) ? text + 3 : text;
    if (isdigit((unsigned char)*text)) {
        if (str_parse_int(text, 1, 64, &number, err) < 0)
            return 0;
        return (int)number;
    }
    for (size_t i = 0; i < COUNT_OF(signals); i++)
        if (!strcmp(signals[i].name, name))
            return signals[i].number;
    err_set(err, ERR_INVALID, "'%s' is not a signal; write USR1, SIGTERM or a number", text);
    return 0;
}

const char *spec_signal_name(int number)
{
    for (size_t i = 0; i < COUNT_OF(signals); i++)
        if (signals[i].number == number)
            return signals[i].name;
    return NULL;
}

/* The default name: the last word of the command that looks like a program or
 * a script. */
static const char *name_of(const struct spec *s)
{
    const char *word = s->command.at[0];
    bool runs_script = strstr(word, "python") || strstr(word, "bash") || !strcmp(word, "sh");
    for (uint32_t i = 1; runs_script && i < s->command.n; i++)
        if (s->command.at[i][0] != '-') {
            word = s->command.at[i];
            break;
        }
    const char *slash = strrchr(word, '/');
    return slash && slash[1] ? slash + 1 : word;
}

static const char *clean_name(struct spec *s, const char *text)
{
    char name[64];
    size_t n = 0;
    for (; *text && n < sizeof name - 1; text++)
        name[n++] = isalnum((unsigned char)*text) || strchr("._-", *text) ? *text : '-';
    name[n] = '\0';
    if (!n || isdigit((unsigned char)name[0]))
        return arena_strdup(&s->arena, "job");
    return arena_strdup(&s->arena, name);
}

static int check_resize(struct spec *s, struct err *err)
{
    bool launcher = s->resize == SPEC_RESIZE_TORCHRUN || s->resize == SPEC_RESIZE_HOROVOD;
    if (s->workers_max > 1 && !launcher)
        return err_set(err, ERR_INVALID,
                       "workers: more than one needs resize: torchrun or horovod");
    if (s->resize == SPEC_RESIZE_LIVE && s->gpus_max > 0)
        return err_set(err, ERR_INVALID, "resize: live is for CPU jobs; with GPUs use restart");
    if (s->preempt == SPEC_PREEMPT_PAUSE && s->gpus_max > 0)
        return err_set(err, ERR_INVALID, "preempt: pause would keep the GPU memory; use restart");
    return 0;
}

int spec_check(struct spec *s, struct err *err)
{
    if (s->command.n == 0)
        return err_set(err, ERR_INVALID, "command: there is nothing to run");
    if (!*s->command.at[0])
        return err_set(err, ERR_INVALID, "command: its first word is empty");
    if (!s->name)
        s->name = clean_name(s, name_of(s));
    if (s->deadline && s->deadline_at)
        return err_set(err, ERR_INVALID, "deadline and deadline_at: give one of them");
    if (s->signal && !s->time_limit)
        return err_set(err, ERR_INVALID, "signal: it is sent before the time_limit, give one");
    if (s->signal && s->signal_before >= s->time_limit)
        return err_set(err, ERR_INVALID, "signal: it would be due before the job starts");
    if (s->workdir && s->workdir[0] != '/')
        return err_set(err, ERR_INVALID, "workdir: '%s' is not an absolute path", s->workdir);
    if (s->mounts.n && !s->image)
        return err_set(err, ERR_INVALID, "mounts: they need an image");
    if (s->gpu_type && s->gpus_max == 0)
        return err_set(err, ERR_INVALID, "gpu_type: the job asks for no GPU");
    if (s->gpus_min == 0 && s->gpus_max > 0)
        s->gpus_min = UNIT;
    return check_resize(s, err);
}
