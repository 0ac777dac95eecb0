/* trainyard completion SHELL: a script that completes commands, options, their values and
 * operands, made from the command table. The script asks the program for words that only the
 * program or the server knows: policies, jobs, nodes. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

/* What is offered: nothing, files, what a command prints, or fixed words. */
struct source {
    enum { NOTHING, FILES, ASKED, FIXED } kind;
    const char *text; /* the command; the words, separated by '|' */
};

/* The source of an operand or value with this description, which may be NULL. */
static struct source source_of(const char *what)
{
    static const struct {
        const char *what;
        struct source source;
    } sources[] = {
        {"FILE", {FILES, ""}},
        {"DIR", {FILES, ""}},
        {"F", {FILES, ""}},
        {"F.html", {FILES, ""}},
        {"POLICY", {ASKED, "trainyard policies --names 2>/dev/null"}},
        {"JOB", {ASKED, "trainyard complete JOB 2>/dev/null"}},
        {"NODE", {ASKED, "trainyard complete NODE 2>/dev/null"}},
    };
    for (size_t i = 0; what && i < COUNT_OF(sources); i++)
        if (!strcmp(sources[i].what, what))
            return sources[i].source;
    /* "auto|none" are words; "N|MIN-MAX" describes a value. */
    if (what && strchr(what, '|') && !what[strcspn(what, "ABCDEFGHIJKLMNOPQRSTUVWXYZ[")])
        return (struct source){FIXED, what};
    return (struct source){NOTHING, ""};
}

static void print_words(const char *choices)
{
    for (; *choices; choices++)
        putchar(*choices == '|' ? ' ' : *choices);
}

static void print_names(const struct args *a)
{
    for (size_t i = 0; a->table[i]; i++)
        if (!a->table[i]->hidden)
            printf("%s%s", i ? " " : "", a->table[i]->name);
}

static void print_options(const struct command *c)
{
    struct option o;
    for (size_t i = 0; command_option(c, i, &o); i++)
        printf("%s--%s", i ? " " : "", o.name);
}

/* Prints text for single quotes, with a backslash before each character of `special`. */
static void print_quoted(const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else
            printf("%s%c", strchr(special, *text) ? "\\" : "", *text);
    }
}

/* ---- bash ------------------------------------------------------------------ */

/* An assignment that says what to offer. */
static void bash_source(const char *what)
{
    struct source s = source_of(what);
    switch (s.kind) {
    case FILES:
        printf(" files=1");
        break;
    case ASKED:
        printf(" words=$(%s)", s.text);
        break;
    case FIXED:
        printf(" words='");
        print_words(s.text);
        printf("'");
        break;
    case NOTHING:
        break;
    }
}

/* The patterns of an option that needs a value. */
static void bash_pattern(const struct option *o, bool first)
{
    printf("%s--%s", first ? "" : " | ", o->name);
    if (o->letter)
        printf(" | -%c", o->letter);
}

static bool needs_value(const struct option *o)
{
    return o->value && o->value[0] != '[';
}

/* What is offered after each option that needs a value, and elsewhere. */
static void bash_values(const struct command *c)
{
    struct option o;
    bool free_text = false;
    for (size_t i = 0; command_option(c, i, &o); i++)
        if (needs_value(&o) && source_of(o.value).kind != NOTHING) {
            printf("        ");
            bash_pattern(&o, true);
            printf(")");
            bash_source(o.value);
            printf(" ;;\n");
        }
    for (size_t i = 0; command_option(c, i, &o); i++)
        if (needs_value(&o) && source_of(o.value).kind == NOTHING) {
            printf("%s", free_text ? "" : "        ");
            bash_pattern(&o, !free_text);
            free_text = true;
        }
    if (free_text)
        printf(") ;;\n");
    printf("        *)");
    bash_source(c->completes);
    printf(" ;;\n");
}

static void bash_command(const struct command *c)
{
    printf("    %s)\n        options='", c->name);
    print_options(c);
    printf("'\n        case $before in\n");
    bash_values(c);
    printf("        esac\n        ;;\n");
}

static void print_bash(const struct args *a)
{
    printf("# bash completion for trainyard: eval \"$(trainyard completion bash)\"\n"
           "_trainyard() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    local options='' words='' files=''\n"
           "    COMPREPLY=()\n"
           "    if ((COMP_CWORD == 1)); then\n"
           "        mapfile -t COMPREPLY < <(compgen -W '");
    print_names(a);
    printf("' -- \"$word\")\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; a->table[i]; i++)
        if (!a->table[i]->hidden)
            bash_command(a->table[i]);
    printf("    esac\n"
           "    if [[ $word == -* ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
           "    elif [[ $files ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
           "    else\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
           "    fi\n"
           "}\n"
           "complete -o default -F _trainyard trainyard\n");
}

/* ---- zsh ------------------------------------------------------------------- */

/* The action of _arguments, in double quotes, as some are expanded. */
static void zsh_action(const char *what)
{
    struct source s = source_of(what);
    switch (s.kind) {
    case FILES:
        printf("_files");
        break;
    case ASKED:
        printf("\"(${(f)$(%s)})\"", s.text);
        break;
    case FIXED:
        printf("'(");
        print_words(s.text);
        printf(")'");
        break;
    case NOTHING:
        break;
    }
}

static void zsh_option(const struct option *o)
{
    const char *value = !o->value ? "" : needs_value(o) ? ":value:" : "::value:";
    printf(" \\\n        '%s--%s%s[", o->many ? "*" : "", o->name, o->value ? "=" : "");
    print_quoted(o->help, "[]:");
    printf("]%s'", value);
    zsh_action(o->value);
}

static void print_zsh(const struct args *a)
{
    struct option o;
    printf("#compdef trainyard\n"
           "# zsh completion for trainyard: trainyard completion zsh > ~/.zfunc/_trainyard\n"
           "_trainyard() {\n    if ((CURRENT == 2)); then\n        local -a commands=(\n");
    for (size_t i = 0; a->table[i]; i++)
        if (!a->table[i]->hidden) {
            printf("            '%s:", a->table[i]->name);
            print_quoted(a->table[i]->summary, ":");
            printf("'\n");
        }
    printf(
        "        )\n        _describe command commands\n        return\n    fi\n"
        "    local command=$words[2]\n    shift words\n    ((CURRENT--))\n    case $command in\n");
    for (size_t i = 0; a->table[i]; i++) {
        const struct command *c = a->table[i];
        if (c->hidden)
            continue;
        printf("    %s) _arguments", c->name);
        for (size_t k = 0; command_option(c, k, &o); k++)
            zsh_option(&o);
        if (source_of(c->completes).kind != NOTHING) {
            printf(" \\\n        '*:word:'");
            zsh_action(c->completes);
        }
        printf(" ;;\n");
    }
    printf("    esac\n}\n_trainyard \"$@\"\n");
}

/* ---- fish ------------------------------------------------------------------ */

static void fish_source(const char *what)
{
    struct source s = source_of(what);
    switch (s.kind) {
    case FILES:
        printf(" -F");
        break;
    case ASKED:
        printf(" -a '(%s)'", s.text);
        break;
    case FIXED:
        printf(" -a '");
        print_words(s.text);
        printf("'");
        break;
    case NOTHING:
        break;
    }
}

static void fish_command(const struct command *c)
{
    struct option o;
    printf("complete -c trainyard -n __fish_use_subcommand -a %s -d '", c->name);
    print_quoted(c->summary, "\\");
    printf("'\n");
    for (size_t i = 0; command_option(c, i, &o); i++) {
        printf("complete -c trainyard -n '__fish_seen_subcommand_from %s' -l %s", c->name, o.name);
        if (o.letter)
            printf(" -s %c", o.letter);
        if (needs_value(&o))
            printf(source_of(o.value).kind == FILES ? " -r" : " -x");
        fish_source(o.value);
        printf(" -d '");
        print_quoted(o.help, "\\");
        printf("'\n");
    }
    if (source_of(c->completes).kind == NOTHING)
        return;
    printf("complete -c trainyard -n '__fish_seen_subcommand_from %s'", c->name);
    fish_source(c->completes);
    printf("\n");
}

static void print_fish(const struct args *a)
{
    printf("# fish completion for trainyard: trainyard completion fish | source\n"
           "complete -c trainyard -f\n");
    for (size_t i = 0; a->table[i]; i++)
        if (!a->table[i]->hidden)
            fish_command(a->table[i]);
}

static int run(const struct args *args)
{
    static const struct {
        const char *shell;
        void (*print)(const struct args *args);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    struct err err;
    for (size_t i = 0; i < COUNT_OF(shells); i++)
        if (!strcmp(args->operands.at[0], shells[i].shell)) {
            shells[i].print(args);
            return 0;
        }
    err_set(&err, ERR_INVALID, "'%s': expected bash, zsh or fish", args->operands.at[0]);
    return command_fail(args->command, &err);
}

const struct command command_completion = {
    .name = "completion",
    .summary = "Print a completion script for a shell",
    .operands = "SHELL",
    .min_operands = 1,
    .max_operands = 1,
    .completes = "bash|zsh|fish",
    .examples = "  eval \"$(trainyard completion bash)\"\n  trainyard completion fish | source",
    .run = run,
};
