/* Owns the splitting of a script's option lines into words and options. */
#include "wire/script_options.h"

#include <stdio.h>

#include "base/str.h"
#include "wire/value.h"

struct scan {
    const char *p, *end;
    struct spec_place at;
};

static void skip(struct scan *s)
{
    if (((unsigned char)*s->p++ & 0xc0) != 0x80)
        s->at.column++;
}

static bool is_blank(const struct scan *s)
{
    return *s->p == ' ' || *s->p == '\t';
}

/* One word up to a blank, without its quotes. */
static int read_word(struct scan *s, struct str *word, struct err *err)
{
    char quote = 0;
    struct spec_place opened = s->at;
    str_add(word, "");
    for (; s->p < s->end && (quote || !is_blank(s)); skip(s)) {
        bool escapes = *s->p == '\\' && quote != '\'' && s->p + 1 < s->end;
        if (!escapes && (*s->p == quote || (!quote && (*s->p == '"' || *s->p == '\'')))) {
            opened = s->at;
            quote = quote ? 0 : *s->p;
            continue;
        }
        if (escapes)
            skip(s);
        str_add_n(word, s->p, 1);
    }
    if (!quote)
        return 0;
    err_set(err, ERR_INVALID, "missing closing quote");
    return spec_place_fail(opened, err);
}

int script_words(const char *line, size_t n, struct spec_place place, struct arena *a,
                 struct script_words *out, struct err *err)
{
    struct scan s = {line, line + n, place};
    /* A word takes at least one byte and a blank. */
    struct script_words words = {.at = ARENA_ARRAY(a, n / 2 + 1, const char *),
                                 .places = ARENA_ARRAY(a, n / 2 + 1, struct spec_place)};
    for (;;) {
        while (s.p < s.end && is_blank(&s))
            skip(&s);
        if (s.p == s.end || *s.p == '#')
            break;
        __attribute__((cleanup(str_done))) struct str word = {0};
        words.places[words.n] = s.at;
        if (read_word(&s, &word, err) < 0)
            return -1;
        words.at[words.n++] = arena_strdup(a, word.at);
    }
    *out = words;
    return 0;
}

int script_option(struct script_words *words, struct script_option *out, struct err *err)
{
    char shown[VALUE_SHOWN];
    if (words->next == words->n)
        return 0;
    const char *word = words->at[words->next];
    struct script_option o = {.place = words->places[words->next]};
    o.is_long = !strncmp(word, "--", 2);
    const char *name = word + (o.is_long ? 2 : 1);
    size_t n = o.is_long ? strcspn(name, "=") : 1;
    if (word[0] != '-' || !name[0] || n == 0) {
        err_set(err, ERR_INVALID, "'%s': expected an option such as --time=2:00:00 or -c 4",
                value_show(word, shown));
        return spec_place_fail(o.place, err);
    }
    snprintf(o.name, sizeof o.name, "%.*s", (int)n, name);
    if (o.is_long)
        o.value = name[n] ? name + n + 1 : NULL;
    else
        o.value = name[1] ? name + 1 : NULL;
    words->next++;
    *out = o;
    return 1;
}

const char *script_value(struct script_words *words, const struct script_option *o, struct err *err)
{
    if (o->value)
        return o->value;
    if (words->next < words->n)
        return words->at[words->next++];
    err_set(err, ERR_INVALID, "%s%s needs a value", o->is_long ? "--" : "-", o->name);
    spec_place_fail(o->place, err);
    return NULL;
}
