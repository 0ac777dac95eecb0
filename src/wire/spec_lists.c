/* Owns the fields of a job request that grow: words, environment, dependencies.
 *
 * An array in the arena is full when its length is a power of two; then it is copied to one of
 * twice the size. */
#include "wire/spec_lists.h"

#include "base/str.h"
#include "wire/value.h"

enum {
    WORD_MAX = 128 * 1024 - 1, /* of one argument or variable (execve(2)) */
    WORDS_MAX = 65536,
    VARIABLES_MAX = 4096,
    DEPS_MAX = 10000,
};

static void *with_room(struct arena *a, void *at, uint32_t n, size_t size)
{
    if (n & (n - 1))
        return at;
    void *more = arena_raw(a, (n ? 2 * (size_t)n : 1) * size);
    if (n)
        memcpy(more, at, n * size);
    return more;
}

static int check_word(const char *text, struct err *err)
{
    char shown[VALUE_SHOWN];
    if (strlen(text) > WORD_MAX)
        return err_set(err, ERR_INVALID, "'%s' is longer than %d bytes", value_show(text, shown),
                       WORD_MAX);
    return 0;
}

static int add_word(struct spec *s, struct spec_list *list, uint32_t most, const char *text,
                    struct err *err)
{
    if (list->n == most)
        return err_set(err, ERR_INVALID, "more than %u entries", most);
    list->at = with_room(&s->arena, list->at, list->n, sizeof *list->at);
    list->at[list->n++] = arena_strdup(&s->arena, text);
    return 0;
}

int spec_list_add(struct spec *s, struct spec_list *list, const char *text, struct err *err)
{
    return check_word(text, err) < 0 ? -1 : add_word(s, list, WORDS_MAX, text, err);
}

static const char **find_variable(const struct spec_list *env, const char *key, size_t length)
{
    for (uint32_t i = 0; i < env->n; i++)
        if (!strncmp(env->at[i], key, length) && env->at[i][length] == '=')
            return &env->at[i];
    return NULL;
}

const char *spec_env_get(const struct spec_list *env, const char *key, size_t length)
{
    const char **pair = find_variable(env, key, length);
    return pair ? *pair + length + 1 : NULL;
}

int spec_env_add(struct spec *s, struct spec_list *env, const char *text, struct err *err)
{
    char shown[VALUE_SHOWN];
    size_t n = strcspn(text, "=");
    if (n == 0 || !text[n])
        return err_set(err, ERR_INVALID, "'%s': expected KEY=VALUE", value_show(text, shown));
    if (check_word(text, err) < 0)
        return -1;
    const char **pair = find_variable(env, text, n);
    if (!pair)
        return add_word(s, env, VARIABLES_MAX, text, err);
    *pair = arena_strdup(&s->arena, text);
    return 0;
}

static const char *const dep_names[] = {"after", "afterok", "afternotok", "afterany", "singleton"};

const char *spec_dep_name(enum spec_dep_kind kind)
{
    return dep_names[kind];
}

static int push_dep(struct spec *s, enum spec_dep_kind kind, const char *job, size_t n,
                    struct err *err)
{
    if (s->after.n == DEPS_MAX)
        return err_set(err, ERR_INVALID, "more than %d jobs", DEPS_MAX);
    s->after.at = with_room(&s->arena, s->after.at, s->after.n, sizeof *s->after.at);
    s->after.at[s->after.n++] =
        (struct spec_dep){kind, job ? arena_strndup(&s->arena, job, n) : NULL};
    return 0;
}

static int push_jobs(struct spec *s, enum spec_dep_kind kind, const char *p, const char *end,
                     struct err *err)
{
    for (;; p++) {
        const char *colon = memchr(p, ':', (size_t)(end - p));
        size_t n = (size_t)((colon ? colon : end) - p);
        if (n == 0)
            return err_set(err, ERR_INVALID, "expected a job after '%s:', such as %s:12,13",
                           dep_names[kind], dep_names[kind]);
        if (push_dep(s, kind, p, n, err) < 0)
            return -1;
        if (!colon)
            return 0;
        p = colon;
    }
}

static bool is_word(const char *p, size_t n, const char *word)
{
    return strlen(word) == n && !strncmp(p, word, n);
}

/* One part between commas: "KIND:JOB:JOB", "singleton", or one more job of the previous kind
 * (-1 = none yet). */
static int add_part(struct spec *s, const char *p, size_t n, int *kind, struct err *err)
{
    char shown[VALUE_SHOWN];
    const char *colon = memchr(p, ':', n);
    if (!colon && is_word(p, n, "singleton"))
        return push_dep(s, SPEC_SINGLETON, NULL, 0, err);
    for (int k = SPEC_AFTER; colon && k < SPEC_SINGLETON; k++)
        if (is_word(p, (size_t)(colon - p), dep_names[k])) {
            *kind = k;
            return push_jobs(s, (enum spec_dep_kind)k, colon + 1, p + n, err);
        }
    if (!colon && *kind >= 0)
        return push_jobs(s, (enum spec_dep_kind) * kind, p, p + n, err);
    AUTO_FREE char *part = xstrndup(p, n);
    return err_set(err, ERR_INVALID,
                   "'%s': expected after:, afterok:, afternotok: or afterany: with jobs, "
                   "or singleton",
                   value_show(part, shown));
}

int spec_deps_add(struct spec *s, const char *text, struct err *err)
{
    int kind = -1;
    for (;; text++) {
        size_t n = strcspn(text, ",");
        if (add_part(s, text, n, &kind, err) < 0)
            return -1;
        text += n;
        if (!*text)
            return 0;
    }
}
