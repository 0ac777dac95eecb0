/* Owns the choices of the policy auto. The last one is kept in the store, so that a restarted
 * server can still explain it. */
#include "server/automatic.h"

#include <jansson.h>
#include <stdio.h>

#include "server/events.h"
#include "server/log.h"
#include "store/store.h"

/* Work of one turn: limited by the clock, and by the number of steps in case the clock stands
 * still. */
#define SLICE (USEC_PER_SEC / 125)
enum { BITS = 10000 };

void automatic_stop(struct yard *y)
{
    chooser_done(&y->chooser);
}

usec_t automatic_due(const struct yard *y)
{
    if (y->closing || !y->has_engine)
        return USEC_NEVER;
    return y->chooser.w ? clock_now(&y->clock) : chooser_due(&y->chooser, &y->engine);
}

/* "deadline instead of hesrpt: 0 missed deadlines instead of 2 are expected". */
static void describe_choice(const struct choice *c, char *out, size_t size)
{
    if (c->missed_from != c->missed_to)
        snprintf(out, size, "%s instead of %s: %u missed deadlines are expected instead of %u",
                 c->to, c->from, c->missed_to, c->missed_from);
    else if (c->gain > 0)
        snprintf(out, size, "%s instead of %s: %s %.1f %% lower for the current jobs", c->to,
                 c->from, c->goal, 100 * c->gain);
    else
        snprintf(out, size, "%s instead of %s: it is again as good for the current jobs", c->to,
                 c->from);
}

static void take_choice(struct yard *y, const struct choice *c)
{
    char why[256];
    struct err err;
    describe_choice(c, why, sizeof why);
    if (yard_set_policy(y, &c->combo, &err) < 0 ||
        store_meta_set(y->store, "policy_choice", why, &err) < 0) {
        log_warning("policy=auto: %s", err.text);
        return;
    }
    events_add(y, "policy.chosen", 0,
               json_pack("{s:s, s:s, s:f, s:I, s:I, s:s}", "from", c->from, "to", c->to, "gain",
                         c->gain, "missed_before", (json_int_t)c->missed_from, "missed",
                         (json_int_t)c->missed_to, "why", why));
    log_info("policy=auto chosen=%s instead_of=%s gain=%.3f", c->to, c->from, c->gain);
}

/* Returns whether there is more to do. */
static bool work_on(struct yard *y)
{
    usec_t began = clock_now(&y->clock);
    bool more = true;
    for (int i = 0; more && i < BITS && clock_now(&y->clock) - began < SLICE; i++)
        more = chooser_work(&y->chooser);
    return more;
}

void automatic_turn(struct yard *y)
{
    struct choice choice;
    usec_t now = clock_now(&y->clock);
    if (automatic_due(y) > now)
        return;
    if (!y->chooser.w)
        chooser_begin(&y->chooser, &y->engine, now);
    if (!work_on(y) && chooser_end(&y->chooser, &choice))
        take_choice(y, &choice);
}

bool automatic_reason(const struct yard *y, struct str *out)
{
    const struct combo *c = &y->engine.config.combo;
    if (!combo_is_auto(c))
        return false;
    AUTO_FREE char *why = store_meta_get(y->store, "policy_choice");
    if (why && *why)
        str_addf(out, "The policy auto chose %s.", why);
    else
        str_addf(out, "The policy auto has found nothing better than %s yet.",
                 c->policy[AXIS_ALLOCATE]->name);
    return true;
}
