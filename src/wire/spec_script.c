/* Owns the reading of scripts: which lines hold options, and the options of #TRAINYARD lines,
 * which are those of the command line. */
#include "wire/spec_script.h"

#include <stdio.h>

#include "base/str.h"
#include "wire/script_options.h"
#include "wire/slurm.h"
#include "wire/spec_set.h"
#include "wire/value.h"

enum { SCRIPT_MAX = 1 << 20 };

struct script {
    const char *file; /* as errors show it */
    const char *text;
    struct spec *s;
};

static const char *option_name(const void *ctx, size_t i)
{
    const char(*names)[SPEC_OPTION_SIZE] = ctx;
    return names[i];
}

/* "unknown option --cpu; did you mean --cpus?" */
static int unknown_option(const struct script_option *o, struct err *err)
{
    char names[64][SPEC_OPTION_SIZE], shown[VALUE_SHOWN];
    size_t n = 0;
    for (const struct spec_field *f = spec_fields; f->name && n < COUNT_OF(names); f++)
        if (!f->not_option)
            spec_option_name(f, names[n++]);
    const char *near = o->is_long ? str_nearest(o->name, n, option_name, names) : NULL;
    err_set(err, ERR_INVALID, "unknown option %s%s%s%s%s", o->is_long ? "--" : "-",
            value_show(o->name, shown), near ? "; did you mean --" : "", near ? near : "",
            near ? "?" : "");
    return spec_place_fail(o->place, err);
}

static const struct spec_field *find_option(const struct script_option *o)
{
    if (o->is_long)
        return spec_find_option(o->name);
    for (const struct spec_field *f = spec_fields; f->name; f++)
        if (f->letter && f->letter == o->name[0] && !f->not_option)
            return f;
    return NULL;
}

static int read_trainyard_line(struct script *x, struct script_words *words, struct err *err)
{
    struct script_option o;
    int got;
    while ((got = script_option(words, &o, err)) > 0) {
        const struct spec_field *f = find_option(&o);
        if (!f)
            return unknown_option(&o, err);
        const char *value =
            f->type == SPEC_FLAG && !o.value ? "true" : script_value(words, &o, err);
        if (!value)
            return -1;
        if (spec_set(x->s, f, value, err) < 0)
            return spec_place_fail(o.place, err);
        spec_place_set(x->s, f, o.place);
    }
    return got;
}

/* Whether a line is empty or a comment. */
static bool is_header(const char *line, size_t n)
{
    size_t blanks = strspn(line, " \t\r\f\v");
    return blanks >= n || line[blanks] == '#';
}

/* Reads the options of each line that begins with `mark`, as Slurm's or as our own. */
static int each_line(struct script *x, const char *mark, struct slurm *slurm, struct err *err)
{
    struct arena *a = &x->s->arena;
    size_t skip = strlen(mark);
    uint32_t number = 1;
    for (const char *p = x->text; *p; number++) {
        size_t n = strcspn(p, "\n");
        if (!is_header(p, n))
            return 0;
        if (!strncmp(p, mark, skip) && (n == skip || p[skip] == ' ' || p[skip] == '\t')) {
            struct spec_place place = {x->file, number, (uint32_t)skip + 1};
            struct script_words words;
            if (script_words(p + skip, n - skip, place, a, &words, err) < 0)
                return -1;
            if ((slurm ? slurm_take(slurm, &words, err) : read_trainyard_line(x, &words, err)) < 0)
                return -1;
        }
        p += n + (p[n] == '\n');
    }
    return 0;
}

static int check_script(const struct script *x, struct err *err)
{
    const char *dos = strstr(x->text, "\r\n");
    size_t blanks = strspn(x->text, " \t\r\n\f\v");
    if (!x->text[blanks])
        return err_set(err, ERR_INVALID, "%s: the script is empty", x->file);
    if (!strncmp(x->text, "#!", 2)) {
        const char *p = x->text + 2 + strspn(x->text + 2, " \t");
        err_set(err, ERR_INVALID, "no interpreter after #!; write #!/bin/sh, for example");
        if (!*p || *p == '\n' || *p == '\r')
            return spec_place_fail((struct spec_place){x->file, 1, 3}, err);
    }
    if (!dos)
        return 0;
    err_set(err, ERR_INVALID, "DOS line ending; remove the carriage returns (dos2unix)");
    return spec_place_fail(spec_place_of(x->file, x->text, (size_t)(dos - x->text)), err);
}

/* Slurm's lines first, so that Trainyard's override them in a script for both. */
static int read_lines(struct script *x, struct spec_list *ignored, struct err *err)
{
    struct slurm slurm = {.s = x->s, .ignored = ignored};
    if (each_line(x, "#SBATCH", &slurm, err) < 0 || slurm_finish(&slurm, err) < 0)
        return -1;
    return each_line(x, "#TRAINYARD", NULL, err);
}

int spec_read_script(const char *name, const char *text, size_t n, struct spec *s,
                     struct spec_list *ignored, struct err *err)
{
    struct script x = {.file = spec_place_file(&s->arena, name), .s = s};
    if (spec_place_check_text(x.file, text, n, SCRIPT_MAX, err) < 0)
        return -1;
    x.text = arena_strndup(&s->arena, text, n);
    *ignored = (struct spec_list){0};
    spec_place_set(s, NULL, (struct spec_place){x.file, 1, 1});
    if (check_script(&x, err) < 0 || read_lines(&x, ignored, err) < 0)
        return -1;
    s->script = x.text;
    const struct spec_field *command = spec_find("command", err);
    spec_clear(s, command);
    return spec_set(s, command, name, err);
}
