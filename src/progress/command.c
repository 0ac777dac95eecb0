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

static void add(struct progress_plan *p, const char *name, size_t n, const char *value,
                const char *from)
{
    int64_t number;
    size_t length = strlen(value);
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

static void look_at(struct progress_plan *p, const char *argument, const char *next)
{
    char from[PROGRESS_FROM_BYTES];
    const char *name = argument + strspn(argument, "-+");
    size_t n = strcspn(name, "=");
    if (name[n] == '=' && strchr(name + n + 1, '=')) {
        look_at_list(p, name + n + 1);
    } else if (name[n] == '=') {
        snprintf(from, sizeof from, "%s", argument);
        add(p, name, n, name + n + 1, from);
    } else if (next && takes_next(argument)) {
        snprintf(from, sizeof from, "%s %s", argument, next);
        add(p, name, n, next, from);
    }
}

/* Splits "cd x && python train.py --epochs 14" at blanks, quotes left out. */
static void look_inside(struct progress_plan *p, const char *line)
{
    char words[2][WORD_BYTES] = {"", ""};
    unsigned current = 0;
    while (*line) {
        line += strspn(line, " \t\n;");
        size_t n = 0;
        char *word = words[current];
        for (; *line && !strchr(" \t\n;", *line); line++) {
            if (*line != '\'' && *line != '"' && n + 1 < WORD_BYTES)
                word[n++] = *line;
        }
        word[n] = '\0';
        char *before = words[!current];
        if (*before)
            look_at(p, before, word);
        current = !current;
    }
    if (*words[!current])
        look_at(p, words[!current], NULL);
}

void progress_command_read(struct progress_plan *p, int argc, const char *const *argv)
{
    for (int i = 0; i < argc; i++) {
        if (strpbrk(argv[i], " \t\n"))
            look_inside(p, argv[i]);
        else
            look_at(p, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
    }
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
