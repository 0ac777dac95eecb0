/* Owns the logs of simulated jobs: one byte per 10 ms of running time, in lines whose letters
 * identify the attempt. */
#include "runtime/fake_log.h"

#include "runtime/fake_conductor.h"

enum { BYTE_EVERY = 10000, LINE = 64 };

char fake_log_byte(struct attempt_id id, int64_t offset)
{
    if (offset % LINE == LINE - 1)
        return '\n';
    return (char)('a' + (id.job + 5 * (int64_t)id.n + offset / LINE) % 26);
}

static int64_t size_of(const struct fake_attempt *a)
{
    return a->ran / BYTE_EVERY;
}

int64_t fake_log_bytes(struct fake *f, struct attempt_id id)
{
    struct fake_attempt *a = fake_find_attempt(f, id);
    if (!a)
        return 0;
    fake_conductor_advance(f, a);
    return size_of(a);
}

void fake_log_ask(struct fake *f, struct fake_attempt *a, int64_t offset)
{
    a->log_next = offset;
    a->log_at = fake_soon(f, f->faults.delay) + 1;
}

static void pass_on(struct fake *f, struct fake_attempt *a, int64_t n)
{
    struct runtime_host *h = f->server->host;
    AUTO_FREE char *bytes = xmalloc((size_t)n);
    int64_t from = a->log_next;
    for (int64_t i = 0; i < n; i++)
        bytes[i] = fake_log_byte(a->id, from + i);
    a->log_next += n;
    h->log(h, a->id, from, bytes, (size_t)n);
}

/* In pieces, as from a pipe. */
void fake_log_turn(struct fake *f, struct fake_attempt *a)
{
    bool over = a->state != FAKE_RUNNING && a->state != FAKE_CREATED;
    a->log_at = USEC_NEVER;
    if (!f->server || fake_is_cut(f, a->node))
        return;
    fake_conductor_advance(f, a);
    int64_t left = size_of(a) - a->log_next;
    if (left > 0)
        pass_on(f, a, 1 + (int64_t)rng_below(&f->rng, (uint64_t)left));
    if (over && a->log_next >= size_of(a))
        f->server->host->log(f->server->host, a->id, a->log_next, NULL, 0);
    else
        a->log_at = f->now + (over ? 1 : f->options.report);
}
