/* Owns the replay: a new engine for each stretch of the journal, which is given the
 * recorded events and must make the recorded decisions. */
#include "journal/replay.h"

#include <inttypes.h>

#include "journal/journal.h"
#include "journal/read.h"
#include "store/journal.h"

struct replay {
    struct replay_result *out;
    int64_t boot; /* the current stretch; 0 = none yet */
    bool lost;    /* it has no beginning, or has diverged: skip its rows */
    bool differs; /* one of its decisions differs */
    bool begun;   /* there is an engine */
    struct engine e;
    struct arena jobs, row;
    usec_t now;
    bool decided; /* the last step's decision has not been compared yet */
    struct str plan;
};

/* Records that this row differs from what was decided. */
static void note_difference(struct replay *r, int64_t seq, const char *was, const char *is)
{
    struct replay_result *out = r->out;
    r->differs = true;
    if (out->differing++)
        return;
    out->first_seq = seq;
    str_add(&out->was, was);
    str_add(&out->is, is);
}

static void leave_boot(struct replay *r)
{
    if (r->begun)
        engine_done(&r->e);
    r->e = (struct engine){0};
    arena_done(&r->jobs);
    r->begun = r->lost = r->differs = r->decided = false;
    r->now = 0;
}

static int enter_boot(struct replay *r, const char *data, struct err *err)
{
    struct engine_config config;
    struct cluster cluster;
    if (journal_read_boot(data, &r->jobs, &config, &cluster, err) < 0)
        return -1;
    engine_init(&r->e, &config, &cluster);
    r->begun = true;
    r->out->boots++;
    return 0;
}

/* A decision without a recorded plan: another row follows it. */
static void miss_plan(struct replay *r, int64_t seq)
{
    if (r->decided)
        note_difference(r, seq, "", r->plan.at);
    r->decided = false;
}

static int take_event(struct replay *r, int64_t seq, const char *data, struct err *err)
{
    struct event event;
    usec_t now;
    uint64_t before = r->e.decisions;
    miss_plan(r, seq);
    arena_reset(&r->row);
    if (journal_read_event(data, &r->jobs, &r->row, &event, &now, err) < 0)
        return -1;
    if (now < r->now)
        return err_set(err, ERR_INVALID, "now %" PRId64 " is before the last event", now);
    r->now = now;
    if (engine_step(&r->e, &event, now, err) < 0) {
        /* After a different decision, later rows may no longer make sense. */
        r->lost = r->differs;
        return r->differs ? 0 : err_prefix(err, "the engine refuses it");
    }
    r->out->events++;
    r->decided = r->e.decisions != before;
    if (r->decided) {
        r->plan.n = 0;
        journal_write_plan(&r->e, now, &r->plan);
    }
    return 0;
}

static void compare_plan(struct replay *r, int64_t seq, const char *data)
{
    r->out->decisions++;
    if (!r->decided)
        note_difference(r, seq, data, "");
    else if (strcmp(data, r->plan.at) != 0)
        note_difference(r, seq, data, r->plan.at);
    r->decided = false;
}

static int take_row(struct replay *r, int64_t seq, const char *kind, const char *data,
                    struct err *err)
{
    if (!strcmp(kind, "boot")) {
        if (r->begun)
            return err_set(err, ERR_INVALID, "a second beginning");
        return enter_boot(r, data, err);
    }
    if (strcmp(kind, "event") != 0 && strcmp(kind, "plan") != 0)
        return err_set(err, ERR_INVALID, "unknown kind '%.32s'", kind);
    if (!r->begun)
        r->lost = true;
    if (r->lost) {
        r->out->passed_over++;
        return 0;
    }
    if (*kind == 'e')
        return take_event(r, seq, data, err);
    compare_plan(r, seq, data);
    return 0;
}

int replay_row(struct replay *r, int64_t seq, int64_t boot, const char *kind, const char *data,
               struct err *err)
{
    if (boot != r->boot) {
        miss_plan(r, seq);
        leave_boot(r);
        r->boot = boot;
    }
    if (take_row(r, seq, kind, data, err) == 0)
        return 0;
    if (err)
        err->code = ERR_IO; /* the journal is wrong, not its reader */
    return err_prefix(err, "journal, row %" PRId64, seq);
}

struct replay *replay_create(struct replay_result *out)
{
    struct replay *r = xcalloc(1, sizeof *r);
    r->out = out;
    return r;
}

void replay_end(struct replay *r)
{
    miss_plan(r, 0);
}

void replay_free(struct replay *r)
{
    leave_boot(r);
    arena_done(&r->row);
    str_done(&r->plan);
    free(r);
}

static int see_row(void *ctx, int64_t seq, int64_t boot, const char *kind, const char *data,
                   struct err *err)
{
    return replay_row(ctx, seq, boot, kind, data, err);
}

int journal_replay(struct store *s, int64_t boot, struct replay_result *out, struct err *err)
{
    struct replay_result result = {0};
    struct replay *r = replay_create(&result);
    int rc = store_journal_list(s, boot, see_row, r, err);
    if (rc == 0)
        replay_end(r);
    if (rc == 0 && boot && !r->boot)
        rc = err_set(err, ERR_NOT_FOUND, "the journal has no start %" PRId64, boot);
    replay_free(r);
    if (rc < 0)
        replay_result_done(&result);
    else
        *out = result;
    return rc;
}

void replay_result_done(struct replay_result *r)
{
    str_done(&r->was);
    str_done(&r->is);
    *r = (struct replay_result){0};
}
