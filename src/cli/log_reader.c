/* Owns the place in a log that a reader has reached. A stream has only bytes, so the reader
 * counts from the offset in the reply's header; after an interruption the job's attempts tell
 * in which log that place is. */
#include "cli/log_reader.h"

#include <stdio.h>

#include "base/mem.h"
#include "cli/member.h"

/* The most lines that the server shows as a terminal would; how often a reply may break off at the
 * same place. */
enum { SCREEN_MAX = 10000, BREAKS_MAX = 5 };

static const json_t *attempt_of(const json_t *job, int64_t number)
{
    const json_t *attempts = json_object_get(job, "attempts");
    for (size_t i = 0; i < json_array_size(attempts); i++) {
        const json_t *a = json_array_get(attempts, i);
        if (member_integer(a, "n") == number)
            return a;
    }
    return NULL;
}

void log_place_advance(const json_t *job, int64_t bytes, struct log_place *place)
{
    place->offset += bytes;
    for (const json_t *a; (a = attempt_of(job, place->attempt)); place->attempt++) {
        int64_t length = member_integer(a, "log_bytes");
        if (!member_has(a, "ended") || place->offset <= length ||
            !attempt_of(job, place->attempt + 1))
            return;
        place->offset -= length;
    }
}

/* Notes the offset of a stream's first bytes. */
static void note_place(struct log_reader *r)
{
    const char *offset = http_client_header(r->link->http, "X-Log-Offset");
    int64_t number;
    if (offset && str_parse_int(offset, 0, INT64_MAX, &number, NULL) == 0)
        r->place.offset = number;
    r->placed = true;
}

static int on_bytes(void *ctx, const char *bytes, size_t n)
{
    struct log_reader *r = ctx;
    if (!r->placed && !r->screen)
        note_place(r);
    r->got += r->screen ? 0 : (int64_t)n;
    if (r->terminal) {
        struct str shown = {0};
        log_filter_add(&r->filter, bytes, n, &shown);
        fwrite(shown.at ? shown.at : "", 1, shown.n, stdout);
        str_done(&shown);
    } else {
        fwrite(bytes, 1, n, stdout);
    }
    return fflush(stdout) ? 1 : 0;
}

static char *path_of(const struct log_reader *r)
{
    struct str path = {0};
    AUTO_FREE char *logs = server_link_job_path(r->job, "logs");
    str_addf(&path, "%s?", logs);
    if (r->place.attempt)
        str_addf(&path, "attempt=%lld&", (long long)r->place.attempt);
    if (r->placed)
        str_addf(&path, "offset=%lld&", (long long)r->place.offset);
    else if (r->tail >= 0)
        str_addf(&path, "tail=%lld&", (long long)r->tail);
    str_addf(&path, r->screen ? "screen=1" : "follow=%d", r->follow);
    return path.at;
}

/* Updates the place before the next stream begins there. */
static int find_place(struct log_reader *r, struct err *err)
{
    AUTO_FREE char *path = server_link_job_path(r->job, NULL);
    json_auto_t *job = NULL;
    if (server_link_get(r->link, path, &job, err) < 0)
        return -1;
    r->reached = true;
    if (!r->place.attempt)
        r->place.attempt = r->attempt ? r->attempt : member_integer(job, "attempt");
    log_place_advance(job, r->got, &r->place);
    r->got = 0;
    return 0;
}

static int stream_from_place(struct log_reader *r, struct err *err)
{
    if (find_place(r, err) < 0)
        return -1;
    AUTO_FREE char *path = path_of(r);
    int rc = server_link_stream(r->link, path, on_bytes, r, err);
    return rc > 0 ? err_set(err, ERR_IO, "cannot write the output") : rc;
}

/* Prints the last lines as a terminal shows them; the place is the end of the log then. */
static int show_tail(struct log_reader *r, struct err *err)
{
    r->screen = true;
    int rc = stream_from_place(r, err);
    r->screen = false;
    if (rc == 0)
        note_place(r);
    return rc;
}

static int stream(struct log_reader *r, struct err *err)
{
    bool tail = r->tail >= 0 && r->tail <= SCREEN_MAX;
    if (tail && !r->placed && (show_tail(r, err) < 0 || !r->follow))
        return r->placed ? 0 : -1;
    return stream_from_place(r, err);
}

int log_reader_run(struct log_reader *r, struct err *err)
{
    int64_t place = -1;
    int rc, breaks = 0;
    while ((rc = stream(r, err)) < 0 && r->reached && err->code == ERR_UNREACHABLE) {
        breaks = r->place.offset + r->got == place ? breaks + 1 : 1;
        place = r->place.offset + r->got;
        if (breaks == BREAKS_MAX && !r->follow)
            return err_set(err, ERR_IO, "the log of job %s cannot be read from byte %lld on",
                           r->job, (long long)place);
        fprintf(stderr, "the server does not answer; waiting for it\n");
        if (server_link_wait_back(r->link, err) < 0)
            return -1;
    }
    if (rc == 0 && r->terminal) {
        struct str shown = {0};
        log_filter_end(&r->filter, &shown);
        fwrite(shown.at ? shown.at : "", 1, shown.n, stdout);
        str_done(&shown);
    }
    return rc;
}
