/* Owns the format of event streams, as in the HTML standard: one field per line, an empty line
 * ends an event, line ends are LF, CRLF or CR. The reader keeps one incomplete line and the
 * fields of one incomplete event, at most SSE_EVENT_LIMIT. */
#include "http/sse.h"

#include <string.h>

static void add_field(struct str *out, const char *name, const char *value, size_t n)
{
    str_add(out, name);
    str_add(out, ": ");
    str_add_n(out, value, n);
    str_add(out, "\n");
}

/* The lines of `text` as fields of one name. */
static void add_lines(struct str *out, const char *name, const char *text)
{
    for (;;) {
        size_t n = strcspn(text, "\r\n");
        add_field(out, name, text, n);
        text += n;
        if (!*text)
            return;
        text += text[0] == '\r' && text[1] == '\n' ? 2 : 1;
    }
}

void sse_add_event(struct str *out, const char *id, const char *event, const char *data)
{
    if (id)
        add_field(out, "id", id, strcspn(id, "\r\n"));
    if (event)
        add_field(out, "event", event, strcspn(event, "\r\n"));
    add_lines(out, "data", data);
    str_add(out, "\n");
}

void sse_add_comment(struct str *out, const char *text)
{
    add_lines(out, "", text);
    str_add(out, "\n");
}

void sse_add_retry(struct str *out, unsigned milliseconds)
{
    str_addf(out, "retry: %u\n\n", milliseconds);
}

static void set(struct str *s, const char *text, size_t n)
{
    s->n = 0;
    str_add_n(s, text, n);
}

static void read_retry(struct sse_reader *r, const char *value, size_t n)
{
    uint64_t ms = 0;
    for (size_t i = 0; i < n; i++) {
        if (value[i] < '0' || value[i] > '9' || ms > UINT32_MAX)
            return;
        ms = ms * 10 + (uint64_t)(value[i] - '0');
    }
    if (n)
        r->retry_ms = ms;
}

static void read_field(struct sse_reader *r, const char *line, size_t n)
{
    const char *colon = memchr(line, ':', n);
    size_t name = colon ? (size_t)(colon - line) : n;
    const char *value = line + name + (colon != NULL);
    size_t length = n - name - (colon != NULL);
    if (length && *value == ' ') {
        value++;
        length--;
    }
    if (name == 4 && !memcmp(line, "data", 4)) {
        if (r->has_data)
            str_add(&r->data, "\n");
        str_add_n(&r->data, value, length);
        r->has_data = true;
    } else if (name == 5 && !memcmp(line, "event", 5)) {
        set(&r->event, value, length);
    } else if (name == 2 && !memcmp(line, "id", 2)) {
        if (!memchr(value, '\0', length))
            set(&r->id, value, length);
    } else if (name == 5 && !memcmp(line, "retry", 5)) {
        read_retry(r, value, length);
    }
}

static int end_event(struct sse_reader *r, int (*each)(void *, const struct sse_event *), void *ctx)
{
    int rc = 0;
    if (r->has_data) {
        struct sse_event event = {
            .id = r->id.n ? r->id.at : "",
            .event = r->event.n ? r->event.at : "message",
            .data = r->data.at,
            .n = r->data.n,
        };
        rc = each(ctx, &event);
    }
    r->has_data = false;
    r->data.n = r->event.n = 0;
    return rc;
}

static int end_line(struct sse_reader *r, int (*each)(void *, const struct sse_event *), void *ctx)
{
    const char *line = r->line.n ? r->line.at : "";
    size_t n = r->line.n;
    if (!r->started && n >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
        line += 3;
        n -= 3;
    }
    r->started = true;
    r->line.n = 0;
    if (!n)
        return end_event(r, each, ctx);
    if (*line != ':')
        read_field(r, line, n);
    return 0;
}

int sse_read(struct sse_reader *r, const char *bytes, size_t n,
             int (*each)(void *ctx, const struct sse_event *event), void *ctx, struct err *err)
{
    for (const char *p = bytes, *end = bytes + n; p < end;) {
        if (r->after_cr && *p == '\n') {
            r->after_cr = false;
            p++;
            continue;
        }
        r->after_cr = false;
        size_t length = 0;
        while (p + length < end && p[length] != '\n' && p[length] != '\r')
            length++;
        if (r->line.n + r->data.n + length > SSE_EVENT_LIMIT)
            return err_set(err, ERR_LIMIT, "an event is larger than %u MiB", SSE_EVENT_LIMIT >> 20);
        str_add_n(&r->line, p, length);
        p += length;
        if (p == end)
            break;
        r->after_cr = *p++ == '\r';
        int rc = end_line(r, each, ctx);
        if (rc)
            return rc;
    }
    return 0;
}

void sse_reader_done(struct sse_reader *r)
{
    str_done(&r->line);
    str_done(&r->data);
    str_done(&r->event);
    str_done(&r->id);
}
