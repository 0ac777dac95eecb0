/* Owns the reading of a response's head. Only the status matters here: the engine has agreed to
 * change the protocol with 101, or with 200 if it is an older one. */
#include "runtime/remote/head.h"

#include <string.h>

enum { HEAD_MAX = 16384, STATUS_AT = 9, STATUS_DIGITS = 3 };

static int read_status(const char *text, int *out)
{
    int status = 0;
    if (strncmp(text, "HTTP/1.", 7) != 0 || !text[7] || text[8] != ' ')
        return -1;
    for (int i = STATUS_AT; i < STATUS_AT + STATUS_DIGITS; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        status = status * 10 + (text[i] - '0');
    }
    *out = status;
    return status >= 100 ? 0 : -1;
}

static bool is_complete(const struct str *s)
{
    return (s->n >= 4 && !memcmp(s->at + s->n - 4, "\r\n\r\n", 4)) ||
           (s->n >= 2 && !memcmp(s->at + s->n - 2, "\n\n", 2));
}

int head_feed(struct http_head *h, const char *bytes, size_t n, size_t *used, struct err *err)
{
    size_t i = 0;
    while (!h->status && i < n) {
        str_add_n(&h->text, bytes + i++, 1);
        if (h->text.n > HEAD_MAX)
            return err_set(err, ERR_INVALID, "the head of the engine's response is too long");
        if (is_complete(&h->text) && read_status(h->text.at, &h->status) < 0)
            return err_set(err, ERR_INVALID, "the engine's response is not HTTP");
    }
    *used = i;
    return 0;
}

void head_done(struct http_head *h)
{
    str_done(&h->text);
}
