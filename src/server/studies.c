/* Owns the what-ifs that are under way. They take turns. */
#include "server/studies.h"

/* Work of one turn: limited by the clock, and by the number of steps in case the clock stands
 * still. */
#define SLICE (USEC_PER_SEC / 125)
enum { BITS = 10000 };

int study_begin(struct yard *y, struct study *s, struct err *err)
{
    uint32_t n = 0;
    struct study **end = &y->studies;
    for (; *end; end = &(*end)->next)
        n++;
    if (n >= STUDIES_MAX)
        return err_set(err, ERR_LIMIT, "%d what-ifs are under way; try again in a moment",
                       STUDIES_MAX);
    s->next = NULL;
    *end = s;
    return 0;
}

void study_forget(struct yard *y, struct study *s)
{
    for (struct study **at = &y->studies; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            return;
        }
}

static bool is_complete(const struct study *s)
{
    int draws = whatif_draws(s->what);
    return draws >= (int)s->draws || (draws >= 0 && s->spent >= s->budget);
}

/* Returns whether there is more to do. */
static bool work_on(struct yard *y, struct study *s)
{
    usec_t began = clock_now(&y->clock), now = began;
    bool more = true;
    for (int i = 0; more && i < BITS && now - began < SLICE; i++) {
        more = whatif_work(s->what) && !is_complete(s);
        now = clock_now(&y->clock);
    }
    s->spent += now - began;
    return more && !is_complete(s);
}

void studies_turn(struct yard *y)
{
    struct study *s = y->studies;
    struct err ignored;
    if (!s)
        return;
    bool more = work_on(y, s);
    study_forget(y, s);
    if (more)
        (void)study_begin(y, s, &ignored); /* the last one now */
    else
        s->done(s->ctx, NULL);
}

bool studies_wait(const struct yard *y)
{
    return y->studies;
}

void studies_end(struct yard *y)
{
    struct err err;
    err_set(&err, ERR_UNREACHABLE, "the server is stopping or starts again; ask once more");
    while (y->studies) {
        struct study *s = y->studies;
        study_forget(y, s);
        s->done(s->ctx, &err);
    }
}
