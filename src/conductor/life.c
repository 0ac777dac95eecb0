/* Owns the rules by which a job ends. Stages only advance. The time limit counts running time,
 * which stops while the job is frozen; grace, kill and patience use the steady clock. */
#include "conductor/life.h"

#include <sys/wait.h>

enum { KILL_DELAY_MIN = 10000, KILL_DELAY_MAX = 1000000 };

void life_init(struct life *l, const struct life_rules *rules)
{
    *l = (struct life){.rules = *rules, .since = USEC_NEVER};
}

void life_start(struct life *l, usec_t now)
{
    if (!l->frozen)
        l->since = now;
}

void life_set_limit(struct life *l, usec_t limit)
{
    l->rules.limit = limit;
    l->warned = false;
}

bool life_freeze(struct life *l, usec_t now)
{
    if (l->stage != LIFE_RUNNING)
        return false;
    if (l->since != USEC_NEVER)
        l->ran += now - l->since;
    l->since = USEC_NEVER;
    l->frozen = true;
    return true;
}

void life_thaw(struct life *l, usec_t now)
{
    if (l->frozen)
        l->since = now;
    l->frozen = false;
}

static unsigned begin_kill(struct life *l, usec_t now)
{
    l->stage = LIFE_KILLING;
    l->kill_delay = KILL_DELAY_MIN;
    l->kill_again = now + l->kill_delay;
    l->give_up = now + l->rules.patience;
    return LIFE_KILL;
}

unsigned life_stop(struct life *l, usec_t now, usec_t grace, int signal)
{
    if (l->stage >= LIFE_KILLING)
        return 0;
    bool again = l->stage == LIFE_STOPPING;
    if (!again || now + grace < l->stop_by)
        l->stop_by = now + grace;
    if (grace <= 0) {
        l->killed = true;
        return begin_kill(l, now);
    }
    if (again && l->signal == signal)
        return 0;
    l->stage = LIFE_STOPPING;
    l->signal = signal;
    return LIFE_SIGNAL;
}

/* Killed by the signal, or with the exit status that shells and wrappers use for it. */
static bool died_of(int status, int signal)
{
    return (WIFSIGNALED(status) && WTERMSIG(status) == signal) ||
           (WIFEXITED(status) && WEXITSTATUS(status) == 128 + signal);
}

unsigned life_leader_ended(struct life *l, usec_t now, int status)
{
    if (l->stage >= LIFE_KILLING || l->rules.wait_children)
        return 0;
    if (l->stage == LIFE_STOPPING && died_of(status, l->signal))
        return 0;
    if (l->stage == LIFE_RUNNING && l->warned && died_of(status, l->rules.warn_signal))
        return 0;
    return begin_kill(l, now);
}

unsigned life_all_ended(struct life *l)
{
    if (l->stage == LIFE_OVER)
        return 0;
    l->stage = LIFE_OVER;
    return LIFE_END;
}

/* When the job will have run for this long. */
static usec_t time_at(const struct life *l, usec_t run)
{
    return l->since == USEC_NEVER || run == USEC_NEVER ? USEC_NEVER : l->since + (run - l->ran);
}

static usec_t warning_at(const struct life *l)
{
    if (!l->rules.warn_signal || l->warned || l->rules.limit == USEC_NEVER)
        return USEC_NEVER;
    return time_at(l, l->rules.limit - l->rules.warn_before);
}

usec_t life_next(const struct life *l)
{
    usec_t warn = warning_at(l), limit = time_at(l, l->rules.limit);
    switch (l->stage) {
    case LIFE_RUNNING:
        return warn < limit ? warn : limit;
    case LIFE_STOPPING:
        return l->stop_by;
    case LIFE_KILLING:
        return l->kill_again < l->give_up ? l->kill_again : l->give_up;
    case LIFE_OVER:
        break;
    }
    return USEC_NEVER;
}

static unsigned tick_running(struct life *l, usec_t now)
{
    if (time_at(l, l->rules.limit) <= now) {
        l->timed_out = true;
        return life_stop(l, now, l->rules.grace, l->rules.stop_signal);
    }
    if (warning_at(l) > now)
        return 0;
    l->warned = true;
    return LIFE_WARN;
}

static unsigned tick_killing(struct life *l, usec_t now)
{
    if (l->give_up <= now) {
        l->stuck = true;
        return life_all_ended(l);
    }
    if (l->kill_again > now)
        return 0;
    l->kill_delay = l->kill_delay * 2 < KILL_DELAY_MAX ? l->kill_delay * 2 : KILL_DELAY_MAX;
    l->kill_again = now + l->kill_delay;
    return LIFE_KILL;
}

unsigned life_tick(struct life *l, usec_t now)
{
    switch (l->stage) {
    case LIFE_RUNNING:
        return tick_running(l, now);
    case LIFE_STOPPING:
        if (l->stop_by > now)
            return 0;
        l->killed = true;
        return begin_kill(l, now);
    case LIFE_KILLING:
        return tick_killing(l, now);
    case LIFE_OVER:
        break;
    }
    return 0;
}
