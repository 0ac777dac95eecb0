/* Owns the conductors of the fake runtime and their simulated jobs. */
#include "runtime/fake_conductor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* ---- the command ------------------------------------------------------------- */

static bool option(const char *word, const char *name, double *out)
{
    size_t n = strlen(name);
    if (strncmp(word, name, n) != 0 || word[n] != '=')
        return false;
    *out = strtod(word + n + 1, NULL);
    return true;
}

void fake_conductor_read(struct fake_attempt *a, const struct launch_spec *spec)
{
    double work = 1, code = 0, steps = 0, serial = 0, uses = 0, loss = NAN;
    for (const char **w = spec->command; *w; w++) {
        if (option(*w, "work", &work) || option(*w, "code", &code) || option(*w, "steps", &steps) ||
            option(*w, "serial", &serial) || option(*w, "uses", &uses) || option(*w, "loss", &loss))
            continue;
        a->saves |= !strcmp(*w, "saves");
        a->deaf |= !strcmp(*w, "deaf");
    }
    a->work = work * (double)USEC_PER_SEC;
    a->serial = serial;
    a->loss = loss;
    a->code = (int32_t)code;
    a->steps = (int64_t)steps;
    a->uses_mb = (int64_t)uses;
    a->limit = spec->time_limit;
    a->grace = spec->grace;
    a->lease = spec->lease;
    a->start_by = spec->start_within ? spec->start_within : USEC_NEVER;
    snprintf(a->token, sizeof a->token, "%s", spec->token);
}

/* ---- messages to the server -------------------------------------------------- */

static void say(struct fake *f, const struct fake_attempt *a, const struct to_server *m)
{
    if (a->link && f->server && !fake_is_cut(f, a->node))
        f->server->host->message(f->server->host, &a->link->base, m);
}

static void say_exit(struct fake *f, const struct fake_attempt *a)
{
    struct to_server m = {.kind = TO_SERVER_EXIT, .exit = a->record};
    if (a->link && a->link->welcomed)
        say(f, a, &m);
}

/* ---- the job ----------------------------------------------------------------- */

static struct fake_saved *saved_of(struct fake *f, int64_t job)
{
    for (size_t i = 0; i < f->saved.n; i++)
        if (f->saved.at[i].job == job)
            return &f->saved.at[i];
    VEC_PUSH(&f->saved, (struct fake_saved){.job = job});
    return &f->saved.at[f->saved.n - 1];
}

static double rate(const struct fake_attempt *a)
{
    double cpus = (double)a->size.cpus / UNIT;
    if (a->state != FAKE_RUNNING || a->frozen || a->waits)
        return 0;
    return cpus < 1 ? cpus : 1 / (a->serial + (1 - a->serial) / cpus);
}

void fake_conductor_advance(const struct fake *f, struct fake_attempt *a)
{
    a->done += (double)(f->now - a->as_of) * rate(a);
    a->ran += a->state == FAKE_RUNNING && !a->frozen && !a->waits ? f->now - a->as_of : 0;
    a->as_of = f->now;
}

static bool is_too_large(const struct fake_attempt *a)
{
    return a->size.memory_mb && a->uses_mb > a->size.memory_mb;
}

static usec_t end_of_work(const struct fake_attempt *a)
{
    double r = rate(a), end = is_too_large(a) ? a->work / 2 : a->work;
    return r > 0 ? a->as_of + (usec_t)ceil(fmax(end - a->done, 0) / r) : USEC_NEVER;
}

static bool other_runs(const struct fake *f, const struct fake_attempt *a)
{
    for (size_t i = 0; i < f->attempts.n; i++) {
        const struct fake_attempt *b = &f->attempts.at[i];
        bool other = b->id.job == a->id.job && (b->id.n != a->id.n || b->id.part == a->id.part);
        if (other && fake_may_train(f, b))
            return true;
    }
    return false;
}

static void begin_job(struct fake *f, struct fake_attempt *a)
{
    f->overlaps += a->begun || other_runs(f, a);
    a->state = FAKE_RUNNING;
    a->begun++;
    a->started = a->as_of = f->now;
    a->claim_at = USEC_NEVER;
    a->done = a->saves ? saved_of(f, a->id.job)->done : 0;
    a->report_at = a->steps ? f->now + f->options.report : USEC_NEVER;
    a->lease_ends = a->lease ? f->now + a->lease : USEC_NEVER;
    a->lease_at = a->lease ? f->now + a->lease / 3 : USEC_NEVER;
}

/* Its conductor comes too late to run the command. */
static void refuse_job(const struct fake *f, struct fake_attempt *a)
{
    a->state = FAKE_ENDED;
    a->alone = true; /* it leaves at once */
    a->claim_at = a->connect_at = USEC_NEVER;
    a->record = (struct exit_record){.job = a->id.job,
                                     .attempt = a->id.n,
                                     .at = f->now,
                                     .code = 125,
                                     .untried = true,
                                     .reason = "it was started too late",
                                     .usage = USAGE_UNKNOWN};
}

static void end_job(struct fake *f, struct fake_attempt *a, int32_t code, int32_t signal)
{
    fake_conductor_advance(f, a);
    if (a->saves)
        saved_of(f, a->id.job)->done = a->done;
    a->state = FAKE_ENDED;
    a->report_at = USEC_NEVER;
    a->record = (struct exit_record){.job = a->id.job,
                                     .attempt = a->id.n,
                                     .started = a->started,
                                     .at = f->now,
                                     .code = code,
                                     .signal = signal,
                                     .oom = signal == 9 && !a->killed,
                                     .timeout = a->timed_out,
                                     .usage = USAGE_UNKNOWN};
    snprintf(a->record.stop, sizeof a->record.stop, "%s", a->stop);
    say_exit(f, a);
}

static void say_progress(struct fake *f, struct fake_attempt *a)
{
    struct to_server m = {
        .kind = TO_SERVER_PROGRESS,
        .progress = {.seq = ++a->seq, .at = f->now, .report = PROGRESS_REPORT_UNKNOWN}};
    fake_conductor_advance(f, a);
    m.progress.report.step = (int64_t)fmin((double)a->steps * a->done / a->work, (double)a->steps);
    m.progress.report.total = a->steps;
    m.progress.report.loss = a->loss;
    say(f, a, &m);
}

/* ---- the lease ---------------------------------------------------------------- */

static bool lease_is_over(const struct fake *f, const struct fake_attempt *a)
{
    return a->lease && a->lease_ends <= f->now;
}

bool fake_may_train(const struct fake *f, const struct fake_attempt *a)
{
    return a->state == FAKE_RUNNING && !((a->frozen || a->waits) && lease_is_over(f, a));
}

static void ask_for_lease(struct fake *f, struct fake_attempt *a)
{
    struct to_server m = {.kind = TO_SERVER_LEASE, .lease = {f->now}};
    a->lease_at = f->now + a->lease / 3;
    if (!a->link || !a->link->welcomed)
        return;
    a->lease_asked = f->now;
    say(f, a, &m);
}

static void take_lease(const struct fake *f, struct fake_attempt *a, const struct lease_message *m)
{
    if (m->asked > a->lease_asked || m->asked + m->length <= a->lease_ends)
        return;
    fake_conductor_advance(f, a);
    a->lease_ends = m->asked + m->length;
    a->waits &= lease_is_over(f, a);
}

void fake_conductor_freeze(struct fake *f, struct fake_attempt *a, bool freeze)
{
    fake_conductor_advance(f, a);
    a->waits = !freeze && (a->waits || a->frozen) && lease_is_over(f, a);
    a->frozen = freeze;
    if (a->waits)
        a->lease_at = f->now;
}

void fake_conductor_call(struct fake *f, struct fake_attempt *a)
{
    bool has_news = a->state == FAKE_RUNNING || (a->state == FAKE_ENDED && !a->acked);
    a->connect_at = USEC_NEVER;
    if (!f->server || a->link || a->alone || !has_news)
        return;
    a->connect_at = fake_soon(f, f->faults.reconnect) + 1;
    if (fake_is_cut(f, a->node))
        a->connect_at += f->nodes.at[a->node].cut_until - f->now;
}

static void connect_to_server(struct fake *f, struct fake_attempt *a)
{
    a->connect_at = USEC_NEVER;
    if (!f->server || fake_is_cut(f, a->node)) {
        fake_conductor_call(f, a);
        return;
    }
    a->link = xcalloc(1, sizeof *a->link);
    *a->link = (struct fake_link){.base = {.runtime = f->server},
                                  .attempt = (uint32_t)(a - f->attempts.at),
                                  .number = ++f->links};
    struct to_server m = {.kind = TO_SERVER_HELLO,
                          .hello = {.version = PROTOCOL_VERSION,
                                    .job = a->id.job,
                                    .attempt = a->id.n,
                                    .token = a->token,
                                    .pid = 1000 + (int64_t)a->link->attempt,
                                    .started = a->started,
                                    .seq = a->seq,
                                    .cpus = (double)a->size.cpus / UNIT}};
    say(f, a, &m);
}

/* ---- messages from the server ------------------------------------------------ */

static void end_within(const struct fake *f, struct fake_attempt *a, usec_t grace)
{
    enum { SAVING = 1000000 };
    usec_t end_at = f->now + (a->deaf || grace < SAVING ? grace : SAVING);
    a->end_at = end_at < a->end_at ? end_at : a->end_at;
    a->killed |= a->deaf || grace < SAVING;
}

static void take_stop(struct fake *f, struct fake_attempt *a, const struct stop_message *m)
{
    if (a->state != FAKE_RUNNING)
        return;
    end_within(f, a, m->grace == USEC_NEVER ? a->grace : m->grace);
    snprintf(a->stop, sizeof a->stop, "%s", m->reason ? m->reason : "");
}

void fake_conductor_hear(struct fake *f, struct fake_attempt *a, const struct to_conductor *m)
{
    struct to_server applied = {.kind = TO_SERVER_APPLIED, .applied = {.id = m->id}};
    struct to_server started = {.kind = TO_SERVER_STARTED, .started = {1, a->started}};
    switch (m->kind) {
    case TO_CONDUCTOR_WELCOME:
        a->link->welcomed = true;
        if (a->state == FAKE_RUNNING && a->lease)
            a->lease_at = f->now;
        if (a->started)
            say(f, a, &started);
        if (a->state == FAKE_ENDED)
            say_exit(f, a);
        break;
    case TO_CONDUCTOR_ACK:
        a->acked = a->alone = true;
        fake_conductor_cut(f, a);
        break;
    case TO_CONDUCTOR_STOP:
        take_stop(f, a, &m->stop);
        break;
    case TO_CONDUCTOR_RESIZE:
        applied.applied.cpus = m->resize.cpus;
        applied.applied.threads = m->resize.threads;
        applied.applied.regions = -1;
        say(f, a, &applied);
        break;
    case TO_CONDUCTOR_LEASE:
        take_lease(f, a, &m->lease);
        break;
    case TO_CONDUCTOR_LIMIT:
        a->limit = m->limit.time_limit;
        break;
    default: /* the engine freezes jobs, and simulated jobs are not restarted */
        break;
    }
}

void fake_conductor_cut(struct fake *f, struct fake_attempt *a)
{
    struct fake_link *link = a->link;
    if (!link)
        return;
    a->link = NULL;
    a->log_at = USEC_NEVER;
    fake_conductor_call(f, a);
    f->server->host->unlinked(f->server->host, &link->base);
    free(link);
}

/* An unclaimed attempt stays as it is until it is given up. */
void fake_conductor_kill(struct fake *f, struct fake_attempt *a)
{
    fake_conductor_advance(f, a);
    if (a->state == FAKE_RUNNING)
        a->state = FAKE_DEAD;
    a->alone = true;
    a->claim_at = a->connect_at = a->report_at = USEC_NEVER;
    fake_conductor_cut(f, a);
}

/* ---- time -------------------------------------------------------------------- */

static usec_t soonest(usec_t a, usec_t b)
{
    return a < b ? a : b;
}

/* When it ends because of a stop; a frozen job cannot. */
static usec_t stop_time(const struct fake_attempt *a)
{
    return (a->frozen || a->waits) && !a->killed ? USEC_NEVER : a->end_at;
}

static usec_t limit_time(const struct fake_attempt *a)
{
    bool none = !a->limit || a->limit == USEC_NEVER;
    if (none || a->frozen || a->waits || a->end_at != USEC_NEVER)
        return USEC_NEVER;
    return a->as_of + (a->limit > a->ran ? a->limit - a->ran : 0);
}

/* When it asks for its lease, or stops because of it. Nothing happens while it is frozen. */
static usec_t lease_time(const struct fake_attempt *a)
{
    bool stops = *a->stop && a->end_at != USEC_NEVER;
    if (!a->lease || a->frozen)
        return USEC_NEVER;
    return soonest(a->lease_at, a->waits || stops ? USEC_NEVER : a->lease_ends);
}

usec_t fake_conductor_due(const struct fake_attempt *a)
{
    usec_t due = soonest(a->claim_at, a->connect_at);
    if (a->state != FAKE_RUNNING)
        return due;
    due = soonest(soonest(due, a->report_at), soonest(end_of_work(a), stop_time(a)));
    return soonest(soonest(due, limit_time(a)), lease_time(a));
}

void fake_conductor_turn(struct fake *f, struct fake_attempt *a)
{
    if (a->claim_at <= f->now && f->now > a->start_by) {
        refuse_job(f, a);
    } else if (a->claim_at <= f->now) {
        begin_job(f, a);
        a->connect_at = f->now;
    }
    if (a->connect_at <= f->now)
        connect_to_server(f, a);
    if (a->state != FAKE_RUNNING)
        return;
    if (end_of_work(a) <= f->now) {
        end_job(f, a, is_too_large(a) ? 137 : a->code, is_too_large(a) ? 9 : 0);
    } else if (stop_time(a) <= f->now) {
        end_job(f, a, a->killed ? 137 : 143, a->killed ? 9 : 15);
    } else if (lease_time(a) <= f->now) {
        if (lease_is_over(f, a) && !a->waits && !*a->stop) {
            snprintf(a->stop, sizeof a->stop, EXIT_STOP_LEASE);
            end_within(f, a, a->grace);
        }
        if (a->lease_at <= f->now)
            ask_for_lease(f, a);
    } else if (limit_time(a) <= f->now) {
        a->timed_out = true;
        end_within(f, a, a->grace);
    } else if (a->report_at <= f->now) {
        a->report_at = f->now + f->options.report;
        say_progress(f, a);
    }
}
