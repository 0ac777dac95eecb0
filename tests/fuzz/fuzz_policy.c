/* Fuzzes the texts that name policies, which come from command lines and requests. Whatever the
 * text, it is refused with a reason, or names a policy on each axis, by a name that means the same
 * again. What was accepted also decides: in a small random world no invariant breaks. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy/combo.h"
#include "support/chaos.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

static bool is_same_value(const struct param_value *a, const struct param_value *b)
{
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): a NaN must be the same, too */
    return a->number == b->number && a->n == b->n && !memcmp(a->list, b->list, sizeof a->list);
}

static void expect_same(const struct combo *a, const struct combo *b)
{
    for (int axis = 0; axis < AXES; axis++) {
        require(a->policy[axis] && a->policy[axis] == b->policy[axis]);
        require((int)a->policy[axis]->axis == axis);
        for (int i = 0; i < PARAMS_MAX; i++)
            require(is_same_value(&a->params[axis].v[i], &b->params[axis].v[i]));
    }
}

/* Some draw random worlds, so the world depends on the text. */
static void try_deciding(const char *text, uint64_t seed)
{
    struct chaos_options o = {.seed = seed, .jobs = 4, .policy = text, .alone = true};
    struct chaos_result r = {0};
    if (!chaos_run(&o, &r)) {
        fprintf(stderr, "%s, seed %llu: %s\n", text, (unsigned long long)seed, r.why);
        abort();
    }
    chaos_done(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct combo combo, again;
    struct err err = {0};
    AUTO_FREE char *text = xstrndup((const char *)data, size);
    if (combo_parse(text, &combo, &err) < 0) {
        require(err.code != ERR_OK && err.text[0]);
        return 0;
    }
    require(memchr(combo.name, 0, sizeof combo.name) != NULL);
    require(combo_parse(combo.name, &again, &err) == 0);
    expect_same(&combo, &again);
    try_deciding(text, size);
    return 0;
}
