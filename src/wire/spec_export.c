/* Owns the choice of variables that go along with a job. */
#include "wire/spec_export.h"

#include <string.h>

#include "base/str.h"
#include "wire/spec_lists.h"
#include "wire/value.h"

static const char blanks[] = ", \t";

/* Whether the name, of n bytes, is the word or begins with what is before its '*'. */
static bool matches(const char *word, size_t length, const char *name, size_t n)
{
    if (length && word[length - 1] == '*')
        return n >= length - 1 && !strncmp(word, name, length - 1);
    return n == length && !strncmp(word, name, n);
}

/* Whether one of the words, separated by commas or blanks, matches. */
static bool is_listed(const char *words, const char *name, size_t n)
{
    for (const char *p = words + strspn(words, blanks); *p; p += strspn(p, blanks)) {
        size_t length = strcspn(p, blanks);
        if (matches(p, length, name, n))
            return true;
        p += length;
    }
    return false;
}

static bool goes_along(const struct spec *s, const char *name, size_t n)
{
    const char *export = s->export ? s->export : "all";
    /* Variables that most programs need. */
    static const char login[] = "HOME,LANG,LOGNAME,PATH,SHELL,TZ,USER";
    /* It would let a job act for the submitter. */
    static const char secret[] = "TRAINYARD_TOKEN";
    if (!spec_has_image(s) && is_listed(login, name, n))
        return true;
    if (!strcmp(export, "all"))
        return !spec_has_image(s) && !is_listed(secret, name, n);
    return strcmp(export, "none") != 0 && is_listed(export, name, n);
}

int spec_export_check(const char *text, struct err *err)
{
    char shown[VALUE_SHOWN];
    size_t words = 0;
    for (const char *p = text + strspn(text, blanks); *p; p += strspn(p, blanks), words++) {
        size_t n = strcspn(p, blanks), star = strcspn(p, "*");
        bool alone = matches("all", 3, p, n) || matches("none", 4, p, n);
        if (memchr(p, '=', n) || star + 1 < n || (alone && (words || p[n])))
            return err_set(err, ERR_INVALID,
                           "'%s': expected all, none, or names such as WANDB_MODE,CUDA_*",
                           value_show(text, shown));
        p += n;
    }
    return words ? 0 : err_set(err, ERR_INVALID, "must not be empty");
}

uint32_t spec_export(struct spec *s, char *const *environment)
{
    uint32_t left_out = 0;
    for (; *environment; environment++) {
        const char *pair = *environment;
        size_t n = strcspn(pair, "=");
        if (!pair[n] || spec_env_get(&s->env, pair, n) || !goes_along(s, pair, n))
            continue;
        if (pair[str_valid_utf8(pair)] || spec_env_add(s, &s->environment, pair, NULL) < 0)
            left_out++;
    }
    return left_out;
}
