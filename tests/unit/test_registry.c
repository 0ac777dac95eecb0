/* Tests of policy/registry: the list of policies and presets, and how combinations
 * are spelt. */
#include "policy/combo.h"
#include "policy/policies.h"
#include "policy/registry.h"
#include "support/test.h"

static struct combo parsed(const char *text)
{
    struct combo c;
    struct err err;
    assert_ok(combo_parse(text, &c, &err), err);
    assert_string_equal(c.name, text);
    return c;
}

static void refuse(const char *text, const char *words)
{
    struct combo c = {.name = "as it was"};
    struct err err;
    assert_error(combo_parse(text, &c, &err), err, ERR_INVALID, words);
    assert_string_equal(c.name, "as it was");
}

static void test_list(void **state)
{
    (void)state;
    size_t count[AXES] = {0};
    for (size_t i = 0; policies[i]; i++) {
        const struct policy *p = policies[i];
        count[p->axis]++;
        assert_true(i == 0 || p->axis >= policies[i - 1]->axis);
        assert_true(p->name && p->summary && p->rule && p->source && p->decide);
        assert_null(strchr(p->summary, '\n'));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(p->name, policies[k]->name);
    }
    assert_int_equal(count[AXIS_ALLOCATE], 23);
    assert_int_equal(count[AXIS_PLACE], 5);
    assert_int_equal(count[AXIS_SHARE], 5);
}

/* auto is replaced by the candidate in force. */
static void assert_chosen(const struct combo *c, const struct policy *p)
{
    if (p == &policy_auto)
        assert_true(c->automatic);
    else
        assert_ptr_equal(c->policy[p->axis], p);
}

static void test_every_policy_by_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; policies[i]; i++) {
        struct combo c = parsed(policies[i]->name);
        assert_chosen(&c, policies[i]);
        char text[64];
        snprintf(text, sizeof text, "%s=%s", axis_name(policies[i]->axis), policies[i]->name);
        c = parsed(text);
        assert_chosen(&c, policies[i]);
    }
}

static void test_every_preset(void **state)
{
    (void)state;
    for (size_t i = 0; presets[i].name; i++) {
        struct combo preset = parsed(presets[i].name), spelt = parsed(presets[i].spec);
        for (int axis = 0; axis < AXES; axis++) {
            assert_ptr_equal(preset.policy[axis], spelt.policy[axis]);
            assert_memory_equal(&preset.params[axis], &spelt.params[axis],
                                sizeof preset.params[axis]);
        }
        assert_true(presets[i].summary && *presets[i].summary);
    }
}

static void test_defaults(void **state)
{
    (void)state;
    struct combo c = parsed("srtf");
    assert_ptr_equal(c.policy[AXIS_ALLOCATE], &policy_srtf);
    assert_ptr_equal(c.policy[AXIS_PLACE], &policy_first_fit);
    assert_ptr_equal(c.policy[AXIS_SHARE], &policy_hard);
    c = parsed("place=spread");
    assert_ptr_equal(c.policy[AXIS_ALLOCATE], &policy_fifo);
    assert_ptr_equal(c.policy[AXIS_PLACE], &policy_spread);
}

/* The value of the sharer's alpha, wherever it stands in the table. */
static double alpha_of(const struct combo *c)
{
    return c->params[AXIS_SHARE].v[params_find(c->policy[AXIS_SHARE]->params, "alpha", 5)].number;
}

static void test_combinations(void **state)
{
    (void)state;
    struct combo c = parsed("share=flowcon,allocate=afs-l,place=best-fit"); /* in any order */
    assert_ptr_equal(c.policy[AXIS_ALLOCATE], &policy_afs_l);
    assert_ptr_equal(c.policy[AXIS_PLACE], &policy_best_fit);
    assert_ptr_equal(c.policy[AXIS_SHARE], &policy_flowcon);
    c = parsed(
        "allocate=las:thresholds=3250/7200:knob=3,place=spread:by=usage,share=flowcon:alpha=7%");
    assert_int_equal(c.params[AXIS_ALLOCATE].v[0].n, 2);
    assert_near(c.params[AXIS_ALLOCATE].v[1].number, 3, 0);
    assert_near(c.params[AXIS_PLACE].v[0].number, 1, 0);
    assert_near(alpha_of(&c), 0.07, 1e-15);
}

static void test_parameters(void **state)
{
    (void)state;
    struct combo c = parsed("fifo:order=strict");
    assert_near(c.params[AXIS_ALLOCATE].v[0].number, 0, 0);
    c = parsed("fifo");
    assert_near(c.params[AXIS_ALLOCATE].v[0].number, 2, 0); /* backfill */
    /* Those of a preset go to whichever of its parts knows them. */
    c = parsed("flowcon:alpha=9%:order=skip");
    assert_near(alpha_of(&c), 0.09, 1e-15);
    assert_near(c.params[AXIS_ALLOCATE].v[0].number, 1, 0);
    c = parsed("kubernetes:by=request");
    assert_near(c.params[AXIS_PLACE].v[0].number, 0, 0);
}

static void test_unknown_names(void **state)
{
    (void)state;
    refuse("fifi", "unknown policy 'fifi'; did you mean 'fifo'?");
    refuse("voda-afsl", "did you mean 'voda-afs-l'?");
    refuse("round_robin", "did you mean 'round-robin'?");
    refuse("place=first", "did you mean 'first-fit'?"); /* what would do there */
    refuse("share=fif", "unknown policy 'fif'; `trainyard policies` lists them");
    refuse("allocate=best", "unknown policy 'best'");
    refuse("xyzzyx", "unknown policy 'xyzzyx'; `trainyard policies` lists them");
    refuse("", "unknown policy ''");
    refuse(":order=strict", "unknown policy ''");
    refuse("allocate=", "unknown policy ''");
    refuse("allocate=flowcon", "flowcon is not for allocate=; write share=flowcon");
    refuse("allocate=docker", "unknown policy 'docker'"); /* presets are no parts */
    refuse("allocate=fifo,spread", "'spread': expected allocate=, place= or share=");
    refuse("allocate=fifo,", "expected allocate=, place= or share=");
    refuse("allocate=fifo,speed=2", "expected allocate=, place= or share=");
}

static void test_unknown_parameters(void **state)
{
    (void)state;
    refuse("las:treshold=3250", "las has no parameter 'treshold'; did you mean 'thresholds'?");
    refuse("srtf:order=strict", "srtf has no parameters");
    refuse("las:xyzzyx=1", "las has no parameter 'xyzzyx'; `trainyard policies las` lists them");
    refuse("flowcon:alfa=1", "no parameter 'alfa'");
    refuse("fifo:strict", "'strict' is not a parameter; write name=value");
    refuse("fifo:", "write name=value");
    refuse("fifo:=strict", "write name=value");
    refuse("fifo:order", "write name=value");
    refuse("fifo:order=strict:order=skip", "policy fifo: order is given twice");
    refuse("allocate=fifo,allocate=las", "allocate= is given twice");
    refuse("allocat=fifo", "did you mean 'allocate='?");
    refuse("fifo,las", "to compare several policies, repeat --policy");
    refuse("fifo:order=", "order=: expected one of");
    refuse("fifo:order=fast", "policy fifo: order=fast: expected one of strict|skip|backfill");
    refuse("las:thresholds=0", "policy las: thresholds");
    refuse("deadline:slot=0", "policy deadline: slot=0 is not between 1 s and 86400 s");
    refuse("allocate=las,place=spread:knob=3", "spread has no parameter 'knob'");
}

static void test_lengths(void **state)
{
    (void)state;
    char text[600];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    refuse(text, "is too long");
    snprintf(text, sizeof text, "las:thresholds=%0150d", 1);
    refuse(text, "is too long");
    snprintf(text, sizeof text, "place=spread:%0180d", 1);
    refuse(text, "");
}

static const struct CMUnitTest tests[] = {
    TEST(test_list),          TEST(test_every_policy_by_its_name),
    TEST(test_every_preset),  TEST(test_defaults),
    TEST(test_combinations),  TEST(test_parameters),
    TEST(test_unknown_names), TEST(test_unknown_parameters),
    TEST(test_lengths),
};

int main(void)
{
    return RUN(tests);
}
