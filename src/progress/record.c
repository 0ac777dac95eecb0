/* Owns the reading of TensorBoard's event files and of W&B's store.
 *
 * An event file is a row of records: length (8 bytes), a checksum, the payload, a
 * checksum. The payload is an Event: step (2), summary (5) with values (1) that have a
 * tag (1) and a number (2), or a tensor (8) of one number.
 *
 * A store is LevelDB's log: a head of 7 bytes, then blocks of 32 KiB with parts of
 * records: checksum (4), length (2), type (1). The payload is a Record; its history (2)
 * has items (1) with a key (1 or 2) and a value in JSON (16), and a step (2).
 *
 * Checksums are not looked at: a program that is killed leaves a part of a record,
 * which is never complete. */
#include "progress/record.h"

#include <math.h>
#include <string.h>

#include "progress/number.h"
#include "progress/protobuf.h"

enum { EVENT_HEAD = 12, EVENT_TRAILER = 4, STORE_HEAD = 7, PART_HEAD = 7, BLOCK = 32768 };
enum { PART_FULL = 1, PART_FIRST, PART_MIDDLE, PART_LAST };
#define LENGTH_LIMIT (UINT64_C(1) << 32)

static uint64_t little_endian(const unsigned char *p, unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static void add_payload(struct progress_record *r, const char *bytes, size_t n)
{
    if (r->n + n > sizeof r->payload) {
        r->too_long = true;
        return;
    }
    memcpy(r->payload + r->n, bytes, n);
    r->n += n;
}

/* ---- what a number under a name says ---------------------------------------- */

static uint32_t name_key(const char *name, size_t n)
{
    uint32_t key = 2166136261u;
    for (size_t i = 0; i < n; i++)
        key = (key ^ (unsigned char)name[i]) * 16777619u;
    return key;
}

/* Keras logs "epoch_loss" by epoch, most others by step. */
static void add_value(struct sighting *s, const char *tag, size_t n, double value, int64_t step,
                      bool eval)
{
    static const char epoch[] = "epoch_";
    bool by_epoch = n > sizeof epoch - 1 && !memcmp(tag, epoch, sizeof epoch - 1);
    struct progress_name name;
    if (by_epoch) {
        tag += sizeof epoch - 1;
        n -= sizeof epoch - 1;
    }
    progress_name_read(tag, n, &name);
    if (name.kind == PROGRESS_WORD_EPOCH && !by_epoch && value >= 0 && isfinite(value)) {
        s->epoch = value;
        s->has |= SIGHTING_EPOCH;
        return;
    }
    s->eval = eval && !name.eval ? "val" : NULL;
    if (!sighting_add(s, &name, value, false) || eval || name.eval || step < 0)
        return;
    s->key = name_key(tag, n);
    s->epoch = by_epoch ? (double)step : s->epoch;
    s->from_zero = s->closes = by_epoch;
    s->at = step;
    s->has |= by_epoch ? SIGHTING_EPOCH : SIGHTING_AT;
    s->scope = SCOPE_JOB;
}

static void start(struct sighting *s, const char *source)
{
    sighting_init(s, source);
    s->trust = TRUST_LOGGED;
}

/* ---- TensorBoard -------------------------------------------------------------- */

/* The only number of a tensor: float_val (5), double_val (6), or four or eight bytes of
 * tensor_content (4). */
static bool read_tensor(const struct protobuf_field *tensor, double *out)
{
    struct protobuf p;
    struct protobuf_field f;
    protobuf_init(&p, tensor->bytes, tensor->n);
    while (protobuf_next(&p, &f)) {
        if (f.number < 4 || f.number > 6)
            continue;
        if (f.type == PROTOBUF_BYTES && (f.n == 4 || f.n == 8)) {
            f.type = f.n == 4 ? PROTOBUF_FIXED32 : PROTOBUF_FIXED64;
            f.value = little_endian(f.bytes, (unsigned)f.n);
        }
        if (f.type != PROTOBUF_FIXED32 && f.type != PROTOBUF_FIXED64)
            continue;
        *out = protobuf_float(&f);
        return true;
    }
    return false;
}

static void read_summary_value(struct sighting *s, const struct protobuf_field *value, int64_t step,
                               bool eval)
{
    struct protobuf p;
    struct protobuf_field f, tag = {0};
    double number = 0;
    bool known = false;
    protobuf_init(&p, value->bytes, value->n);
    while (protobuf_next(&p, &f)) {
        if (f.number == 1 && f.type == PROTOBUF_BYTES) {
            tag = f;
        } else if (f.number == 2 && f.type == PROTOBUF_FIXED32) {
            number = protobuf_float(&f);
            known = true;
        } else if (f.number == 8 && f.type == PROTOBUF_BYTES) {
            known = known || read_tensor(&f, &number);
        }
    }
    if (known && tag.n)
        add_value(s, (const char *)tag.bytes, tag.n, number, step, eval);
}

static void read_event(const unsigned char *bytes, size_t n, bool eval, progress_sighting_fn fn,
                       void *ctx)
{
    struct protobuf p, values;
    struct protobuf_field f, value, summary = {.bytes = (const unsigned char *)""};
    int64_t step = 0;
    protobuf_init(&p, bytes, n);
    while (protobuf_next(&p, &f)) {
        if (f.number == 2 && f.type == PROTOBUF_VARINT)
            step = f.value <= INT64_MAX ? (int64_t)f.value : -1;
        else if (f.number == 5 && f.type == PROTOBUF_BYTES)
            summary = f;
    }
    protobuf_init(&values, summary.bytes, summary.n);
    while (protobuf_next(&values, &value)) {
        if (value.number != 1 || value.type != PROTOBUF_BYTES)
            continue;
        struct sighting s;
        start(&s, "tensorboard");
        read_summary_value(&s, &value, step, eval);
        fn(ctx, &s);
    }
}

/* The head of a record is complete. */
static void start_event(struct progress_record *r)
{
    r->left = little_endian(r->frame, 8);
    r->broken = r->left > LENGTH_LIMIT;
    r->n = 0;
    r->too_long = r->left > sizeof r->payload;
    r->trailer = EVENT_TRAILER;
}

/* Takes bytes of the current payload: how many. */
static size_t take_part(struct progress_record *r, const char *bytes, size_t n)
{
    size_t part = n < r->left ? n : (size_t)r->left;
    add_payload(r, bytes, r->too_long ? 0 : part);
    r->left -= part;
    return part;
}

void progress_record_read_events(struct progress_record *r, const char *bytes, size_t n, bool eval,
                                 progress_sighting_fn fn, void *ctx)
{
    while (n && !r->broken) {
        size_t took = 1;
        if (r->head < EVENT_HEAD) {
            r->frame[r->head++] = (unsigned char)*bytes;
            if (r->head == EVENT_HEAD)
                start_event(r);
        } else if (r->left) {
            took = take_part(r, bytes, n);
        } else {
            r->trailer--;
        }
        bytes += took;
        n -= took;
        if (r->head == EVENT_HEAD && !r->left && !r->trailer) {
            if (!r->too_long)
                read_event(r->payload, r->n, eval, fn, ctx);
            r->head = 0;
        }
    }
}

/* ---- Weights & Biases ----------------------------------------------------------- */

/* An item: its key, or the parts of a nested one joined, and its number. */
static bool read_item(const struct protobuf_field *item, char *key, size_t size, double *out)
{
    struct protobuf p;
    struct protobuf_field f;
    size_t used = 0;
    bool known = false;
    protobuf_init(&p, item->bytes, item->n);
    while (protobuf_next(&p, &f)) {
        if (f.type != PROTOBUF_BYTES)
            continue;
        if ((f.number == 1 || f.number == 2) && f.n && used + f.n + 2 < size) {
            if (used)
                key[used++] = '/';
            memcpy(key + used, f.bytes, f.n);
            used += f.n;
        } else if (f.number == 16) {
            const char *text = (const char *)f.bytes;
            size_t quote = f.n > 2 && *text == '"';
            known = progress_number_read(text + quote, f.n - 2 * quote, out) == f.n - 2 * quote;
        }
    }
    key[used] = '\0';
    return known && used;
}

static void read_history(const struct protobuf_field *history, progress_sighting_fn fn, void *ctx)
{
    struct protobuf p, inner;
    struct protobuf_field f, num;
    struct sighting s;
    char key[128];
    double value;
    int64_t step = -1;
    protobuf_init(&p, history->bytes, history->n);
    while (protobuf_next(&p, &f)) {
        if (f.number == 2 && f.type == PROTOBUF_BYTES) {
            protobuf_init(&inner, f.bytes, f.n);
            while (protobuf_next(&inner, &num))
                step = num.number == 1 && num.value <= INT64_MAX ? (int64_t)num.value : step;
        } else if (f.number == 1 && f.type == PROTOBUF_BYTES &&
                   read_item(&f, key, sizeof key, &value) && !strcmp(key, "_step") && value >= 0 &&
                   value < 1e15) {
            step = (int64_t)value;
        }
    }
    start(&s, "wandb");
    protobuf_init(&p, history->bytes, history->n);
    while (protobuf_next(&p, &f)) {
        if (f.number == 1 && f.type == PROTOBUF_BYTES && read_item(&f, key, sizeof key, &value) &&
            *key != '_')
            add_value(&s, key, strlen(key), value, step, false);
    }
    s.key = 0;
    fn(ctx, &s);
}

static void read_record(const unsigned char *bytes, size_t n, progress_sighting_fn fn, void *ctx)
{
    struct protobuf p;
    struct protobuf_field f;
    protobuf_init(&p, bytes, n);
    while (protobuf_next(&p, &f)) {
        if (f.number == 2 && f.type == PROTOBUF_BYTES)
            read_history(&f, fn, ctx);
    }
}

/* The head of a part is complete. */
static void start_part(struct progress_record *r)
{
    r->left = little_endian(r->frame + 4, 2);
    r->type = r->frame[6];
    r->broken = r->type > PART_LAST;
    if (r->type == PART_FULL || r->type == PART_FIRST) {
        r->n = 0;
        r->too_long = false;
    }
}

static void end_part(struct progress_record *r, progress_sighting_fn fn, void *ctx)
{
    if ((r->type == PART_FULL || r->type == PART_LAST) && !r->too_long)
        read_record(r->payload, r->n, fn, ctx);
    r->head = 0;
}

void progress_record_read_wandb(struct progress_record *r, const char *bytes, size_t n,
                                progress_sighting_fn fn, void *ctx)
{
    static const char ident[] = ":W&B";
    while (n && !r->broken) {
        size_t took = 1;
        if (r->offset < STORE_HEAD) {
            r->broken = r->offset < sizeof ident - 1 && *bytes != ident[r->offset];
        } else if (!r->head && BLOCK - r->offset % BLOCK < PART_HEAD) {
            /* The rest of the block is padding. */
        } else if (r->head < PART_HEAD) {
            r->frame[r->head++] = (unsigned char)*bytes;
            if (r->head == PART_HEAD)
                start_part(r);
        } else {
            took = take_part(r, bytes, n);
        }
        r->offset += took;
        bytes += took;
        n -= took;
        if (r->head == PART_HEAD && !r->left && !r->broken)
            end_part(r, fn, ctx);
    }
}
