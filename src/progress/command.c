/* Owns the search for limits in a command line. */
#include "progress/command.h"

#include <stdio.h>
#include <string.h>

#include "base/letter.h"

/* A shell's command line inside an argument is looked at up to here. */
#define WORD_BYTES 256

static bool is_name(const char *text, size_t n)
{
    if (!n || !letter_is_alpha(*text))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!letter_is_alpha(text[i]) && !letter_is_digit(text[i]) && !strchr("_-.", text[i]))
            return false;
    }
    return true;
}

static bool is_number(const char *text)
{
    int64_t number;
    return *text && progress_plan_value(text, strlen(text), &number) == strlen(text);
}

static void add(struct progress_plan *p, const char *name, size_t n, const char *value,
                const char *from)
{
    int64_t number;
    size_t length = strlen(value);
    if (is_number(value) && strcmp(value, "1") != 0 && progress_plan_repeats(name, n))
        p->repeats = true;
    enum progress_unit unit = is_name(name, n) ? progress_plan_unit(name, n) : PROGRESS_UNIT_NONE;
    if (unit == PROGRESS_UNIT_NONE || progress_plan_value(value, length, &number) != length)
        return;
    progress_plan_add(p, unit, number, PROGRESS_FROM_COMMAND, from);
}

/* A name that takes its value from the next argument: an option, or a setting that is
 * written as SOLVER.MAX_ITER. */
static bool takes_next(const char *argument)
{
    return *argument == '-' || (strchr(argument, '.') && argument[0] >= 'A' && argument[0] <= 'Z');
}

/* "--parameters=batch_size=4096,train_steps=2000" */
static void look_at_list(struct progress_plan *p, const char *list)
{
    char item[PROGRESS_FROM_BYTES];
    while (*list) {
        size_t n = strcspn(list, ",;");
        snprintf(item, sizeof item, "%.*s", (int)n, list);
        size_t k = strcspn(item, "=");
        if (n < sizeof item && item[k] == '=')
            add(p, item, k, item + k + 1, item);
        list += n + (list[n] != '\0');
    }
}

/* `second` comes after `next`: two numbers are a list, "--epochs 10 20 30". */
static void look_at(struct progress_plan *p, const char *argument, const char *next,
                    const char *second)
{
    char from[PROGRESS_FROM_BYTES];
    const char *name = argument + strspn(argument, "-+");
    size_t n = strcspn(name, "=");
    if (name[n] == '=' && strchr(name + n + 1, '=')) {
        look_at_list(p, name + n + 1);
    } else if (name[n] == '=') {
        snprintf(from, sizeof from, "%s", argument);
        add(p, name, n, name + n + 1, from);
    } else if (next && takes_next(argument) && !(second && is_number(second))) {
        snprintf(from, sizeof from, "%s %s", argument, next);
        add(p, name, n, next, from);
    }
}

/* ---- a shell's command line ---------------------------------------------------- */

/* What is known of a line of commands while it is read. */
struct shell_line {
    struct progress_plan all, command; /* of those before, and of the one that is read */
    unsigned limited;                  /* commands that have a limit */
    bool loop;                         /* a loop has begun */
    bool repeats;                      /* one of them is repeated */
    char words[3][WORD_BYTES];         /* the last ones of this command, newest first */
    unsigned n;                        /* of them */
};

static bool has_limit(const struct progress_plan *p)
{
    for (int i = 0; i < PROGRESS_UNITS; i++) {
        if (p->limit[i].value)
            return true;
    }
    return false;
}

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++) {
        if (!strcmp(word, *list))
            return true;
    }
    return false;
}

/* Programs that repeat the command that follows. */
static bool repeats_command(const char *word)
{
    static const char *const list[] = {"xargs", "parallel", "watch", NULL};
    return is_one_of(word, list);
}

static bool begins_loop(const char *word)
{
    static const char *const list[] = {"for", "while", "until", NULL};
    return is_one_of(word, list);
}

/* Whether a command that begins like this trains nothing: a loop that has no other is the training
 * itself, "for i in ...; do echo step $i/100; sleep 1; done". */
static bool trains_nothing(const char *word)
{
    static const char *const list[] = {
        "do",     "done",   "then", "else",  "elif", "fi",    "if",       "case", "esac",
        "{",      "}",      "[",    "[[",    "test", "true",  "false",    ":",    "echo",
        "printf", "let",    "expr", "sleep", "date", "break", "continue", "exit", "read",
        "set",    "export", "cd",   "local", "trap", "wait",  NULL};
    return strchr(word, '=') || !strncmp(word, "((", 2) || is_one_of(word, list);
}

/* Words after which another command begins. */
static bool introduces(const char *word)
{
    static const char *const list[] = {"do",  "then", "else", "{",    "-c",
                                       "-lc", "-ec",  "-xc",  "time", NULL};
    return is_one_of(word, list);
}

static void end_command(struct shell_line *l)
{
    if (l->n > 0)
        look_at(&l->command, l->words[0], NULL, NULL);
    if (l->n > 1)
        look_at(&l->command, l->words[1], l->words[0], NULL);
    l->repeats = l->repeats || l->command.repeats;
    if (has_limit(&l->command)) {
        l->limited++;
        l->all = l->command;
    }
    l->command = (struct progress_plan){0};
    l->n = 0;
}

static void add_word(struct shell_line *l, const char *word, bool first)
{
    if (first && begins_loop(word))
        l->loop = true;
    else if (first && (repeats_command(word) || (l->loop && !trains_nothing(word))))
        l->repeats = true;
    if (l->n == 3 || l->n == 2)
        look_at(&l->command, l->words[1], l->words[0], word);
    memmove(l->words[1], l->words[0], 2 * sizeof l->words[0]);
    snprintf(l->words[0], sizeof l->words[0], "%s", word);
    l->n += l->n < 3;
}

/* Reads "cd x && python train.py --epochs 14", quotes left out. A limit counts if only one of the
 * commands has one, and nothing is repeated. */
static void look_inside(struct progress_plan *p, const char *line)
{
    struct shell_line l = {0};
    bool first = true;
    while (*line) {
        char word[WORD_BYTES];
        size_t n = 0;
        line += strspn(line, " \t");
        for (; *line && !strchr(" \t\n;|&", *line); line++) {
            if (*line == '>' && line[1] == '&')
                line++; /* "2>&1" is no end of a command */
            else if (*line != '\'' && *line != '"' && *line != '(' && n + 1 < WORD_BYTES)
                word[n++] = *line;
        }
        word[n] = '\0';
        if (n) {
            add_word(&l, word, first);
            first = introduces(word);
        }
        if (*line && strchr("\n;|&", *line)) {
            line++;
            end_command(&l);
            first = true;
        }
    }
    end_command(&l);
    p->repeats = p->repeats || l.repeats || l.limited > 1;
    for (int i = 0; i < PROGRESS_UNITS && !p->repeats; i++) {
        if (l.all.limit[i].value)
            p->limit[i] = l.all.limit[i];
    }
}

/* "sh", "/bin/bash", "zsh" */
static bool is_shell(const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    size_t n = strlen(name);
    return n >= 2 && n <= 4 && !strcmp(name + n - 2, "sh");
}

/* Whether the argument is a program in another language: "python3 -u -c 'for i in ...'". */
static bool is_code(const char *const *argv, int at)
{
    bool inline_code = at > 0 && (!strcmp(argv[at - 1], "-c") || !strcmp(argv[at - 1], "-e"));
    for (int i = 0; i < at && inline_code; i++) {
        if (is_shell(argv[i]))
            return false;
    }
    return inline_code;
}

void progress_command_read(struct progress_plan *p, int argc, const char *const *argv)
{
    for (int i = 0; i < argc; i++) {
        if (is_code(argv, i))
            continue;
        if (strpbrk(argv[i], " \t\n"))
            look_inside(p, argv[i]);
        else
            look_at(p, argv[i], i + 1 < argc ? argv[i + 1] : NULL,
                    i + 2 < argc ? argv[i + 2] : NULL);
    }
    /* With environment steps "num_steps" is the length of a rollout. */
    struct progress_limit *steps = &p->limit[PROGRESS_UNIT_STEP];
    if (steps->rollout && p->limit[PROGRESS_UNIT_TIMESTEP].value)
        *steps = (struct progress_limit){0};
}

enum progress_file_kind progress_command_file(const char *argument, const char **path)
{
    static const struct {
        const char *ending;
        enum progress_file_kind kind;
    } endings[] = {
        {".yaml", PROGRESS_FILE_CONFIG},     {".yml", PROGRESS_FILE_CONFIG},
        {".json", PROGRESS_FILE_CONFIG},     {".jsonnet", PROGRESS_FILE_CONFIG},
        {".toml", PROGRESS_FILE_CONFIG},     {".ini", PROGRESS_FILE_CONFIG},
        {".cfg", PROGRESS_FILE_CONFIG},      {".conf", PROGRESS_FILE_CONFIG},
        {".config", PROGRESS_FILE_CONFIG},   {".gin", PROGRESS_FILE_CONFIG},
        {".prototxt", PROGRESS_FILE_CONFIG}, {".properties", PROGRESS_FILE_CONFIG},
        {".py", PROGRESS_FILE_SCRIPT},       {".R", PROGRESS_FILE_SCRIPT},
        {".r", PROGRESS_FILE_SCRIPT},        {".jl", PROGRESS_FILE_SCRIPT},
    };
    const char *value = *argument == '-' || strchr(argument, '=') ? strchr(argument, '=') : NULL;
    const char *name = value ? value + 1 : argument;
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(endings[i].ending);
        if (n > length && !strcmp(name + n - length, endings[i].ending)) {
            *path = name;
            return endings[i].kind;
        }
    }
    return PROGRESS_FILE_OTHER;
}
