/* Owns the choice of values, among them those at the edges of what is allowed. */
#include "support/random_record.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int64_t random_whole(struct rng *rng, int64_t lo, int64_t hi)
{
    uint64_t span = (uint64_t)hi - (uint64_t)lo;
    uint64_t near = rng_below(rng, span < 10 ? span + 1 : 10);
    switch (rng_below(rng, 3)) {
    case 0:
        return (int64_t)((uint64_t)lo + near);
    case 1:
        return (int64_t)((uint64_t)hi - near);
    default:
        return (int64_t)((uint64_t)lo +
                         (span == UINT64_MAX ? rng_next(rng) : rng_below(rng, span + 1)));
    }
}

static double random_number(struct rng *rng, const struct field *f)
{
    static const double odd[] = {0.0, -0.0, 0.1, 1e-300, -1e300, INFINITY, -INFINITY, 1.0 / 3};
    if (f->lo || f->hi)
        return (double)f->lo + rng_uniform(rng) * (double)(f->hi - f->lo);
    if (rng_below(rng, 2))
        return odd[rng_below(rng, sizeof odd / sizeof *odd)];
    return rng_below(rng, 10) ? rng_normal(rng) * 1e6 : NAN;
}

/* Whatever a text may hold: quotes, control characters, letters of several bytes. */
static const char *random_text(struct rng *rng, size_t lo, size_t hi, struct arena *a)
{
    static const char *const parts[] = {"a",    "Z9", "\"", "\\", "\n",     "\t",     "\x01",
                                        "\x7f", "=",  " ",  "/",  "\u00fc", "\u20ac", "\U0001F600"};
    char *text = arena_alloc(a, hi + 1);
    size_t n = 0, want = lo + rng_below(rng, hi - lo + 1);
    while (n < want) {
        const char *part = parts[rng_below(rng, sizeof parts / sizeof *parts)];
        if (n + strlen(part) > hi)
            part = "x";
        n += (size_t)snprintf(text + n, hi + 1 - n, "%s", part);
    }
    return text;
}

static const char **random_list(struct rng *rng, bool pairs, struct arena *a)
{
    size_t n = 1 + rng_below(rng, 5);
    const char **list = ARENA_ARRAY(a, n + 1, const char *);
    for (size_t i = 0; i < n; i++) {
        char *line = arena_alloc(a, 64);
        const char *text = random_text(rng, 0, 20, a);
        if (pairs)
            snprintf(line, 64, "NAME%zu=%s", i, text);
        list[i] = pairs ? line : text;
    }
    return list;
}

static void random_numbers(struct rng *rng, struct field_numbers *out)
{
    static const struct field any = {.name = "", .type = FIELD_NUMBER};
    out->n = 1 + (uint32_t)rng_below(rng, FIELD_NUMBERS_MAX);
    for (uint32_t i = 0; i < out->n; i++) {
        snprintf(out->at[i].name, sizeof out->at[i].name, "metric%u", i);
        out->at[i].value = random_number(rng, &any);
    }
}

static void random_objects(struct rng *rng, const struct record *r, unsigned absent,
                           struct arena *a, void *out)
{
    struct {
        char *at;
        size_t n;
    } list = {.n = 1 + rng_below(rng, 3)};
    list.at = arena_alloc_array(a, list.n, r->size);
    for (size_t i = 0; i < list.n; i++)
        random_record(r, rng, absent, a, list.at + i * r->size);
    memcpy(out, &list, sizeof list);
}

static unsigned count_words(const char *words)
{
    unsigned n = 1;
    for (; *words; words++)
        n += *words == '|';
    return n;
}

static void random_value(const struct field *f, struct rng *rng, unsigned absent, struct arena *a,
                         char *to)
{
    switch (FIELD_KIND(f->type)) {
    case FIELD_U8:
        *(uint8_t *)to = (uint8_t)random_whole(rng, f->lo, f->hi);
        break;
    case FIELD_I32:
        *(int32_t *)to = (int32_t)random_whole(rng, f->lo, f->hi);
        break;
    case FIELD_U32:
        *(uint32_t *)to = (uint32_t)random_whole(rng, f->lo, f->hi);
        break;
    case FIELD_I64:
        *(int64_t *)to = random_whole(rng, f->lo, f->hi);
        break;
    case FIELD_TIME:
        *(usec_t *)to = random_whole(rng, -USEC_LIMIT, USEC_LIMIT);
        break;
    case FIELD_SECONDS:
        *(usec_t *)to = random_whole(rng, 0, FIELD_SECONDS_MAX);
        break;
    case FIELD_REAL:
    case FIELD_NUMBER:
        /* cppcheck-suppress invalidPointerCast ; the table says that a double is there */
        *(double *)to = random_number(rng, f);
        break;
    case FIELD_FLAG:
        *(bool *)to = rng_below(rng, 2);
        break;
    case FIELD_WORD:
        *(unsigned *)to = (unsigned)rng_below(rng, count_words(f->of));
        break;
    case FIELD_TEXT:
        *(const char **)to = random_text(rng, (size_t)f->lo, f->hi ? (size_t)f->hi : 40, a);
        break;
    case FIELD_PATH: {
        char *path = arena_alloc(a, 64);
        snprintf(path, 64, "/%s", random_text(rng, 0, 40, a));
        *(const char **)to = path;
        break;
    }
    case FIELD_CHARS:
        snprintf(to, (size_t)f->hi, "%s", random_text(rng, 0, (size_t)f->hi - 1, a));
        break;
    case FIELD_TEXTS:
    case FIELD_PAIRS:
        *(const char ***)to = random_list(rng, FIELD_KIND(f->type) == FIELD_PAIRS, a);
        break;
    case FIELD_NUMBERS:
        random_numbers(rng, (struct field_numbers *)to);
        break;
    case FIELD_LIST:
        random_objects(rng, f->of, absent, a, to);
        break;
    case FIELD_OBJECT:
    case FIELD_INLINE:
        random_record(f->of, rng, absent, a, to);
        break;
    case FIELD_OPTIONAL:
        break;
    }
}

void random_record(const struct record *r, struct rng *rng, unsigned absent, struct arena *a,
                   void *out)
{
    memcpy(out, r->defaults, r->size);
    for (const struct field *f = r->members; f->name; f++)
        if (!(f->type & FIELD_OPTIONAL) || !absent || rng_below(rng, absent))
            random_value(f, rng, absent, a, (char *)out + f->at);
}
