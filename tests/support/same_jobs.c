/* Owns the comparison of traces. */
#include "support/same_jobs.h"

#include "support/test.h"

static void same_text(const char *a, const char *b)
{
    assert_true(!a == !b);
    if (a)
        assert_string_equal(a, b);
}

/* NAN equals NAN. */
static void same_number(double a, double b)
{
    if (!(isnan(a) && isnan(b)) && a != b)
        fail_msg("%.17g and %.17g", a, b);
}

static void same_speed(const struct speed *a, const struct speed *b)
{
    assert_int_equal(a->len, b->len);
    assert_true(!a->at == !b->at);
    for (uint32_t k = 1; a->at && k <= a->len; k++) {
        same_number(a->at[k], b->at[k]);
        assert_int_equal(a->next[k - 1], b->next[k - 1]);
    }
}

static void same_job(const struct job *a, const struct job *b)
{
    assert_int_equal(a->id, b->id);
    same_text(a->name, b->name);
    same_text(a->group, b->group);
    assert_int_equal(a->submit, b->submit);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->pool, b->pool);
    assert_int_equal(a->whole, b->whole);
    assert_int_equal(a->can_pause, b->can_pause);
    assert_int_equal(a->no_restart, b->no_restart);
    assert_int_equal(a->no_preempt, b->no_preempt);
    assert_int_equal(a->req, b->req);
    assert_int_equal(a->min, b->min);
    assert_int_equal(a->max, b->max);
    assert_int_equal(a->cpus, b->cpus);
    assert_int_equal(a->memory_mb, b->memory_mb);
    assert_true(devices_equal(&a->devices, &b->devices));
    same_number(a->weight, b->weight);
    assert_int_equal(a->deadline, b->deadline);
    same_number(a->work, b->work);
    assert_int_equal(a->cost.restart, b->cost.restart);
    assert_int_equal(a->cost.resize, b->cost.resize);
    assert_int_equal(a->cost.move, b->cost.move);
    assert_int_equal(a->cost.checkpoint, b->cost.checkpoint);
    assert_int_equal(a->loss.kind, b->loss.kind);
    same_number(a->loss.a, b->loss.a);
    same_number(a->loss.b, b->loss.b);
    same_number(a->loss.c, b->loss.c);
    same_number(a->target, b->target);
    assert_int_equal(a->nspeeds, b->nspeeds);
    for (unsigned i = a->nspeeds > 1 ? POOL_GPU : 0; i < a->nspeeds; i++)
        same_speed(&a->speeds[i], &b->speeds[i]);
}

void assert_same_jobs(const struct trace *a, const struct trace *b)
{
    assert_int_equal(a->n, b->n);
    for (uint32_t i = 0; i < a->n; i++)
        same_job(&a->jobs[i], &b->jobs[i]);
}
