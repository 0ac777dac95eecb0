/* Owns the parsing of a command's words and its help text. */
#include "cli/command.h"

#include "base/str.h"

static const struct option help_option = {"help", 'h', NULL, "show this help", false};

static const char *option_name(const void *ctx, size_t i)
{
    return ((const struct option *)ctx)[i].name;
}

static size_t option_count(const struct command *c)
{
    size_t n = 0;
    while (c->options && c->options[n].name)
        n++;
    return n;
}

static const struct option *find_long(const struct command *c, const char *name, size_t length)
{
    for (size_t i = 0; i < option_count(c); i++)
        if (strlen(c->options[i].name) == length && !strncmp(c->options[i].name, name, length))
            return &c->options[i];
    return length == 4 && !strncmp(name, "help", 4) ? &help_option : NULL;
}

static const struct option *find_letter(const struct command *c, char letter)
{
    for (size_t i = 0; i < option_count(c); i++)
        if (c->options[i].letter == letter)
            return &c->options[i];
    return letter == 'h' ? &help_option : NULL;
}

static int unknown(const struct command *c, const char *word, size_t length, struct err *err)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const char *near = str_nearest(name, option_count(c), option_name, c->options);
    if (near)
        return err_set(err, ERR_INVALID, "unknown option --%s; did you mean --%s?", name, near);
    return err_set(err, ERR_INVALID, "unknown option --%s", name);
}

static int keep(struct args *a, const struct option *o, const char *value, struct err *err)
{
    if (!o->many)
        for (size_t i = 0; i < a->given.n; i++)
            if (a->given.at[i].option == o && o->value)
                return err_set(err, ERR_INVALID, "--%s is given twice", o->name);
    VEC_PUSH(&a->given, (struct given){o, value});
    return 0;
}

/* One word that begins with a dash; *i moves on when it takes the next word. */
static int parse_option(struct args *a, int argc, char **argv, int *i, struct err *err)
{
    const char *word = argv[*i], *value = NULL;
    const struct option *o;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        o = find_long(a->command, word + 2, length);
        if (!o)
            return unknown(a->command, word + 2, length, err);
        value = word[2 + length] == '=' ? word + 3 + length : NULL;
    } else {
        o = find_letter(a->command, word[1]);
        if (!o)
            return err_set(err, ERR_INVALID, "unknown option -%c", word[1]);
        value = word[2] ? word + 2 : NULL;
    }
    if (!o->value && value)
        return err_set(err, ERR_INVALID, "--%s takes no value", o->name);
    if (o->value && !value) {
        if (*i + 1 >= argc)
            return err_set(err, ERR_INVALID, "--%s needs a value: %s", o->name, o->value);
        value = argv[++*i];
    }
    return keep(a, o, value ? value : "", err);
}

int args_parse(const struct command *c, int argc, char **argv, struct args *out, struct err *err)
{
    struct args a = {.command = c};
    bool options = true;
    for (int i = 0; i < argc; i++) {
        if (options && !strcmp(argv[i], "--")) {
            options = false;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            if (parse_option(&a, argc, argv, &i, err) < 0)
                goto fail;
        } else {
            VEC_PUSH(&a.operands, argv[i]);
        }
    }
    if (args_get(&a, "help")) {
        *out = a;
        return 0;
    }
    if (a.operands.n < c->min_operands) {
        err_set(err, ERR_INVALID, "%s is missing", c->operands);
        goto fail;
    }
    if (a.operands.n > c->max_operands) {
        err_set(err, ERR_INVALID, "'%s' is one word too many", a.operands.at[c->max_operands]);
        goto fail;
    }
    *out = a;
    return 0;
fail:
    args_done(&a);
    return -1;
}

void args_done(struct args *a)
{
    VEC_DONE(&a->operands);
    VEC_DONE(&a->given);
}

const char *args_get(const struct args *a, const char *name)
{
    for (size_t i = a->given.n; i-- > 0;)
        if (!strcmp(a->given.at[i].option->name, name))
            return a->given.at[i].value;
    return NULL;
}

const char *args_nth(const struct args *a, const char *name, size_t i)
{
    for (size_t k = 0; k < a->given.n; k++)
        if (!strcmp(a->given.at[k].option->name, name) && i-- == 0)
            return a->given.at[k].value;
    return NULL;
}

static void help_options(const struct command *c, FILE *out)
{
    fprintf(out, "\nOptions:\n");
    for (size_t i = 0; i <= option_count(c); i++) {
        const struct option *o = i < option_count(c) ? &c->options[i] : &help_option;
        char left[64], letter[4] = "";
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c,", o->letter);
        snprintf(left, sizeof left, "%-3s --%s%s%s", letter, o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        fprintf(out, "  %-28s %s%s\n", left, o->help, o->many ? " (repeatable)" : "");
    }
}

void command_help(const struct command *c, FILE *out)
{
    fprintf(out, "Usage: trainyard %s%s%s [options]\n\n%s.\n", c->name, c->operands ? " " : "",
            c->operands ? c->operands : "", c->summary);
    if (c->details)
        fprintf(out, "\n%s\n", c->details);
    help_options(c, out);
    if (c->examples)
        fprintf(out, "\nExamples:\n%s\n", c->examples);
}

int command_fail(const struct command *c, const struct err *err)
{
    fprintf(stderr, "trainyard %s: %s\n", c->name, err->text);
    if (err->code == ERR_INVALID)
        fprintf(stderr, "`trainyard %s --help` shows how it is used\n", c->name);
    return err_exit(err->code);
}
