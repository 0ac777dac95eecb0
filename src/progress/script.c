/* Owns the search for limits in configuration files and scripts.
 *
 * One reader serves all formats: a name, a mark (":" or "="), a number. That is YAML,
 * JSON, TOML, INI, Caffe's and darknet's settings, assignments and keyword arguments
 * of Python alike. In scripts the defaults of options are read as well:
 *
 *   parser.add_argument('--epochs', type=int, default=14)
 *   flags.DEFINE_integer("num_steps", 1000, "...")
 *   for epoch in range(1, 15):
 *   for epoch in range(start_epoch, start_epoch + 200): */
#include "progress/script.h"

#include <stdio.h>
#include <string.h>

#include "base/letter.h"
#include "progress/line.h"

/* An option's declaration may go over some lines. */
#define DECLARATION_BYTES 400
#define NAME_BYTES 48

struct source {
    struct progress_plan *plan;
    enum progress_origin origin;
    const char *path; /* without its folders */
    const char *text, *end;
};

static bool is_name_byte(char c)
{
    return letter_is_alpha(c) || letter_is_digit(c) || c == '_' || c == '-' || c == '.';
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

static void add(const struct source *s, const char *name, size_t n, int64_t value)
{
    enum progress_unit unit = progress_plan_unit(name, n);
    char from[PROGRESS_FROM_BYTES];
    if (unit == PROGRESS_UNIT_NONE || n >= NAME_BYTES)
        return;
    snprintf(from, sizeof from, "%s: %.*s %lld", s->path, (int)n, name, (long long)value);
    progress_plan_add(s->plan, unit, value, s->origin, from);
}

/* A number that nothing but a mark or a comment follows: not 10 * n, not 3.5. */
static bool read_value(const char *p, const char *end, int64_t *out)
{
    size_t n = progress_plan_value(p, (size_t)(end - p), out);
    if (!n)
        return false;
    p += n;
    if (p < end && (is_name_byte(*p) || *p == '('))
        return false;
    if (end - p > 1 && *p == ',' && letter_is_digit(p[1]))
        return false; /* a list */
    p = skip_blanks(p, end);
    return p == end || !strchr("*/+-%", *p);
}

/* What follows a name: "= 14", ": 14", "': 14", ": int = 14". */
static bool read_assigned(const char *p, const char *end, int64_t *out)
{
    if (p < end && (*p == '"' || *p == '\''))
        p++;
    p = skip_blanks(p, end);
    if (p < end && *p == ':') {
        const char *type = skip_blanks(p + 1, end);
        if (end - type > 3 && !memcmp(type, "int", 3))
            p = skip_blanks(type + 3, end);
    }
    if (p >= end || (*p != ':' && *p != '='))
        return false;
    p = skip_blanks(p + 1, end);
    return p < end && *p != '=' && read_value(p, end, out);
}

static const char *skip_name(const char *p, const char *end)
{
    while (p < end && is_name_byte(*p))
        p++;
    return p;
}

/* Where the number begins in "start, start + 200)", the arguments of range(); NULL = they are
 * not of this form. */
static const char *find_length(const char *p, const char *end)
{
    const char *stop = skip_name(p, end);
    size_t n = (size_t)(stop - p);
    if (!n || !letter_is_alpha(*p) || stop == end || *stop != ',')
        return NULL;
    const char *again = skip_blanks(stop + 1, end);
    if ((size_t)(end - again) <= n || memcmp(again, p, n) != 0)
        return NULL;
    const char *plus = skip_blanks(again + n, end);
    return plus < end && *plus == '+' ? skip_blanks(plus + 1, end) : NULL;
}

/* "for epoch in range(1, 15)" at the word "for". */
static void look_at_loop(const struct source *s, const char *p)
{
    const char *name = skip_blanks(p + 3, s->end), *q = skip_name(name, s->end);
    static const char in_range[] = " in range(";
    size_t n = sizeof in_range - 1;
    if (q == name || (size_t)(s->end - q) < n || memcmp(q, in_range, n) != 0)
        return;
    enum progress_unit unit = progress_unit_of_word(name, (size_t)(q - name));
    int64_t first = 0, last;
    const char *at = q + n, *length_at = find_length(at, s->end);
    at = length_at ? length_at : at;
    size_t length = progress_plan_value(at, (size_t)(s->end - at), &last);
    if (!length && s->end - at > 1 && *at == '0' && at[1] == ',')
        length = 1;
    if (!length)
        return;
    at += length;
    if (at < s->end && *at == ',') {
        first = length == 1 && at[-1] == '0' ? 0 : last;
        at = skip_blanks(at + 1, s->end);
        length = progress_plan_value(at, (size_t)(s->end - at), &last);
        at += length;
    }
    if (!length || at >= s->end || *at != ')' || last <= first || unit == PROGRESS_UNIT_NONE)
        return;
    char from[PROGRESS_FROM_BYTES];
    snprintf(from, sizeof from, "%s: %.*s", s->path, (int)(at + 1 - p), p);
    progress_plan_add(s->plan, unit, last - first, s->origin, from);
}

/* The name of an option in quotes after `p`: "'--epochs'". */
static const char *option_name(const char *p, const char *end, size_t *n)
{
    while (p < end && *p != ')' && *p != '=') {
        if (*p != '"' && *p != '\'') {
            p++;
            continue;
        }
        char quote = *p++;
        const char *name = p;
        while (p < end && *p != quote && *p != '\n')
            p++;
        while (name < p && *name == '-')
            name++;
        *n = (size_t)(p - name);
        if (progress_plan_unit(name, *n) != PROGRESS_UNIT_NONE)
            return name;
        p++;
    }
    return NULL;
}

/* The declaration of an option at p, which has its default. */
static void look_at_option(const struct source *s, const char *p)
{
    const char *end = s->end - p > DECLARATION_BYTES ? p + DECLARATION_BYTES : s->end;
    size_t n;
    int64_t value;
    const char *next = progress_find(p, (size_t)(end - p), "add_argument");
    end = next ? next : end;
    const char *name = option_name(p, end, &n);
    if (!name)
        return;
    const char *given = progress_find(name, (size_t)(end - name), "default");
    if (given) {
        if (read_assigned(given + strlen("default"), end, &value))
            add(s, name, n, value);
        return;
    }
    const char *q = name + n + 1;
    if (q < end && *q == ',' && read_value(skip_blanks(q + 1, end), end, &value))
        add(s, name, n, value); /* flags.DEFINE_integer */
}

static bool begins(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - p) >= n && !memcmp(p, word, n);
}

/* A name begins at p: where it ends. */
static const char *look_at_name(const struct source *s, const char *p)
{
    const char *end = p;
    int64_t value;
    while (end < s->end && is_name_byte(*end))
        end++;
    if (s->origin == PROGRESS_FROM_SCRIPT) {
        if (end - p == 3 && begins(p, s->end, "for"))
            look_at_loop(s, p);
        if (progress_find(p, (size_t)(end - p), "add_argument") ||
            progress_find(p, (size_t)(end - p), "DEFINE_int") || begins(p, end, "click.option"))
            look_at_option(s, end);
    }
    if (read_assigned(end, s->end, &value))
        add(s, p, (size_t)(end - p), value);
    return end;
}

static const char *skip_line(const char *p, const char *end)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline ? newline : end;
}

void progress_script_read(struct progress_plan *p, enum progress_file_kind kind, const char *path,
                          const char *text, size_t n)
{
    const char *slash = strrchr(path, '/');
    struct source s = {
        .plan = p,
        .origin = kind == PROGRESS_FILE_SCRIPT ? PROGRESS_FROM_SCRIPT : PROGRESS_FROM_CONFIG,
        .path = slash ? slash + 1 : path,
        .text = text,
        .end = text + n,
    };
    if (kind == PROGRESS_FILE_OTHER)
        return;
    for (const char *at = text; at < s.end;) {
        if (*at == '#' || (*at == '/' && at + 1 < s.end && at[1] == '/')) {
            at = skip_line(at, s.end);
        } else if (letter_is_alpha(*at) || *at == '_') {
            at = look_at_name(&s, at);
        } else {
            at += 1;
        }
    }
}
