/* Owns the fuzzing of the files that programs log to, of the reading of limits in
 * commands, configuration files and scripts, of the line that tells why a program failed
 * and of what a terminal shows. The first byte says what the rest is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "progress/command.h"
#include "progress/failure.h"
#include "progress/log.h"
#include "progress/past.h"
#include "progress/progress.h"
#include "progress/screen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth)
        abort();
}

static void check_progress(const struct progress *p)
{
    demand(p->n_metrics <= PROGRESS_METRICS);
    demand(!(p->has & PROGRESS_STEP) || (p->step >= 0 && p->source));
    demand(!(p->has & PROGRESS_TOTAL) || !(p->has & PROGRESS_STEP) || p->total >= p->step);
}

/* Whole and in pieces the same is known in the end. */
static void read_log(const char *path, const char *text, size_t n, size_t piece)
{
    struct progress_reader *whole = NULL, *parts = NULL;
    struct progress_log *a = progress_log_create(path), *b = progress_log_create(path);
    demand(progress_create(&(struct progress_config){0}, &whole, NULL) == 0);
    demand(progress_create(&(struct progress_config){0}, &parts, NULL) == 0);
    progress_feed_log(whole, a, text, n);
    for (size_t i = 0; i < n; i += piece)
        progress_feed_log(parts, b, text + i, n - i < piece ? n - i : piece);
    check_progress(progress_now(whole));
    check_progress(progress_now(parts));
    demand(progress_now(whole)->seq == progress_now(parts)->seq);
    demand(progress_now(whole)->step == progress_now(parts)->step);
    progress_free(whole);
    progress_free(parts);
    progress_log_free(a);
    progress_log_free(b);
}

/* Runs of any commands can be compared. */
static void compare_runs(const char *argument)
{
    const char *now[] = {argument, "--epochs", argument, argument, NULL};
    const char *then[] = {argument, "--epochs", "7", "--epochs=3", NULL};
    struct str category = {0};
    demand(progress_past_scale(now, now) == 1);
    demand(progress_past_scale(now, then) >= 0);
    progress_past_category(now, "/w", &category);
    str_done(&category);
}

/* A plan from arbitrary text, and then output that is read with it. */
static void read_plan(enum progress_file_kind kind, const char *text, size_t n)
{
    AUTO_FREE char *argument = xstrndup(text, n);
    const char *arguments[] = {"train", argument, "--epochs", argument}, *path = NULL;
    struct progress_plan plan = {0};
    struct progress_reader *r = NULL;
    enum progress_unit unit;
    int64_t value;
    progress_script_read(&plan, kind, "dir/train.py", text, n);
    progress_command_read(&plan, 4, arguments);
    compare_runs(argument);
    progress_command_file(argument, &path);
    if (progress_total_parse(argument, &unit, &value, NULL) == 0)
        demand(value > 0 && unit >= PROGRESS_UNIT_NONE && unit < PROGRESS_UNITS);
    for (int i = 0; i < PROGRESS_UNITS; i++) {
        demand(plan.limit[i].value >= 0 && memchr(plan.limit[i].from, '\0', PROGRESS_FROM_BYTES));
        demand(!plan.limit[i].value || plan.limit[i].origin != PROGRESS_FROM_NOWHERE);
    }
    demand(progress_create(&(struct progress_config){.plan = &plan}, &r, NULL) == 0);
    progress_feed(r, "epoch 3 step 20 loss 0.5\n", 25);
    progress_feed(r, text, n);
    progress_settle(r);
    check_progress(progress_now(r));
    progress_free(r);
}

/* As many lines as were asked for, at most. */
static void show_tail(const char *text, size_t n, unsigned lines)
{
    struct str out = {0};
    unsigned shown = 0;
    progress_screen_tail(text, n, lines, &out);
    for (size_t i = 0; i < out.n; i++)
        shown += out.at[i] == '\n';
    demand(shown <= lines);
    str_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {"runs/events.out.tfevents.1",
                                        "logs/test/events.out.tfevents.1",
                                        "metrics.csv",
                                        "mlruns/0/1/metrics/loss",
                                        "mlruns/0/1/params/epochs",
                                        "run-1.wandb",
                                        "log.jsonl"};
    if (!size)
        return 0;
    const char *text = (const char *)data + 1;
    size_t kind = data[0] % 16, n = size - 1, paths_n = sizeof paths / sizeof *paths;
    char out[PROGRESS_FAILURE_BYTES];
    if (kind < paths_n)
        read_log(paths[kind], text, n, 1 + data[0] / 16);
    else if (kind < paths_n + 3)
        read_plan((enum progress_file_kind)(kind - paths_n), text, n);
    else if (kind == 15)
        show_tail(text, n, data[0] / 16);
    else if (progress_failure_find(text, n, out))
        demand(strlen(out) < sizeof out);
    return 0;
}
