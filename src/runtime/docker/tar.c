/* Owns the tar format, as far as it is needed: directories and regular files of short names. */
#include "runtime/docker/tar.h"

#include <stdio.h>
#include <string.h>

/* Offsets and lengths of a header's members. */
enum { MODE = 100, SIZE = 124, TIME = 136, SUM = 148, TYPE = 156, MAGIC = 257 };
enum { NAME_LENGTH = 100, SIZE_LENGTH = 12, SUM_LENGTH = 8 };
#define SIZE_MOST (INT64_MAX / 2)

/* ---- writing -------------------------------------------------------------------- */

static unsigned sum_of(const char *block)
{
    unsigned sum = 0;
    for (int i = 0; i < TAR_BLOCK; i++)
        sum += i >= SUM && i < SUM + SUM_LENGTH ? ' ' : (unsigned char)block[i];
    return sum;
}

static void add_header(struct str *out, const char *name, unsigned mode, size_t size, char type)
{
    char block[TAR_BLOCK] = {0};
    snprintf(block, NAME_LENGTH, "%s", name);
    snprintf(block + MODE, 8, "%07o", mode & 07777U);
    snprintf(block + MODE + 8, 8, "%07o", 0U);
    snprintf(block + MODE + 16, 8, "%07o", 0U);
    snprintf(block + SIZE, SIZE_LENGTH, "%011zo", size);
    snprintf(block + TIME, 12, "%011o", 0U);
    block[TYPE] = type;
    memcpy(block + MAGIC, "ustar", sizeof "ustar");
    block[MAGIC + 6] = block[MAGIC + 7] = '0';
    snprintf(block + SUM, SUM_LENGTH, "%06o", sum_of(block));
    block[SUM + SUM_LENGTH - 1] = ' ';
    str_add_n(out, block, sizeof block);
}

void tar_add_dir(struct str *out, const char *name, unsigned mode)
{
    add_header(out, name, mode, 0, '5');
}

void tar_add_file(struct str *out, const char *name, unsigned mode, const char *bytes, size_t n)
{
    static const char zeros[TAR_BLOCK];
    add_header(out, name, mode, n, '0');
    str_add_n(out, bytes, n);
    if (n % TAR_BLOCK)
        str_add_n(out, zeros, TAR_BLOCK - n % TAR_BLOCK);
}

void tar_end(struct str *out)
{
    static const char zeros[2 * TAR_BLOCK];
    str_add_n(out, zeros, sizeof zeros);
}

/* ---- reading -------------------------------------------------------------------- */

/* Octal digits, ended by a blank or a zero byte; or, with the highest bit set, binary. */
static int read_number(const char *text, size_t n, int64_t *out)
{
    const unsigned char *p = (const unsigned char *)text;
    uint64_t value = 0;
    size_t i = 0;
    if (p[0] & 0x80) {
        for (i = 1; i < n; i++) {
            if (value > SIZE_MOST >> 8)
                return -1;
            value = value << 8 | p[i];
        }
        *out = (int64_t)value;
        return 0;
    }
    while (i < n && p[i] == ' ')
        i++;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
        value = value << 3 | (uint64_t)(p[i] - '0');
    if (i < n && p[i] != ' ' && p[i] != '\0')
        return -1;
    *out = (int64_t)value;
    return value > SIZE_MOST ? -1 : 0;
}

static bool is_empty(const char *block)
{
    for (int i = 0; i < TAR_BLOCK; i++)
        if (block[i])
            return false;
    return true;
}

static int read_header(struct tar_reader *r, struct err *err)
{
    const char *b = r->block;
    int64_t sum, size;
    r->block_n = 0;
    if (is_empty(b)) {
        r->ended = true;
        return 0;
    }
    if (read_number(b + SUM, SUM_LENGTH, &sum) < 0 || sum != sum_of(b) ||
        read_number(b + SIZE, SIZE_LENGTH, &size) < 0)
        return err_set(err, ERR_INVALID, "the engine sent an archive that cannot be read");
    memcpy(r->name, b, NAME_LENGTH);
    r->name[NAME_LENGTH] = '\0';
    r->file = b[TYPE] == '0' || b[TYPE] == '\0';
    r->left = size;
    r->padding = (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
    return 0;
}

/* How many of n bytes belong to the present entry; passes its content on. */
static size_t take_content(struct tar_reader *r, const char *bytes, size_t n, tar_fn fn, void *ctx)
{
    int64_t *count = r->left ? &r->left : &r->padding;
    size_t part = (int64_t)n < *count ? n : (size_t)*count;
    if (r->left && r->file)
        fn(ctx, r->name, bytes, part);
    *count -= (int64_t)part;
    return part;
}

int tar_feed(struct tar_reader *r, const char *bytes, size_t n, tar_fn fn, void *ctx,
             struct err *err)
{
    while (n && !r->ended) {
        size_t part;
        if (r->left || r->padding) {
            part = take_content(r, bytes, n, fn, ctx);
        } else {
            part = TAR_BLOCK - r->block_n < n ? TAR_BLOCK - r->block_n : n;
            memcpy(r->block + r->block_n, bytes, part);
            r->block_n += part;
            if (r->block_n == TAR_BLOCK) {
                if (read_header(r, err) < 0)
                    return -1;
                if (!r->ended && r->file)
                    fn(ctx, r->name, NULL, 0);
            }
        }
        bytes += part;
        n -= part;
    }
    return 0;
}
