/* Owns what is done to real attempts, once the books that say so are on disk: start,
 * size, freeze, stop, clean up. All of it may be done twice. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <unistd.h>

#include "base/str.h"
#include "conductor/claim.h"
#include "conductor/record.h"
#include "server/conductors.h"
#include "server/jobs/attempts.h"
#include "server/log.h"

static void warn(const struct attempt *a, const char *what, const struct err *err)
{
    log_warning("job=%lld attempt=%u %s: %s", (long long)a->job, a->n, what, err->text);
}

static void remove_record(const struct attempt *a)
{
    struct str path = {0};
    str_addf(&path, "%s/exit.json", a->dir);
    unlink(path.at);
    str_done(&path);
}

static void spawn(struct yard *y, struct attempt *a)
{
    struct err err;
    if (a->stop != STOP_NONE) { /* it is not wanted any more */
        struct ending none = {.at = clock_wall(&y->clock), .code = -1, .stop = "", .reason = ""};
        attempt_over(y, a, &none);
        return;
    }
    if (attempt_launch(y, a, &err) == 0)
        return;
    warn(a, "cannot start", &err);
    struct ending end = {.at = clock_wall(&y->clock), .code = 125, .stop = "", .reason = err.text};
    /* A conductor that was started after all must not run the command. */
    AUTO_CLOSE int dir = open(a->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct err ignored;
    if (dir < 0 || claim_void(dir, &ignored) == 0)
        attempt_over(y, a, &end);
}

static void set_frozen(struct yard *y, struct attempt *a)
{
    struct runtime_attempt r = attempt_to_runtime(y, a);
    struct err err;
    if (a->link)
        conduit_send(a->link, json_pack("{s:s}", "type", a->paused ? "freeze" : "thaw"));
    if (y->config.runtime->freeze(y->runtime, &r, a->paused, &err) < 0 && err.code != ERR_NOT_FOUND)
        warn(a, a->paused ? "freeze" : "thaw", &err);
}

static void send_stop(struct yard *y, struct attempt *a)
{
    const struct live_job *j = yard_live(y, a->job);
    if (!a->link || !j)
        return; /* it is said again when its conductor comes back */
    int signal = a->stop == STOP_CANCEL ? 15 : j->terms.checkpoint_signal;
    conduit_send(a->link, json_pack("{s:s, s:f, s:i, s:s}", "type", "stop", "grace_s",
                                    time_seconds(a->grace), "signal", signal, "reason",
                                    stop_why_name(a->stop)));
}

static void send_limit(struct yard *y, struct attempt *a)
{
    const struct live_job *j = yard_live(y, a->job);
    if (!a->link || !j)
        return;
    json_t *o = json_pack("{s:s}", "type", "limit");
    json_object_set_new(o, "time_limit_s",
                        j->terms.time_limit ? json_real(time_seconds(j->terms.time_limit))
                                            : json_null());
    conduit_send(a->link, o);
}

/* True when processes of it are still dying. */
static bool clean(struct yard *y, struct attempt *a)
{
    struct runtime_attempt r = attempt_to_runtime(y, a);
    struct err err;
    int rc = y->config.runtime->clean(y->runtime, &r, &err);
    if (rc < 0)
        warn(a, "clean up", &err);
    return rc == 1;
}

static void forget(struct yard *y, struct attempt *a)
{
    for (size_t i = 0; i < y->leaving.n; i++)
        if (y->leaving.at[i] == a) {
            y->leaving.at[i] = y->leaving.at[--y->leaving.n];
            break;
        }
    if (a->link)
        conduit_forget(a->link);
    turn_forget(y, a);
    attempt_free(a);
}

/* The end of it: nothing is left of the job, its conductor may go. */
static bool leave(struct yard *y, struct attempt *a)
{
    if (clean(y, a))
        return true;
    remove_record(a);
    if (a->link)
        conduit_send(a->link, json_pack("{s:s, s:s}", "type", "ack", "what", "exit"));
    forget(y, a);
    return false;
}

bool attempt_act(struct yard *y, struct attempt *a)
{
    unsigned todo = a->todo;
    a->todo = 0;
    if (attempt_waits(y, a, todo))
        return false;
    if (todo & DEED_CLEAN) {
        if (!leave(y, a))
            return false;
        a->todo = DEED_CLEAN | DEED_ACK;
        return true;
    }
    if (todo & DEED_SPAWN) {
        spawn(y, a);
        return false;
    }
    if (todo & DEED_SIZE)
        attempt_set_size(y, a);
    if (todo & DEED_FREEZE)
        set_frozen(y, a);
    if (todo & DEED_LIMIT)
        send_limit(y, a);
    if (todo & DEED_STOP)
        send_stop(y, a);
    return false;
}

void attempt_linked(struct yard *y, struct attempt *a, struct conduit *link)
{
    const struct live_job *j = yard_live(y, a->job);
    if (a->link)
        conduit_forget(a->link);
    a->link = link;
    a->unheard = 0;
    conduit_send(link, json_pack("{s:s, s:I}", "type", "welcome", "seq", (json_int_t)a->seq));
    if (!j || j->attempt != a)
        return;
    /* What it may have missed is said again; what this turn has changed waits for the
     * commit, as always. */
    if (a->todo)
        return;
    attempt_set_size(y, a);
    if (a->stop != STOP_NONE)
        send_stop(y, a);
}

void attempt_unlinked(struct yard *y, struct attempt *a)
{
    a->link = NULL;
    a->unheard = clock_now(&y->clock);
    attempt_shrunk(y, a);
    yard_care(y);
}

static char *read_record(int dir)
{
    AUTO_CLOSE int fd = openat(dir, "exit.json", O_RDONLY | O_CLOEXEC);
    char bytes[RECORD_MAX_BYTES];
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    return n > 0 ? xstrndup(bytes, (size_t)n) : NULL;
}

static void found_dead(struct yard *y, struct attempt *a, int dir, const struct claim *claim)
{
    AUTO_FREE char *record = dir < 0 ? NULL : read_record(dir);
    struct err err;
    if (record && attempt_over_text(y, a, record, &err) == 0)
        return;
    struct ending end = {.at = clock_wall(&y->clock),
                         .code = 137,
                         .started = a->started,
                         .stop = "",
                         .reason = "its conductor died",
                         .lost = true};
    if (claim->state == CLAIM_VOID || claim->state == CLAIM_NONE) {
        end.void_ = true;
        end.lost = false;
        end.started = 0;
        end.reason = "it was not started";
    }
    attempt_over(y, a, &end);
}

void attempt_look(struct yard *y, struct attempt *a)
{
    /* A conductor that was just started has not claimed yet. */
    enum { PATIENCE = 10 };
    AUTO_CLOSE int dir = open(a->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct claim claim = {.state = CLAIM_NONE};
    struct err err;
    if (dir < 0 && errno != ENOENT)
        return;
    if (dir >= 0 && claim_look(dir, &claim, &err) < 0) {
        warn(a, "claim", &err);
        return;
    }
    if (claim.state == CLAIM_HELD)
        return;
    if (claim.state == CLAIM_NONE) {
        bool young =
            a->todo & DEED_SPAWN || clock_now(&y->clock) - a->unheard < PATIENCE * USEC_PER_SEC;
        if (y->ready && young)
            return;
        if (dir >= 0 && claim_void(dir, &err) < 0)
            return; /* it came after all */
    }
    found_dead(y, a, dir, &claim);
}
