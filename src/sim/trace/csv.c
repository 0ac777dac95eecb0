/* Owns the reading of files and the splitting of records into fields.
 * Invariants: text[0..end) holds no NUL but those written over separators that
 * were already read, and *end is NUL, so a scan needs no bounds check. */
#include "sim/trace/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Line numbers are 32 bits and a trace beyond this is a mistake. */
#define CSV_LIMIT (4ULL << 30)

static void name_set(struct csv *c, const char *name)
{
    size_t n = strlen(name), room = sizeof c->name - 4;
    if (n <= room)
        memcpy(c->name, name, n + 1);
    else
        snprintf(c->name, sizeof c->name, "...%s", name + n - room);
}

static int check_text(const struct csv *c, struct err *err)
{
    size_t n = (size_t)(c->end - c->text);
    if (n >= 2 && !memcmp(c->text, "\x1f\x8b", 2))
        return err_set(err, ERR_INVALID, "%s: compressed; unpack it with gunzip first", c->name);
    const char *nul = memchr(c->text, '\0', n), *line_start = c->text;
    if (!nul)
        return 0;
    uint32_t line = 1;
    for (const char *p = c->text; p < nul; p++)
        if (*p == '\n') {
            line++;
            line_start = p + 1;
        }
    return err_set(err, ERR_INVALID, "%s:%u:%zu: NUL byte: this is not a text file", c->name, line,
                   (size_t)(nul - line_start) + 1);
}

/* Takes over the buffer, whose end has room for one more byte. */
static int text_take(struct csv *c, char *text, size_t n, struct err *err)
{
    c->text = c->at = c->line_start = text;
    c->end = text + n;
    c->line = 1;
    *c->end = '\0';
    if (check_text(c, err) < 0) {
        csv_done(c);
        return -1;
    }
    if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        c->at = c->line_start = text + 3;
    return 0;
}

int csv_from_text(struct csv *c, const char *name, const char *text, size_t n, struct err *err)
{
    *c = (struct csv){0};
    name_set(c, name);
    char *copy = xmalloc(n + 1);
    memcpy(copy, text, n);
    return text_take(c, copy, n, err);
}

static int read_all(int fd, const char *name, size_t expect, char **out, size_t *n, struct err *err)
{
    size_t cap = expect + 2, used = 0;
    AUTO_FREE char *buf = xmalloc(cap);
    for (;;) {
        ssize_t got = read(fd, buf + used, cap - used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(err, ERR_IO, "%s: %s", name, strerror(errno));
        if (got == 0)
            break;
        /* An endless device is caught by its zeroes before it fills the memory. */
        bool binary = memchr(buf + used, '\0', (size_t)got) != NULL;
        used += (size_t)got;
        if (binary)
            break;
        if (used > CSV_LIMIT)
            return err_set(err, ERR_INVALID, "%s: larger than 4 GiB", name);
        if (used + 1 == cap) {
            cap *= 2;
            buf = xrealloc(buf, cap);
        }
    }
    *n = used;
    *out = TAKE(buf);
    return 0;
}

int csv_open(struct csv *c, const char *path, struct err *err)
{
    struct stat st;
    char *text = NULL;
    size_t n = 0;
    *c = (struct csv){0};
    name_set(c, path);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(err, ERR_INVALID, "%s: %s", c->name, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID, "%s: a directory where a file was expected", c->name);
    size_t expect = S_ISREG(st.st_mode) && st.st_size < (off_t)CSV_LIMIT ? (size_t)st.st_size : 0;
    if (read_all(fd, c->name, expect > 4096 ? expect : 4096, &text, &n, err) < 0)
        return -1;
    return text_take(c, text, n, err);
}

void csv_done(struct csv *c)
{
    free(c->text);
    VEC_DONE(&c->fields);
    c->text = c->at = c->end = NULL;
}

size_t csv_records_left(const struct csv *c)
{
    size_t n = 1;
    for (const char *p = c->at; (p = memchr(p, '\n', (size_t)(c->end - p))) != NULL; p++)
        n++;
    return n;
}

static int fail_here(const struct csv *c, const char *p, struct err *err, const char *what)
{
    return err_set(err, ERR_INVALID, "%s:%u:%zu: %s", c->name, c->line,
                   (size_t)(p - c->line_start) + 1, what);
}

static bool is_blank(char ch)
{
    return ch == ' ' || ch == '\t';
}

/* Reads a field whose opening quote is at *p and leaves *p behind the closing
 * one. */
static int read_quoted(struct csv *c, char **p, struct csv_field *f, struct err *err)
{
    char *to = *p + 1, *from = to;
    f->at = to;
    f->quoted = true;
    for (;; from++) {
        if (*from == '"') {
            if (from[1] != '"')
                break;
            from++;
        } else if (*from == '\n') {
            c->line++;
            c->line_start = from + 1;
        } else if (from == c->end) {
            return err_set(err, ERR_INVALID, "%s:%u:%u: a quote that is never closed", c->name,
                           f->line, f->column);
        }
        *to++ = *from;
    }
    f->n = (size_t)(to - f->at);
    *p = from + 1;
    /* The closing quote, or what was moved over, is free for the terminator. */
    *to = '\0';
    while (is_blank(**p))
        (*p)++;
    return 0;
}

static int read_plain(struct csv *c, char **p, struct csv_field *f, struct err *err)
{
    /* Bytes that may end an unquoted field. */
    static const bool stops[256] = {
        [0] = true, [','] = true, ['\n'] = true, ['\r'] = true, ['"'] = true};
    char *q = *p;
    f->at = q;
    while (!stops[(unsigned char)*q])
        q++;
    if (*q == '"')
        return fail_here(c, q, err, "a quote inside an unquoted field; quote the whole field");
    char *last = q;
    while (last > f->at && is_blank(last[-1]))
        last--;
    f->n = (size_t)(last - f->at);
    *p = q;
    return 0;
}

/* Reads the field at c->at and the separator behind it. Returns 1 when more
 * fields follow in this record. */
static int read_field(struct csv *c, struct csv_field *f, struct err *err)
{
    char *p = c->at;
    while (is_blank(*p))
        p++;
    *f = (struct csv_field){.line = c->line, .column = (uint32_t)(p - c->line_start) + 1};
    if ((*p == '"' ? read_quoted(c, &p, f, err) : read_plain(c, &p, f, err)) < 0)
        return -1;
    char *stop = p;
    if (*p == '\r' && p[1] == '\n')
        p++;
    bool more = *p == ',';
    if (!more && *p != '\n' && p != c->end)
        return fail_here(c, p, err,
                         *p == '\r' ? "a carriage return without a line feed"
                                    : "text after a closing quote; expected a comma");
    c->at = p < c->end ? p + 1 : p;
    if (*p == '\n') {
        c->line++;
        c->line_start = c->at;
    }
    *stop = '\0';
    f->at[f->n] = '\0';
    return more;
}

/* A blank line was read: nothing but blank lines may follow. */
static int expect_end(struct csv *c, struct err *err)
{
    uint32_t line = c->fields.at[0].line;
    c->fields.n = 0;
    while (is_blank(*c->at) || *c->at == '\r' || *c->at == '\n')
        c->at++;
    if (c->at == c->end)
        return 0;
    return err_set(err, ERR_INVALID, "%s:%u:1: an empty line; expected a record", c->name, line);
}

int csv_next(struct csv *c, struct err *err)
{
    int more;
    c->fields.n = 0;
    if (c->at == c->end)
        return 0;
    do {
        struct csv_field f;
        if ((more = read_field(c, &f, err)) < 0)
            return -1;
        VEC_PUSH(&c->fields, f);
    } while (more);
    const struct csv_field *first = c->fields.at;
    if (c->fields.n == 1 && first->n == 0 && !first->quoted)
        return expect_end(c, err);
    return 1;
}

int csv_fail(const struct csv *c, size_t field, struct err *err, const char *fmt, ...)
{
    char text[sizeof err->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (c->fields.n == 0)
        return err_set(err, ERR_INVALID, "%s: %s", c->name, text);
    bool past = field >= c->fields.n;
    const struct csv_field *f = &c->fields.at[past ? c->fields.n - 1 : field];
    size_t column = f->column + (past ? f->n : 0);
    return err_set(err, ERR_INVALID, "%s:%u:%zu: %s", c->name, f->line, column, text);
}

char *csv_show(const char *text, char *buf, size_t size)
{
    size_t n = strlen(text), kept = n < size ? n : size - 1;
    for (size_t i = 0; i < kept; i++) {
        unsigned char ch = (unsigned char)text[i];
        buf[i] = ch < 0x20 || ch == 0x7f ? '?' : (char)ch;
    }
    if (kept < n && kept >= 3)
        memcpy(buf + kept - 3, "...", 3);
    buf[kept] = '\0';
    return buf;
}
