/* trainyard replay: repeats the decisions of a server from its journal. It reads the database
 * directly, so it works with and without a running server. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "cli/commands.h"
#include "cli/job_text.h"
#include "cli/wire_out.h"
#include "journal/recorded.h"
#include "journal/replay.h"
#include "store/store.h"
#include "wire/dirs.h"

/* How much of the two texts is shown before and after the first byte that differs. */
enum { SHOWN_BEFORE = 60, SHOWN_BEHIND = 140 };

static int open_store(const char *given, struct store **out, struct err *err)
{
    AUTO_FREE char *dir = NULL;
    if (dirs_state(given, &dir, err) < 0)
        return -1;
    struct str path = {0};
    str_addf(&path, "%s/trainyard.db", dir);
    int rc = store_open_to_read(path.at, out, err);
    if (rc < 0 && err->code == ERR_NOT_FOUND)
        err_set(err, ERR_NOT_FOUND,
                "%.100s is not the state directory of a server; give it with --state DIR", dir);
    str_done(&path);
    return rc;
}

static int read_boot(const struct args *args, int64_t *out, struct err *err)
{
    const char *text = args_get(args, "boot");
    if (text && str_parse_int(text, 1, INT64_MAX, out, err) < 0)
        return err_prefix(err, "--boot");
    return 0;
}

static int replay(const struct args *args, struct replay_result *out, struct err *err)
{
    int64_t boot = 0;
    struct store *s;
    if (read_boot(args, &boot, err) < 0)
        return -1;
    if (open_store(args_get(args, "state"), &s, err) < 0)
        return -1;
    int rc = journal_replay(s, boot, out, err);
    store_close(s);
    return rc;
}

static void print_json(const struct replay_result *r)
{
    struct str out = {0};
    str_addf(&out,
             "{\"starts\":%" PRIu64 ",\"events\":%" PRIu64 ",\"decisions\":%" PRIu64
             ",\"passed_over\":%" PRIu64 ",\"differing\":%" PRIu64 ",\"first\":",
             r->boots, r->events, r->decisions, r->passed_over, r->differing);
    if (r->differing) {
        str_addf(&out, "{\"row\":%" PRId64 ",\"recorded\":", r->first_seq);
        str_add_json(&out, r->was.at);
        str_add(&out, ",\"reproduced\":");
        str_add_json(&out, r->is.at);
        str_add(&out, "}");
    } else {
        str_add(&out, "null");
    }
    printf("%s}\n", out.at);
    str_done(&out);
}

static void print_part(const char *title, const struct str *text, size_t differs)
{
    if (text->n == 0) {
        printf("  %-11s no decision\n", title);
        return;
    }
    size_t from = differs > SHOWN_BEFORE ? differs - SHOWN_BEFORE : 0;
    size_t to = differs + SHOWN_BEHIND < text->n ? differs + SHOWN_BEHIND : text->n;
    printf("  %-11s %s%.*s%s\n", title, from ? "..." : "", (int)(to - from), text->at + from,
           to < text->n ? "..." : "");
}

static void print_difference(const struct replay_result *r)
{
    size_t n = 0;
    while (n < r->was.n && n < r->is.n && r->was.at[n] == r->is.at[n])
        n++;
    printf("%" PRIu64 " of them differ", r->differing);
    if (r->first_seq)
        printf("; the first is row %" PRId64 " of the journal:\n", r->first_seq);
    else
        printf("; the last one was not recorded:\n");
    print_part("recorded", &r->was, n);
    print_part("reproduced", &r->is, n);
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_text(const struct replay_result *r)
{
    if (r->boots == 0 && r->passed_over == 0) {
        printf("the journal is empty\n");
        return;
    }
    printf("%" PRIu64 " start%s of the server, %" PRIu64 " event%s, %" PRIu64 " decision%s",
           r->boots, plural(r->boots), r->events, plural(r->events), r->decisions,
           plural(r->decisions));
    printf(r->differing ? "\n" : ": all reproduced byte for byte\n");
    if (r->differing)
        print_difference(r);
    if (r->passed_over)
        printf("%" PRIu64 " row%s skipped: %s\n", r->passed_over, plural(r->passed_over),
               r->differing ? "rows after a difference may not match any more"
                            : "the beginning of that start of the server was trimmed");
}

/* ---- other policies ------------------------------------------------------------ */

/* A row of the table, or of the list in JSON. */
struct tried {
    char name[224];
    struct recorded_figures f;
};

static void print_tried(const struct tried *rows, size_t n)
{
    printf("%u jobs ran and ended. What happened, and what these policies would have done:\n\n",
           rows[0].f.jobs);
    printf("%-28s %10s %10s %8s %8s %11s\n", "POLICY", "MEAN", "MAKESPAN", "MISSED", "CHANGES",
           "UNFINISHED");
    for (size_t i = 0; i < n; i++) {
        const struct recorded_figures *f = &rows[i].f;
        char mean[JOB_TEXT_SIZE], makespan[JOB_TEXT_SIZE];
        printf("%-28s %10s %10s %8u %8u %11u\n", rows[i].name, job_text_duration(f->mean_s, mean),
               job_text_duration(f->makespan_s, makespan), f->missed,
               f->preemptions + f->moves + f->resizes, f->unfinished);
    }
}

static void print_tried_json(const struct tried *rows, size_t n)
{
    json_auto_t *list = json_array();
    struct str out = {0};
    for (size_t i = 0; i < n; i++) {
        const struct recorded_figures *f = &rows[i].f;
        json_array_append_new(list, json_pack("{s:s, s:i, s:i, s:o, s:f, s:i, s:i, s:i, s:i}",
                                              "policy", rows[i].name, "jobs", (int)f->jobs,
                                              "unfinished", (int)f->unfinished, "mean_s",
                                              isnan(f->mean_s) ? json_null() : json_real(f->mean_s),
                                              "makespan_s", f->makespan_s, "missed", (int)f->missed,
                                              "preemptions", (int)f->preemptions, "moves",
                                              (int)f->moves, "resizes", (int)f->resizes));
    }
    wire_out_lines(list, &out);
    fputs(out.at, stdout);
    str_done(&out);
}

static int try_policy(const struct recorded *r, const struct combo *combo, const char *note,
                      struct tried *out, struct err *err)
{
    snprintf(out->name, sizeof out->name, "%s%s", combo->name, note);
    return recorded_try(r, combo, &out->f, err);
}

/* What happened, the last policy of the time as a trial, and those that were asked for. */
static int try_policies(const struct args *args, const struct recorded *r, struct err *err)
{
    VEC(struct tried) rows = {0};
    struct tried row = {.name = "as recorded", .f = recorded_figures(r)};
    struct combo combo;
    const char *text;
    VEC_PUSH(&rows, row);
    int rc = try_policy(r, recorded_policy(r), " (same)", &row, err);
    VEC_PUSH(&rows, row);
    for (size_t i = 0; rc == 0 && (text = args_nth(args, "policy", i)); i++) {
        rc = combo_parse(text, &combo, err);
        if (rc == 0)
            rc = try_policy(r, &combo, "", &row, err);
        VEC_PUSH(&rows, row);
    }
    if (rc == 0 && args_get(args, "json"))
        print_tried_json(rows.at, rows.n);
    else if (rc == 0)
        print_tried(rows.at, rows.n);
    VEC_DONE(&rows);
    return rc;
}

static int run_trials(const struct args *args, struct err *err)
{
    struct recorded *r;
    struct store *s;
    int64_t boot = 0;
    if (read_boot(args, &boot, err) < 0 || open_store(args_get(args, "state"), &s, err) < 0)
        return -1;
    int rc = recorded_read(s, boot, &r, err);
    store_close(s);
    if (rc < 0)
        return -1;
    rc = try_policies(args, r, err);
    recorded_free(r);
    return rc;
}

static int run(const struct args *args)
{
    struct replay_result r;
    struct err err = {0};
    if (args_get(args, "policy"))
        return run_trials(args, &err) < 0 ? command_fail(args->command, &err) : 0;
    if (replay(args, &r, &err) < 0)
        return command_fail(args->command, &err);
    if (args_get(args, "json"))
        print_json(&r);
    else
        print_text(&r);
    int code = r.differing ? 1 : 0;
    replay_result_done(&r);
    return code;
}

static const struct option options[] = {
    {"state", 0, "DIR", "state directory of the server (default: as for `trainyard serve`)", false},
    {"boot", 0, "N", "replay only this start of the server, counted from 1", false},
    {"policy", 'p', "SPEC", "instead: what this policy would have done with the recorded jobs",
     true},
    OPTION_JSON("print one JSON object; with --policy, one per line"),
    {{0}, 0, NULL, NULL, false},
};

const struct command command_replay = {
    .name = "replay",
    .summary = "Repeat the recorded decisions and compare them",
    .details = "The server records every event and every decision of the scheduler in a journal. A "
               "replay gives the events to a new scheduler and compares each of its decisions with "
               "the recorded one, byte for byte. It works with and without a running server.\n\n"
               "The exit code is 1 when a decision differs; the first difference is shown.\n\n"
               "With --policy, nothing is compared: the recorded jobs are submitted at their "
               "recorded times, with the work that they did, under each of these policies. The row "
               "`same` is the last recorded policy, tried in the same way: how much it differs "
               "from what happened shows how far such a trial can be trusted.",
    .examples = "  trainyard replay\n  trainyard replay --state /var/lib/trainyard --boot 3\n"
                "  trainyard replay --policy srtf --policy las",
    .options = options,
    .run = run,
};
