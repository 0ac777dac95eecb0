/* Owns the feeding of the progress reader, and its pace. */
#include "conductor/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

enum { PACE = 100000, SILENCE = 1000000, CHUNK = 4096 };

void follow_init(struct follow *f, int dir, const struct progress_config *config,
                 struct notes *notes)
{
    struct err err;
    *f = (struct follow){.notes = notes, .settle = USEC_NEVER, .reported = -PACE};
    if (progress_create(config, &f->reader, &err) < 0) {
        notes_add(notes, "the progress pattern is not used: %s; looking for the usual forms",
                  err.text);
        const struct progress_config usual = {.total = config->total};
        if (progress_create(&usual, &f->reader, &err) < 0)
            f->reader = NULL;
    }
    f->file = openat(dir, "progress", O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
    if (f->file < 0)
        notes_add(notes, "cannot open the file progress: %s", strerror(errno));
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

void follow_output(struct follow *f, usec_t now, const char *bytes, size_t n)
{
    if (!f->reader)
        return;
    f->news |= progress_feed(f->reader, bytes, n);
    f->settle = now + SILENCE;
    look_for_problems(f);
}

void follow_file(struct follow *f)
{
    char chunk[CHUNK];
    struct stat st;
    if (!f->reader || f->file < 0 || fstat(f->file, &st) < 0)
        return;
    if (st.st_size < f->offset) {
        progress_restart_file(f->reader);
        f->offset = 0;
    }
    for (ssize_t n; (n = pread(f->file, chunk, sizeof chunk, f->offset)) > 0; f->offset += n)
        f->news |= progress_feed_file(f->reader, chunk, (size_t)n);
    look_for_problems(f);
}

usec_t follow_next(const struct follow *f)
{
    usec_t report = f->news ? f->reported + PACE : USEC_NEVER;
    return report < f->settle ? report : f->settle;
}

char *follow_take(struct follow *f, usec_t now, bool end)
{
    if (!f->reader)
        return NULL;
    if (f->settle <= now || (end && f->settle != USEC_NEVER)) {
        f->settle = USEC_NEVER;
        f->news |= progress_settle(f->reader);
    }
    if (!f->news || (!end && f->reported + PACE > now))
        return NULL;
    struct str body = {0};
    str_add(&body, "");
    progress_add_json(progress_now(f->reader), &body);
    progress_add_judged(progress_now(f->reader), &body);
    f->news = false;
    f->reported = now;
    return body.at;
}
