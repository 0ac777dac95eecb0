/* Owns the syntax of combinations. */
#include "policy/combo.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "policy/allocate/auto.h"
#include "policy/policies.h"
#include "policy/registry.h"

static const char *const axis_names[AXES] = {"allocate", "place", "share"};

/* The policies of axes that a combination does not name. */
static const struct policy *const defaults[AXES] = {&policy_fifo, &policy_first_fit, &policy_hard};

const char *axis_name(enum axis axis)
{
    return axis_names[axis];
}

/* Names that are valid in some place. */
struct names {
    const char *at[128];
    size_t n;
};

static const char *nth_name(const void *ctx, size_t i)
{
    return ((const struct names *)ctx)->at[i];
}

/* The names of the axis; with AXES, all names and the presets. */
static struct names names_of(int axis)
{
    struct names names = {.n = 0};
    for (size_t i = 0; policies[i] && names.n < COUNT_OF(names.at); i++)
        if (axis == AXES || (int)policies[i]->axis == axis)
            names.at[names.n++] = policies[i]->name;
    for (size_t i = 0; axis == AXES && presets[i].name && names.n < COUNT_OF(names.at); i++)
        names.at[names.n++] = presets[i].name;
    return names;
}

static int unknown_policy(int axis, const char *name, size_t length, struct err *err)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    struct names names = names_of(axis);
    const char *near = str_nearest(text, names.n, nth_name, &names);
    if (near)
        return err_set(err, ERR_INVALID,
                       "unknown policy '%s'; did you mean '%s'? `trainyard policies` lists them",
                       text, near);
    return err_set(err, ERR_INVALID, "unknown policy '%s'; `trainyard policies` lists them", text);
}

static const char *param_name(const void *ctx, size_t i)
{
    return ((const struct param *)ctx)[i].name;
}

static int unknown_param(const struct policy *p, const char *name, struct err *err)
{
    size_t n = 0;
    while (p->params && p->params[n].name)
        n++;
    const char *near = n ? str_nearest(name, n, param_name, p->params) : NULL;
    if (near)
        return err_set(err, ERR_INVALID, "%s has no parameter '%s'; did you mean '%s'?", p->name,
                       name, near);
    if (n == 0)
        return err_set(err, ERR_INVALID, "%s has no parameters", p->name);
    return err_set(err, ERR_INVALID, "%s has no parameter '%s'; `trainyard policies %s` lists them",
                   p->name, name, p->name);
}

/* Sets "name=value" on this axis, or with AXES on the one that has the name. `seen` has, by
 * axis, the bits of parameters that were set before. */
static int set_param(struct combo *c, int axis, const char *text, size_t length, unsigned *seen,
                     struct err *err)
{
    char item[128];
    if (length >= sizeof item)
        return err_set(err, ERR_INVALID, "parameter '%.40s...' is too long", text);
    memcpy(item, text, length);
    item[length] = '\0';
    char *equals = strchr(item, '=');
    if (!equals || equals == item)
        return err_set(err, ERR_INVALID, "'%s' is not a parameter; write name=value", item);
    *equals = '\0';
    for (int a = 0; a < AXES; a++) {
        const struct policy *p = c->policy[a];
        int i = axis == AXES || axis == a ? params_find(p->params, item, strlen(item)) : -1;
        if (i < 0)
            continue;
        if (seen[a] >> i & 1)
            return err_set(err, ERR_INVALID, "policy %s: %s is given twice", p->name, item);
        seen[a] |= 1U << i;
        if (param_parse(&p->params[i], equals + 1, &c->params[a].v[i], err) < 0)
            return err_prefix(err, "policy %s", p->name);
        return 0;
    }
    return unknown_param(c->policy[axis == AXES ? AXIS_ALLOCATE : axis], item, err);
}

/* Sets the parameters after colons in text[0..length). */
static int set_params(struct combo *c, int axis, const char *text, size_t length, struct err *err)
{
    unsigned seen[AXES] = {0};
    while (length) {
        text++, length--; /* the colon */
        const char *colon = memchr(text, ':', length);
        size_t n = colon ? (size_t)(colon - text) : length;
        if (set_param(c, axis, text, n, seen, err) < 0)
            return -1;
        text += n;
        length -= n;
    }
    return 0;
}

static void choose(struct combo *c, const struct policy *p)
{
    c->policy[p->axis] = p;
    params_default(p->params, &c->params[p->axis]);
}

static const char *nth_axis(const void *ctx, size_t i)
{
    (void)ctx;
    return axis_names[i];
}

static int unknown_axis(const char *text, size_t length, size_t key, struct err *err)
{
    char name[32] = "";
    if (key < sizeof name)
        memcpy(name, text, key);
    const char *near = *name ? str_nearest(name, AXES, nth_axis, NULL) : NULL;
    if (near)
        return err_set(err, ERR_INVALID, "'%.*s': did you mean '%s='?", (int)length, text, near);
    return err_set(err, ERR_INVALID,
                   "'%.*s': expected allocate=, place= or share=; to compare several policies, "
                   "repeat --policy",
                   (int)length, text);
}

/* Parses one part of a combination: "allocate=las:thresholds=3250". `seen` has a bit for each
 * axis that came before. */
static int parse_part(const char *text, size_t length, unsigned *seen, struct combo *c,
                      struct err *err)
{
    const char *equals = memchr(text, '=', length);
    size_t key = equals ? (size_t)(equals - text) : 0;
    for (int axis = 0; axis < AXES; axis++) {
        if (!equals || strlen(axis_names[axis]) != key || strncmp(axis_names[axis], text, key) != 0)
            continue;
        if (*seen >> axis & 1)
            return err_set(err, ERR_INVALID, "%s= is given twice", axis_names[axis]);
        *seen |= 1U << axis;
        const char *name = equals + 1;
        size_t rest = length - key - 1;
        const char *colon = memchr(name, ':', rest);
        size_t n = colon ? (size_t)(colon - name) : rest;
        const struct policy *p = registry_find_policy(name, n);
        if (!p)
            return unknown_policy(axis, name, n, err);
        if ((int)p->axis != axis)
            return err_set(err, ERR_INVALID, "%s is not for %s=; write %s=%s", p->name,
                           axis_names[axis], axis_names[p->axis], p->name);
        choose(c, p);
        return set_params(c, axis, name + n, rest - n, err);
    }
    return unknown_axis(text, length, key, err);
}

static int parse_parts(const char *text, struct combo *c, struct err *err)
{
    unsigned seen = 0;
    for (;;) {
        size_t n = strcspn(text, ",");
        if (parse_part(text, n, &seen, c, err) < 0)
            return -1;
        if (!text[n])
            return 0;
        text += n + 1;
    }
}

/* Whether the text is a combination. */
static bool names_axis(const char *text)
{
    size_t n = strcspn(text, "=:,");
    return text[n] == '=' || text[n] == ',';
}

/* Puts the candidate in force in the place of auto. */
static void resolve_auto(struct combo *c)
{
    if (c->policy[AXIS_ALLOCATE] != &policy_auto)
        return;
    c->automatic = true;
    c->automation = c->params[AXIS_ALLOCATE];
    const struct policy *now = auto_candidates[auto_now(c)];
    choose(c, now);
}

int combo_parse(const char *text, struct combo *out, struct err *err)
{
    struct combo c = {0};
    for (int axis = 0; axis < AXES; axis++)
        choose(&c, defaults[axis]);
    if (strlen(text) >= sizeof c.name)
        return err_set(err, ERR_INVALID, "policy '%.40s...' is too long", text);
    snprintf(c.name, sizeof c.name, "%s", text);
    if (names_axis(text)) {
        if (parse_parts(text, &c, err) < 0)
            return -1;
        resolve_auto(&c);
        *out = c;
        return 0;
    }
    size_t n = strcspn(text, ":");
    const struct preset *preset = registry_find_preset(text, n);
    const struct policy *policy = registry_find_policy(text, n);
    if (!preset && !policy)
        return unknown_policy(AXES, text, n, err);
    if (preset && parse_parts(preset->spec, &c, err) < 0)
        return -1;
    if (policy)
        choose(&c, policy);
    if (set_params(&c, preset ? AXES : (int)policy->axis, text + n, strlen(text) - n, err) < 0)
        return -1;
    resolve_auto(&c);
    *out = c;
    return 0;
}

bool combo_needs_samples(const struct combo *c)
{
    for (int axis = 0; axis < AXES; axis++) {
        const struct policy *p = c->policy[axis];
        if (p->needs_metric || (p->needs_usage && p->needs_usage(&c->params[axis])))
            return true;
    }
    return false;
}
