/* trainyard events: lists events, and with -f follows them. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/event_text.h"
#include "cli/member.h"
#include "cli/server_link.h"
#include "cli/wire_out.h"
#include "http/url.h"

enum { PAGE = 1000 };

struct reading {
    const struct args *args;
    bool reached;
    char seen[24]; /* the last event */
};

static void print_event(const struct reading *r, const json_t *event)
{
    struct str out = {0};
    if (args_get(r->args, "json"))
        wire_out_line(event, &out);
    else
        event_text_add(event, &out);
    fputs(out.at, stdout);
    fflush(stdout);
    str_done(&out);
}

static int on_event(void *ctx, const struct sse_event *event)
{
    struct reading *r = ctx;
    json_auto_t *object = json_loadb(event->data, event->n, 0, NULL);
    r->reached = true;
    if (*event->id)
        snprintf(r->seen, sizeof r->seen, "%.20s", event->id);
    if (object)
        print_event(r, object);
    return ferror(stdout) ? 1 : 0;
}

static void add_job(const struct args *args, struct str *path)
{
    const char *job = args_get(args, "job");
    if (!job)
        return;
    str_add(path, "&job=");
    url_add_escaped(path, job);
}

static int check_options(const struct args *args, struct err *err)
{
    const char *after = args_get(args, "after");
    bool follow = args_get(args, "follow");
    int64_t number;
    if (after && str_parse_int(after, 0, INT64_MAX, &number, err) < 0)
        return err_prefix(err, "--after");
    if (follow && args_get(args, "limit"))
        return err_set(err, ERR_INVALID, "give either --limit or --follow, not both");
    if (!follow && args_get(args, "progress"))
        return err_set(err, ERR_INVALID, "--progress needs --follow; progress is not kept");
    return 0;
}

/* Prints one page of past events; *n is how many it had. */
static int list_page(struct reading *r, struct server_link *l, int64_t limit, size_t *n,
                     struct err *err)
{
    json_auto_t *answer = NULL;
    struct str path = {0};
    str_addf(&path, "/events?after=%s&limit=%lld", r->seen, (long long)limit);
    add_job(r->args, &path);
    int rc = server_link_get(l, path.at, &answer, err);
    str_done(&path);
    if (rc < 0)
        return -1;
    const json_t *events = json_object_get(answer, "events");
    *n = json_array_size(events);
    for (size_t i = 0; i < *n; i++) {
        const json_t *event = json_array_get(events, i);
        snprintf(r->seen, sizeof r->seen, "%lld", (long long)member_integer(event, "seq"));
        print_event(r, event);
    }
    return 0;
}

static int list(struct reading *r, struct server_link *l, struct err *err)
{
    const char *after = args_get(r->args, "after"), *limit = args_get(r->args, "limit");
    int64_t left = INT64_MAX;
    size_t n = PAGE;
    if (limit && str_parse_int(limit, 1, INT64_MAX, &left, err) < 0)
        return err_prefix(err, "--limit");
    snprintf(r->seen, sizeof r->seen, "%.20s", after ? after : "0");
    for (; left > 0 && n == PAGE; left -= (int64_t)n)
        if (list_page(r, l, left < PAGE ? left : PAGE, &n, err) < 0)
            return -1;
    return 0;
}

static int follow(struct reading *r, struct server_link *l, struct err *err)
{
    const char *after = args_get(r->args, "after");
    struct str path = {0};
    str_add(&path, "/events?follow=1");
    if (args_get(r->args, "progress"))
        str_add(&path, "&progress=1");
    add_job(r->args, &path);
    if (after && !*r->seen)
        str_addf(&path, "&after=%s", after);
    int rc = server_link_events(l, path.at, r->seen, on_event, r, err);
    str_done(&path);
    return rc > 0 ? err_set(err, ERR_IO, "cannot write the output") : rc;
}

static int read_events(struct reading *r, struct server_link *l, struct err *err)
{
    int rc;
    if (!args_get(r->args, "follow"))
        return list(r, l, err);
    while ((rc = follow(r, l, err)) < 0 && r->reached && err->code == ERR_UNREACHABLE)
        if (server_link_wait_back(l, err) < 0)
            return -1;
    return rc;
}

static int run(const struct args *args)
{
    AUTO_LINK struct server_link link = {0};
    struct reading r = {.args = args};
    struct err err;
    if (check_options(args, &err) < 0 || server_link_open(args, NULL, &link, &err) < 0 ||
        read_events(&r, &link, &err) < 0)
        return command_fail(args->command, &err);
    return 0;
}

static const struct option options[] = {
    {"follow", 'f', NULL, "wait for new events", false},
    {"job", 'j', "JOB", "only events of this job", false},
    {"after", 'a', "SEQ", "only events after this number", false},
    {"limit", 'l', "N", "print at most N events", false},
    {"progress", 'p', NULL, "with --follow: also print the progress of jobs", false},
    OPTION_JSON("print one object per line"),
    OPTION_SERVER,
    {},
};

const struct command command_events = {
    .name = "events",
    .summary = "List events, or follow them",
    .examples = "  trainyard events -f\n"
                "  trainyard events --job train --json",
    .options = options,
    .run = run,
};
