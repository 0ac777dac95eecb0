/* Owns which bars belong to the epoch that a line has opened. */
#include "progress/header.h"

void progress_header_open(struct progress_header *h, const struct sighting *s)
{
    bool ended = h->taken && h->of && h->at >= h->of;
    if (h->open && h->epoch == s->epoch && !ended)
        return; /* drawn again */
    *h = (struct progress_header){
        .open = true,
        .from_zero = s->from_zero,
        .again = h->open && h->epoch == s->epoch,
        .epoch = s->epoch,
        .epochs = s->has & SIGHTING_EPOCHS ? s->epochs : 0,
    };
}

bool progress_header_is_foreign(const struct progress_header *h, const struct sighting *s)
{
    if (!s->bar || !h->open || !h->taken || (s->has & SIGHTING_EPOCH))
        return false;
    bool other = s->key != h->key || ((s->has & SIGHTING_OF) && h->of && s->of != h->of);
    bool second = h->of && h->at >= h->of && s->at < h->at;
    return other || second;
}

void progress_header_adopt(struct progress_header *h, struct sighting *s)
{
    int64_t of = s->has & SIGHTING_OF ? s->of : 0;
    h->taken = h->taken || s->bar;
    h->key = s->key;
    h->at = s->at;
    h->of = of;
    s->has |= SIGHTING_EPOCH | (h->epochs ? SIGHTING_EPOCHS : 0);
    s->epoch = h->epoch;
    s->epochs = h->epochs;
    s->from_zero = h->from_zero;
    s->key = 0;
    if (s->bar || (of && !s->named))
        s->scope = SCOPE_EPOCH;
    if (s->bar)
        s->trust = TRUST_GOOD;
}
