/* Owns tables of pairs. A row is found by the GPU type and its two jobs, in either order. */
#include "sim/trace/pairs.h"

#include <stdio.h>
#include <string.h>

#include "sim/trace/table.h"

enum { TYPE, JOB_A, JOB_B, RATE_A, RATE_B };
enum { KEY = 512 };

static const struct column columns[] = {{"gpu_type", true},      {"job_a", true},
                                        {"job_b", true},         {"steps_per_s_a", true},
                                        {"steps_per_s_b", true}, {NULL, false}};

static bool make_key(char key[KEY], const char *type, const char *a, const char *b)
{
    return snprintf(key, KEY, "%s\x1f%s\x1f%s", type, a, b) < KEY;
}

static int add_row(struct pairs *p, const struct table *t, struct err *err)
{
    struct pair_rates row;
    char key[KEY];
    const char *a = table_text(t, JOB_A), *b = table_text(t, JOB_B);
    if (!make_key(key, table_text(t, TYPE), a, b))
        return table_fail(t, JOB_A, err, "expected a shorter name");
    if (table_double(t, RATE_A, 0, 1e12, &row.a, err) < 0 ||
        table_double(t, RATE_B, 0, 1e12, &row.b, err) < 0)
        return -1;
    if (!map_add(&p->index, arena_strdup(&p->arena, key), (uint32_t)p->rows.n))
        return table_fail(t, JOB_A, err, "this pair is in the table twice");
    VEC_PUSH(&p->rows, row);
    return 0;
}

static int read_table(struct table *t, struct pairs *out, struct err *err)
{
    struct pairs p = {0};
    int got = table_bind(t, columns, "table of pairs", err);
    while (got == 0 && (got = table_next(t, err)) > 0)
        got = add_row(&p, t, err);
    table_done(t);
    if (got < 0)
        pairs_done(&p);
    else
        *out = p;
    return got < 0 ? -1 : 0;
}

int pairs_open(const char *path, struct pairs *out, struct err *err)
{
    struct table t;
    return table_open(&t, path, err) < 0 ? -1 : read_table(&t, out, err);
}

int pairs_parse(const char *name, const char *text, size_t n, struct pairs *out, struct err *err)
{
    struct table t;
    return table_from_text(&t, name, text, n, err) < 0 ? -1 : read_table(&t, out, err);
}

void pairs_done(struct pairs *p)
{
    map_done(&p->index);
    VEC_DONE(&p->rows);
    VEC_DONE(&p->kinds);
    arena_done(&p->arena);
    *p = (struct pairs){0};
}

static bool find_row(const struct pairs *p, const char *type, const struct pair_kind *a,
                     const struct pair_kind *b, uint32_t *at)
{
    char key[KEY], first[KEY / 2], second[KEY / 2];
    snprintf(first, sizeof first, "('%s', %u)", a->type, a->gpus);
    snprintf(second, sizeof second, "('%s', %u)", b->type, b->gpus);
    return make_key(key, type, first, second) && map_get(&p->index, key, at);
}

/* Steps a second of job a next to job b; 0 = not measured, or they cannot run together. */
static double pairs_rate(const struct pairs *p, const char *gpu_type, const struct pair_kind *a,
                         const struct pair_kind *b)
{
    uint32_t at;
    if (find_row(p, gpu_type, a, b, &at))
        return p->rows.at[at].a;
    return find_row(p, gpu_type, b, a, &at) ? p->rows.at[at].b : 0;
}

struct pair_kind *pairs_kind(struct pairs *p, const char *type, uint32_t gpus, struct arena *a)
{
    for (size_t i = 0; i < p->kinds.n; i++)
        if (p->kinds.at[i].type == type && p->kinds.at[i].gpus == gpus)
            return &p->kinds.at[i];
    struct sharing *sharing = ARENA_NEW(a, struct sharing);
    sharing->kind = (uint32_t)p->kinds.n;
    VEC_PUSH(&p->kinds, (struct pair_kind){.type = type, .gpus = gpus, .sharing = sharing});
    return &p->kinds.at[p->kinds.n - 1];
}

void pairs_fill(struct pairs *p, const char *const *gpu_types, unsigned n, struct arena *a)
{
    uint32_t kinds = (uint32_t)p->kinds.n;
    for (uint32_t i = 0; i < kinds; i++) {
        const struct pair_kind *k = &p->kinds.at[i];
        float *pairs = ARENA_ARRAY(a, (size_t)(POOL_GPU + n) * kinds, float);
        for (unsigned type = 0; type < n; type++)
            for (uint32_t other = 0; k->alone[POOL_GPU + type] > 0 && other < kinds; other++)
                pairs[(POOL_GPU + type) * kinds + other] =
                    (float)(pairs_rate(p, gpu_types[type], k, &p->kinds.at[other]) /
                            k->alone[POOL_GPU + type]);
        k->sharing->pairs = pairs;
        k->sharing->kinds = kinds;
    }
}
