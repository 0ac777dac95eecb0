/* trainyard completion SHELL: a script that completes commands, options and
 * operands, made from the command table. Words that only the program knows
 * (policies, jobs, nodes) it asks the program for. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

/* How the shells ask for the words of a kind of operand. */
static const char *words_of(const char *completes)
{
    static const struct {
        const char *kind, *command;
    } asks[] = {
        {"POLICY", "trainyard policies --names 2>/dev/null"},
        {"JOB", "trainyard ps --quiet 2>/dev/null"},
        {"NODE", "trainyard nodes --quiet 2>/dev/null"},
    };
    for (size_t i = 0; i < COUNT_OF(asks); i++)
        if (!strcmp(asks[i].kind, completes))
            return asks[i].command;
    return NULL;
}

static void print_words(const char *choices, char separator)
{
    for (; *choices; choices++)
        putchar(*choices == '|' ? separator : *choices);
}

static void print_names(const struct args *a)
{
    for (size_t i = 0; a->table[i]; i++)
        if (!a->table[i]->hidden)
            printf("%s%s", i ? " " : "", a->table[i]->name);
}

static void print_options(const struct command *c)
{
    for (size_t i = 0; c->options && c->options[i].name; i++)
        printf("--%s ", c->options[i].name);
    printf("--help");
}

static void bash_command(const struct command *c)
{
    printf("    %s)\n        options='", c->name);
    print_options(c);
    printf("'\n");
    if (c->completes && !strcmp(c->completes, "FILE")) {
        printf("        files=1\n");
    } else if (c->completes && words_of(c->completes)) {
        printf("        words=$(%s)\n", words_of(c->completes));
    } else if (c->completes) {
        printf("        words='");
        print_words(c->completes, ' ');
        printf("'\n");
    }
    printf("        ;;\n");
}

static void print_bash(const struct args *a)
{
    printf("# bash completion for trainyard: eval \"$(trainyard completion bash)\"\n"
           "_trainyard() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} options='' words='' files=''\n"
           "    COMPREPLY=()\n"
           "    if ((COMP_CWORD == 1)); then\n"
           "        mapfile -t COMPREPLY < <(compgen -W '");
    print_names(a);
    printf("' -- \"$word\")\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; a->table[i]; i++)
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

/* Prints a text inside single quotes and, for zsh, inside brackets. */
static void print_quoted(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else if (strchr("[]:", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_operand(const struct command *c)
{
    if (!c->completes)
        return;
    if (!strcmp(c->completes, "FILE")) {
        printf(" '*:file:_files'");
    } else if (words_of(c->completes)) {
        printf(" \"*:name:(${(f)$(%s)})\"", words_of(c->completes));
    } else {
        printf(" '*:word:(");
        print_words(c->completes, ' ');
        printf(")'");
    }
}

static void print_zsh(const struct args *a)
{
    printf("#compdef trainyard\n"
           "# zsh completion for trainyard: trainyard completion zsh > ~/.zfunc/_trainyard\n"
           "_trainyard() {\n    if ((CURRENT == 2)); then\n        local -a commands=(\n");
    for (size_t i = 0; a->table[i]; i++)
        if (!a->table[i]->hidden) {
            printf("            '%s:", a->table[i]->name);
            print_quoted(a->table[i]->summary);
            printf("'\n");
        }
    printf(
        "        )\n        _describe command commands\n        return\n    fi\n"
        "    local command=$words[2]\n    shift words\n    ((CURRENT--))\n    case $command in\n");
    for (size_t i = 0; a->table[i]; i++) {
        const struct command *c = a->table[i];
        printf("    %s) _arguments", c->name);
        for (size_t k = 0; c->options && c->options[k].name; k++) {
            const struct option *o = &c->options[k];
            printf(" '%s--%s%s[", o->many ? "*" : "", o->name, o->value ? "=" : "");
            print_quoted(o->help);
            printf("]%s%s'", o->value ? ":" : "", o->value ? "value:" : "");
        }
        zsh_operand(c);
        printf(" ;;\n");
    }
    printf("    esac\n}\n_trainyard \"$@\"\n");
}

static void print_fish(const struct args *a)
{
    printf("# fish completion for trainyard: trainyard completion fish | source\n"
           "complete -c trainyard -f\n");
    for (size_t i = 0; a->table[i]; i++) {
        const struct command *c = a->table[i];
        if (!c->hidden) {
            printf("complete -c trainyard -n __fish_use_subcommand -a %s -d '", c->name);
            print_quoted(c->summary);
            printf("'\n");
        }
        for (size_t k = 0; c->options && c->options[k].name; k++) {
            const struct option *o = &c->options[k];
            printf("complete -c trainyard -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                   o->name);
            if (o->letter)
                printf(" -s %c", o->letter);
            printf("%s -d '", o->value ? " -r" : "");
            print_quoted(o->help);
            printf("'\n");
        }
        if (!c->completes)
            continue;
        printf("complete -c trainyard -n '__fish_seen_subcommand_from %s' ", c->name);
        if (!strcmp(c->completes, "FILE")) {
            printf("-F\n");
        } else if (words_of(c->completes)) {
            printf("-a '(%s)'\n", words_of(c->completes));
        } else {
            printf("-a '");
            print_words(c->completes, ' ');
            printf("'\n");
        }
    }
}

static int run(const struct args *args)
{
    const char *shell = args->operands.at[0];
    struct err err;
    if (!strcmp(shell, "bash"))
        print_bash(args);
    else if (!strcmp(shell, "zsh"))
        print_zsh(args);
    else if (!strcmp(shell, "fish"))
        print_fish(args);
    else {
        err_set(&err, ERR_INVALID, "'%s': expected bash, zsh or fish", shell);
        return command_fail(args->command, &err);
    }
    return 0;
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
