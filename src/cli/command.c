/* Owns the parsing of a command's words and its help text. */
#include "cli/command.h"

#include <ctype.h>

#include "base/str.h"
#include "cli/screen_text.h"
#include "wire/spec.h"

static const struct option help_option = {"help", 'h', NULL, "show this help", false};

/* The i-th field that is an option. */
static const struct spec_field *field_at(const struct command *c, size_t i)
{
    for (const struct spec_field *f = c->fields; f && f->name; f++)
        if (!f->not_option && i-- == 0)
            return f;
    return NULL;
}

static struct option option_of_field(const struct spec_field *f)
{
    struct option o = {
        .letter = f->letter, .value = f->value, .help = f->help, .many = spec_field_repeats(f)};
    spec_option_name(f, o.name);
    return o;
}

bool command_option(const struct command *c, size_t i, struct option *out)
{
    size_t own = 0, fields = 0;
    while (c->options && *c->options[own].name)
        own++;
    while (field_at(c, fields))
        fields++;
    if (i < own)
        *out = c->options[i];
    else if (i < own + fields)
        *out = option_of_field(field_at(c, i - own));
    else if (i == own + fields)
        *out = help_option;
    else
        return false;
    return true;
}

static bool find_long(const struct command *c, const char *name, size_t length, struct option *out)
{
    for (size_t i = 0; command_option(c, i, out); i++)
        if (strlen(out->name) == length && !strncmp(out->name, name, length))
            return true;
    return false;
}

static bool find_letter(const struct command *c, char letter, struct option *out)
{
    for (size_t i = 0; command_option(c, i, out); i++)
        if (out->letter == letter)
            return true;
    return false;
}

static const char *name_at(const void *ctx, size_t i)
{
    return ((const struct option *)ctx)[i].name;
}

static int unknown(const struct command *c, const char *word, size_t length, struct err *err)
{
    VEC(struct option) known = {0};
    struct option o;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    for (size_t i = 0; command_option(c, i, &o); i++)
        VEC_PUSH(&known, o);
    const char *near = str_nearest(name, known.n, name_at, known.at);
    if (near)
        err_set(err, ERR_INVALID, "unknown option --%s; did you mean --%s?", name, near);
    else
        err_set(err, ERR_INVALID, "unknown option --%s", name);
    VEC_DONE(&known);
    return -1;
}

static int keep(struct args *a, const struct option *o, const char *value, struct err *err)
{
    if (!o->many && o->value && args_get(a, o->name))
        return err_set(err, ERR_INVALID, "--%s is given more than once", o->name);
    VEC_PUSH(&a->given, (struct given){*o, value});
    return 0;
}

/* Takes the value of an option from the next word, which may be NULL, when the option needs a
 * value or the word looks like one; *value is NULL when it has none. */
static int next_value(const struct option *o, const char *next, const char **value, struct err *err)
{
    bool may_lack = o->value[0] == '[', here_only = may_lack && o->value[1] == '=';
    char letter[8] = "";
    if (next && !strcmp(next, "--"))
        next = NULL; /* the end of the options */
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    if (!next && !may_lack)
        return err_set(err, ERR_INVALID, "%s--%s needs a value: %s", letter, o->name, o->value);
    *value = next && !here_only && (!may_lack || isdigit((unsigned char)*next)) ? next : NULL;
    return 0;
}

/* Adds an option with the value in its own word (NULL = none); *i advances when it takes the
 * next word. */
static int take_option(struct args *a, const struct option *o, const char *value, int argc,
                       char **argv, int *i, struct err *err)
{
    if (!o->value && value)
        return err_set(err, ERR_INVALID, "--%s takes no value", o->name);
    if (o->value && !value) {
        if (next_value(o, *i + 1 < argc ? argv[*i + 1] : NULL, &value, err) < 0)
            return -1;
        *i += value != NULL;
    }
    return keep(a, o, value ? value : "", err);
}

/* "-x", "-x5", or several flags in one word, the last of which may take a value: "-qn 5". */
static int parse_letters(struct args *a, int argc, char **argv, int *i, struct err *err)
{
    struct option o;
    for (const char *p = argv[*i] + 1; *p; p++) {
        if (!find_letter(a->command, *p, &o))
            return err_set(err, ERR_INVALID, "unknown option -%c", *p);
        if (o.value)
            return take_option(a, &o, p[1] ? p + 1 : NULL, argc, argv, i, err);
        if (keep(a, &o, "", err) < 0)
            return -1;
    }
    return 0;
}

/* Reads a word that begins with a dash; *i advances when it takes the next word. */
static int parse_option(struct args *a, int argc, char **argv, int *i, struct err *err)
{
    const char *word = argv[*i];
    struct option o;
    if (word[1] != '-')
        return parse_letters(a, argc, argv, i, err);
    size_t length = strcspn(word + 2, "=");
    if (!find_long(a->command, word + 2, length, &o))
        return unknown(a->command, word + 2, length, err);
    return take_option(a, &o, word[2 + length] == '=' ? word + 3 + length : NULL, argc, argv, i,
                       err);
}

static int parse_words(struct args *a, int argc, char **argv, struct err *err)
{
    bool options = true;
    for (int i = 0; i < argc; i++) {
        if (options && !strcmp(argv[i], "--")) {
            options = false;
            a->dashes = a->operands.n == 0;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            if (parse_option(a, argc, argv, &i, err) < 0)
                return -1;
        } else {
            VEC_PUSH(&a->operands, argv[i]);
            options = options && !a->command->operands_last;
        }
    }
    return 0;
}

static int count_operands(const struct args *a, struct err *err)
{
    const struct command *c = a->command;
    if (args_get(a, "help"))
        return 0;
    if (a->operands.n < c->min_operands)
        return err_set(err, ERR_INVALID, "missing %s", c->operands);
    if (a->operands.n > c->max_operands)
        return err_set(err, ERR_INVALID, "unexpected argument '%s'",
                       a->operands.at[c->max_operands]);
    return 0;
}

/* The path of an empty job would be that of the list of all jobs. */
static int check_jobs(const struct args *a, struct err *err)
{
    const char *what = a->command->completes;
    for (size_t i = 0; what && !strcmp(what, "JOB") && i < a->operands.n; i++)
        if (!*a->operands.at[i])
            return err_set(err, ERR_INVALID,
                           "JOB must not be empty; expected a job's number, its name or a "
                           "unique prefix of its name");
    return 0;
}

int args_parse(const struct command *c, int argc, char **argv, struct args *out, struct err *err)
{
    struct args a = {.command = c};
    if (parse_words(&a, argc, argv, err) < 0 || count_operands(&a, err) < 0 ||
        check_jobs(&a, err) < 0) {
        args_done(&a);
        return -1;
    }
    *out = a;
    return 0;
}

void args_done(struct args *a)
{
    VEC_DONE(&a->operands);
    VEC_DONE(&a->given);
}

const char *args_get(const struct args *a, const char *name)
{
    for (size_t i = a->given.n; i-- > 0;)
        if (!strcmp(a->given.at[i].option.name, name))
            return a->given.at[i].value;
    return NULL;
}

const char *args_nth(const struct args *a, const char *name, size_t i)
{
    for (size_t k = 0; k < a->given.n; k++)
        if (!strcmp(a->given.at[k].option.name, name) && i-- == 0)
            return a->given.at[k].value;
    return NULL;
}

enum { HELP_WIDTH = 96, HELP_LEFT = 30 };

static void help_option_line(const struct option *o, struct str *out)
{
    char left[160], letter[4] = "";
    struct str text = {0};
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c,", o->letter);
    snprintf(left, sizeof left, "  %-3s --%s%s%s", letter, o->name, o->value ? " " : "",
             o->value ? o->value : "");
    if (strlen(left) > HELP_LEFT) {
        str_addf(out, "%s\n", left);
        left[0] = '\0';
    }
    str_addf(&text, "%s%s", o->help, o->many ? " (repeatable)" : "");
    char first[HELP_LEFT + 2];
    snprintf(first, sizeof first, "%-*.*s ", HELP_LEFT, HELP_LEFT, left);
    screen_add_filled(out, text.at, first, HELP_WIDTH);
    str_done(&text);
}

/* Adds each line of the text, wrapped when it is too long. */
static void help_lines(const char *text, struct str *out)
{
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        AUTO_FREE char *line = xstrndup(text, n);
        screen_add_filled(out, line, "", HELP_WIDTH);
    }
}

void command_help(const struct command *c, FILE *out)
{
    const char *blank = c->operands ? " " : "", *operands = c->operands ? c->operands : "";
    struct option o;
    struct str text = {0};
    if (c->operands_last)
        str_addf(&text, "Usage: trainyard %s [options]%s%s\n", c->name, blank, operands);
    else
        str_addf(&text, "Usage: trainyard %s%s%s [options]\n", c->name, blank, operands);
    str_addf(&text, "\n%s.\n", c->summary);
    if (c->details) {
        str_add(&text, "\n");
        help_lines(c->details, &text);
    }
    str_add(&text, "\nOptions:\n");
    for (size_t i = 0; command_option(c, i, &o); i++)
        help_option_line(&o, &text);
    if (c->examples)
        str_addf(&text, "\nExamples:\n%s\n", c->examples);
    fputs(text.at, out);
    str_done(&text);
}

int command_fail(const struct command *c, const struct err *err)
{
    struct str text = {0};
    screen_add(&text, err->text);
    fprintf(stderr, "trainyard %s: %s\n", c->name, text.at);
    str_done(&text);
    if (err->code == ERR_INVALID)
        fprintf(stderr, "try `trainyard %s --help`\n", c->name);
    return err_exit(err->code);
}
