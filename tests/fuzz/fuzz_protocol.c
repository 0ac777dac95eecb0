/* Owns the fuzzing of what server and conductor read of each other: lines, messages both
 * ways, specifications and exit records. Whatever the input, a reader says yes or no; what
 * it says yes to is within its bounds, and is the same after it was written and read
 * again. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/exit_record.h"
#include "protocol/launch_spec.h"
#include "protocol/lines.h"
#include "protocol/to_conductor.h"
#include "protocol/to_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth)
        abort();
}

/* Reads it as a record, whatever it is; then both ways. */
static void try_record(const struct record *r, const json_t *object, struct arena *a)
{
    char *once = arena_alloc(a, r->size), *twice = arena_alloc(a, r->size);
    struct str text = {0};
    struct err err = {0};
    if (record_decode(r, object, a, once, &err) < 0) {
        demand(err.code == ERR_INVALID && err.text[0]);
        return;
    }
    record_encode(r, once, &text);
    json_t *again = json_loadb(text.at, text.n, JSON_REJECT_DUPLICATES, NULL);
    demand(again && record_decode(r, again, a, twice, &err) == 0);
    demand(record_equal(r, once, twice));
    json_decref(again);
    str_done(&text);
}

static void try_records(const char *text, size_t n, struct arena *a)
{
    json_t *object = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    try_record(&launch_spec_record, object, a);
    try_record(&record_of_exit, object, a);
    for (size_t i = 0; i < TO_SERVER_BAD; i++)
        try_record(to_server_kinds[i].body, object, a);
    for (size_t i = 0; i < TO_CONDUCTOR_BAD; i++)
        try_record(to_conductor_kinds[i].body, object, a);
    json_decref(object);
}

static void try_spec(const char *text, size_t n, struct arena *a)
{
    struct launch_spec s;
    struct str unknown = {0};
    struct err err = {0};
    if (launch_spec_parse(text, n, a, &s, &unknown, &err) < 0) {
        demand(err.code != ERR_OK && err.text[0]);
        return;
    }
    demand(s.command[0] && *s.command[0] && s.env && *s.workdir == '/' && *s.socket == '/');
    demand(s.time_limit >= 0 && s.grace >= 0 && s.sample >= 0 && s.linger >= 0);
    demand(s.log_max_bytes > 0 && s.log_keep > 0 && s.nice >= -20 && s.nice <= 19);
    demand(s.warning.signal >= 0 && s.warning.signal <= 64 && s.checkpoint_signal > 0);
    for (size_t i = 0; i < s.cgroups.n; i++)
        demand(*s.cgroups.at[i].path == '/' && !strchr(s.cgroups.at[i].procs, '/'));
    for (const char **e = s.env; *e; e++)
        demand(strchr(*e, '=') > *e);
    launch_spec_put(&s, a, "A=b");
    demand(!strcmp(launch_spec_get(&s, "A"), "b"));
    str_done(&unknown);
}

static void check_line(const struct str *line)
{
    demand(line->at[line->n - 1] == '\n' && !memchr(line->at, '\n', line->n - 1));
}

static void try_to_conductor(const char *line, size_t n, struct arena *a)
{
    struct to_conductor m, again;
    struct err err = {0};
    struct str text = {0};
    if (to_conductor_decode(line, n, a, &m, &err) < 0) {
        demand(err.code != ERR_OK && err.text[0]);
        return;
    }
    demand(m.id >= -1);
    if (m.kind == TO_CONDUCTOR_BAD) { /* what it says goes back to the server */
        demand(m.problem[0] && memchr(m.problem, 0, sizeof m.problem));
        struct to_server answer = {.kind = TO_SERVER_ERROR, .error = {m.id, m.problem}};
        to_server_encode(&answer, &text);
        demand(text.n <= MESSAGE_MAX_BYTES);
    } else {
        to_conductor_encode(&m, &text);
        demand(to_conductor_decode(text.at, text.n, a, &again, &err) == 0);
        demand(again.kind == m.kind && again.id == m.id);
        demand(record_equal(to_conductor_kinds[m.kind].body, &m.welcome, &again.welcome));
    }
    if (m.kind == TO_CONDUCTOR_RESIZE)
        demand(m.resize.cpus > 0);
    check_line(&text);
    str_done(&text);
}

static void try_to_server(const char *line, size_t n, struct arena *a)
{
    struct to_server m, again;
    struct err err = {0};
    struct str text = {0};
    if (to_server_decode(line, n, a, &m, &err) < 0) {
        demand(err.code != ERR_OK && err.text[0]);
        return;
    }
    if (m.kind == TO_SERVER_BAD) {
        demand(m.problem[0] && memchr(m.problem, 0, sizeof m.problem));
        return;
    }
    to_server_encode(&m, &text);
    demand(to_server_decode(text.at, text.n, a, &again, &err) == 0 && again.kind == m.kind);
    demand(record_equal(to_server_kinds[m.kind].body, &m.hello, &again.hello));
    check_line(&text);
    str_done(&text);
}

/* Whole and in pieces the same lines come out. */
static void try_lines(const char *text, size_t n, size_t piece)
{
    struct lines whole = {0}, parts = {0};
    const char *a, *b;
    size_t na, nb, fed = 0;
    int got;
    lines_add(&whole, text, n);
    while ((got = lines_take(&whole, &a, &na)) > 0) {
        int other;
        while ((other = lines_take(&parts, &b, &nb)) == 0 && fed < n) {
            size_t more = n - fed < piece ? n - fed : piece;
            lines_add(&parts, text + fed, more);
            fed += more;
        }
        demand(other == 1 && na == nb && !memcmp(a, b, na) && na < MESSAGE_MAX_BYTES);
    }
    demand(got == 0 || n >= MESSAGE_MAX_BYTES);
    lines_done(&whole);
    lines_done(&parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    char *text = xstrndup((const char *)data, size);
    try_records(text, size, &a);
    try_spec(text, size, &a);
    try_to_conductor(text, size, &a);
    try_to_server(text, size, &a);
    try_lines(text, size, 1 + size % 7);
    arena_done(&a);
    free(text);
    return 0;
}
