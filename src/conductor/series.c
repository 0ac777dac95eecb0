/* Owns the progress messages that may still have to be sent, ordered by time: first those with a
 * number, then those without. */
#include "conductor/series.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static size_t numbered(const struct series *s)
{
    size_t n = 0;
    while (n < s->n && s->at[n]->seq)
        n++;
    return n;
}

static void drop_oldest(struct series *s)
{
    free(s->at[0]);
    s->n--;
    s->next -= s->next > 0;
    memmove(s->at, s->at + 1, s->n * sizeof *s->at);
}

/* Drops every second message without a number. */
static void thin_out(struct series *s)
{
    size_t n = numbered(s), first = n;
    for (size_t i = first; i < s->n; i++) {
        if ((i - first) % 2 == 0)
            free(s->at[i]);
        else
            s->at[n++] = s->at[i];
    }
    s->n = n;
    if (s->next > first)
        s->next = first;
    s->stride = s->stride ? s->stride * 2 : 2;
    s->count = 0;
}

void series_add(struct series *s, const struct progress_message *m)
{
    /* The newest message is replaced unless its turn to be kept has come. */
    if (s->stride > 1 && s->count % s->stride && s->n && !s->at[s->n - 1]->seq)
        free(s->at[--s->n]);
    if (s->n == SERIES_MAX) {
        if (numbered(s) > SERIES_RESEND)
            drop_oldest(s);
        else
            thin_out(s);
    }
    struct progress_message *copy = xmalloc(sizeof *copy);
    *copy = *m;
    copy->seq = 0;
    s->at[s->n++] = copy;
    s->count++;
}

const struct progress_message *series_take(struct series *s)
{
    if (s->next == s->n) {
        s->stride = s->count = 0;
        return NULL;
    }
    struct progress_message *m = s->at[s->next++];
    if (!m->seq)
        m->seq = ++s->seq;
    return m;
}

void series_rewind(struct series *s, int64_t known)
{
    size_t n = numbered(s);
    s->next = known < 0 && n ? n - 1 : 0;
    while (known >= 0 && s->next < n && s->at[s->next]->seq <= known)
        s->next++;
}

void series_done(struct series *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->at[i]);
    *s = (struct series){0};
}
