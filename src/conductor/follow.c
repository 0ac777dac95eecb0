/* Owns the input of the progress reader and the rate of reports. */
#include "conductor/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

enum { PACE = 100000, SILENCE = 1000000, CHUNK = 4096, MOST_AT_ONCE = 1 << 20 };
/* Bytes that are parsed although the job waits for us, and bytes per second that are added to
 * this allowance while it does not. */
enum { BURST = 512 << 10, RATE = 4 << 20 };

void follow_init(struct follow *f, int dir, const struct progress_config *config,
                 struct notes *notes)
{
    struct err err;
    *f = (struct follow){.notes = notes,
                         .dir = dir,
                         .file = -1,
                         .settle = USEC_NEVER,
                         .reported = -PACE,
                         .allowed = BURST};
    if (progress_create(config, &f->reader, &err) < 0) {
        notes_add(notes, "the progress pattern is not used: %s; looking for the usual forms",
                  err.text);
        struct progress_config usual = *config;
        usual.pattern = NULL;
        if (progress_create(&usual, &f->reader, &err) < 0)
            f->reader = NULL;
    }
}

void follow_done(struct follow *f)
{
    progress_free(f->reader);
    if (f->file >= 0)
        close(f->file);
    *f = (struct follow){.file = -1, .settle = USEC_NEVER};
}

static void look_for_problems(struct follow *f)
{
    const char *problem = progress_problem(f->reader);
    if (problem)
        notes_add(f->notes, "progress: %s", problem);
}

/* ---- floods of output ------------------------------------------------------------- */

/* Takes n bytes from the allowance; false if it is used up. */
static bool allow(struct follow *f, usec_t now, size_t n, bool behind)
{
    usec_t passed = now - f->filled < USEC_PER_SEC ? now - f->filled : USEC_PER_SEC;
    f->filled = now;
    if (!behind) {
        int64_t more = f->allowed + passed * RATE / USEC_PER_SEC;
        f->allowed = more < BURST ? more : BURST;
        return true;
    }
    if (f->allowed < (int64_t)n)
        return false;
    f->allowed -= (int64_t)n;
    return true;
}

/* Keeps the end of the bytes that are skipped. */
static void keep_tail(struct follow *f, const char *bytes, size_t n)
{
    if (n > FOLLOW_TAIL) {
        bytes += n - FOLLOW_TAIL;
        n = FOLLOW_TAIL;
    }
    size_t old = f->kept + n > FOLLOW_TAIL ? FOLLOW_TAIL - n : f->kept;
    memmove(f->tail, f->tail + f->kept - old, old);
    memcpy(f->tail + old, bytes, n);
    f->kept = old + n;
}

/* Parses what was kept, from its first whole line. */
static void read_tail(struct follow *f)
{
    size_t i = 0;
    if (!f->kept)
        return;
    while (i < f->kept && f->tail[i] != '\n' && f->tail[i] != '\r')
        i++;
    progress_skip(f->reader);
    f->news |= progress_feed(f->reader, f->tail + i, f->kept - i);
    f->kept = 0;
}

void follow_output(struct follow *f, usec_t now, const char *bytes, size_t n, bool behind)
{
    if (!f->reader)
        return;
    f->settle = now + SILENCE;
    if (!allow(f, now, n, behind)) {
        keep_tail(f, bytes, n);
        return;
    }
    read_tail(f);
    f->news |= progress_feed(f->reader, bytes, n);
    look_for_problems(f);
}

/* Opened once; a later file of the same name is ignored. */
static void open_file(struct follow *f)
{
    f->file = fd_open_regular(f->dir, "progress", O_RDONLY, 0);
    if (f->file < 0 && errno != ENOENT)
        notes_add(f->notes, "cannot open the file progress: %s", fd_why(errno));
}

/* If the file has suddenly become huge, it is not a list of reports: parse only its end. */
static void skip_most(struct follow *f, int64_t size)
{
    if (size - f->offset <= MOST_AT_ONCE)
        return;
    notes_add(f->notes, "progress: %lld bytes were written at once; only the last %d are read",
              (long long)(size - f->offset), MOST_AT_ONCE);
    progress_restart_file(f->reader);
    f->offset = size - MOST_AT_ONCE;
}

void follow_file(struct follow *f)
{
    char chunk[CHUNK];
    struct stat st;
    if (f->file < 0)
        open_file(f);
    if (!f->reader || f->file < 0 || fstat(f->file, &st) < 0)
        return;
    if (st.st_size < f->offset) {
        progress_restart_file(f->reader);
        f->offset = 0;
    }
    skip_most(f, st.st_size);
    /* Bounded, because a job may write faster than we read. */
    for (ssize_t n;
         f->offset < st.st_size && (n = pread(f->file, chunk, sizeof chunk, f->offset)) > 0;
         f->offset += n)
        f->news |= progress_feed_file(f->reader, chunk, (size_t)n);
    look_for_problems(f);
}

bool follow_saves(const struct follow *f)
{
    return f->reader && progress_saves(f->reader);
}

usec_t follow_next(const struct follow *f)
{
    usec_t report = f->news ? f->reported + PACE : USEC_NEVER;
    return report < f->settle ? report : f->settle;
}

/* Copies metrics with names chosen by the job. Cuts names at invalid UTF-8, and skips names that
 * are empty or duplicate. */
static void add_metric(struct field_numbers *out, const struct progress_metric *m)
{
    struct field_number *number = &out->at[out->n];
    size_t n = str_valid_utf8(m->name);
    memcpy(number->name, m->name, n);
    number->name[n] = '\0';
    number->value = m->value;
    bool taken = n == 0;
    for (uint32_t i = 0; i < out->n && !taken; i++)
        taken = strcmp(out->at[i].name, number->name) == 0;
    out->n += !taken;
}

/* Copies text from the job (NULL = none), cut at its size or at invalid UTF-8. */
static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
    to[str_valid_utf8(to)] = '\0';
}

/* The number by which the training is judged: the loss, or the first metric if there is no loss. */
static void judge(const struct progress *p, const struct field_numbers *metrics,
                  struct progress_report *out)
{
    bool loss = p->has & PROGRESS_LOSS;
    if (!loss && !metrics->n)
        return;
    snprintf(out->metric, sizeof out->metric, "%s", loss ? "loss" : metrics->at[0].name);
    out->value = loss ? p->loss : metrics->at[0].value;
}

void follow_report(const struct progress *p, struct progress_message *out)
{
    _Static_assert(PROGRESS_METRICS <= FIELD_NUMBERS_MAX, "all metrics fit");
    _Static_assert(PROGRESS_NAME <= FIELD_NUMBERS_NAME, "their names do");
    *out = (struct progress_message){
        .report = {.step = p->has & PROGRESS_STEP ? p->step : -1,
                   .total = p->has & PROGRESS_TOTAL ? p->total : -1,
                   .epoch = p->has & PROGRESS_EPOCH ? p->epoch : FIELD_UNKNOWN,
                   .epochs = p->has & PROGRESS_EPOCHS ? p->epochs : -1,
                   .loss = p->has & PROGRESS_LOSS ? p->loss : FIELD_UNKNOWN,
                   .rate = p->has & PROGRESS_RATE ? p->rate : FIELD_UNKNOWN,
                   .value = FIELD_UNKNOWN},
        .weak = p->weak,
        .diverged = p->diverged,
    };
    for (unsigned i = 0; i < p->n_metrics; i++)
        add_metric(&out->metrics, &p->metric[i]);
    judge(p, &out->metrics, &out->report);
    snprintf(out->report.source, sizeof out->report.source, "%s", p->source ? p->source : "");
    copy_text(out->report.total_from, sizeof out->report.total_from, p->total_from);
}

bool follow_take(struct follow *f, usec_t now, bool end, struct progress_message *out)
{
    if (!f->reader)
        return false;
    if (f->settle <= now || (end && f->settle != USEC_NEVER)) {
        f->settle = USEC_NEVER;
        read_tail(f);
        f->news |= progress_settle(f->reader);
    }
    if (!f->news || (!end && f->reported + PACE > now))
        return false;
    follow_report(progress_now(f->reader), out);
    f->news = false;
    f->reported = now;
    return true;
}
