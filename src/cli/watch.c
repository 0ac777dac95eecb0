/* Owns the repetition of views. On a terminal each frame overwrites the last one without
 * clearing first, so nothing flickers; elsewhere frames follow each other. */
#include "cli/watch.h"
#include "cli/interrupt.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/colour.h"
#include "cli/terminal.h"

static int interval(const struct args *args, usec_t *out, struct err *err)
{
    const char *text = args_get(args, "watch");
    *out = 2 * USEC_PER_SEC;
    if (!text || !*text)
        return 0;
    if (time_parse(text, out, err) < 0)
        return err_prefix(err, "--watch");
    if (*out < USEC_PER_SEC / 10)
        return err_set(err, ERR_INVALID, "--watch %s: must be at least 0.1 seconds", text);
    return 0;
}

static struct watch_view view_now(void)
{
    return (struct watch_view){clock_read_wall(), terminal_width(stdout), terminal_obeys(stdout),
                               colour_wanted(stdout)};
}

/* Prints as many lines as the terminal has, each cleared to its end. */
static void show_again(const char *frame)
{
    struct terminal_size size = {24, 80};
    struct str out = {0};
    terminal_get_size(STDOUT_FILENO, &size);
    str_add(&out, "\033[H");
    for (unsigned row = 1; row < size.rows && *frame; row++) {
        size_t n = strcspn(frame, "\n");
        str_add_n(&out, frame, n);
        str_add(&out, "\033[K\n");
        frame += n + (frame[n] == '\n');
    }
    str_add(&out, *frame ? "…\033[K\033[J" : "\033[J");
    fwrite(out.at, 1, out.n, stdout);
    str_done(&out);
}

static int draw_frame(struct server_link *l, watch_fn draw, void *ctx, bool again, struct err *err)
{
    struct str frame = {0};
    struct watch_view view = view_now();
    int rc = draw(ctx, l, &view, &frame, err);
    if (rc == 0 && again && view.terminal)
        show_again(frame.at ? frame.at : "");
    else if (rc == 0 && frame.n)
        fwrite(frame.at, 1, frame.n, stdout);
    fflush(stdout);
    str_done(&frame);
    return rc;
}

int watch_run(const struct args *args, watch_fn draw, void *ctx)
{
    AUTO_LINK struct server_link link = {0};
    struct err err;
    usec_t every;
    bool again = args_get(args, "watch");
    if (interval(args, &every, &err) < 0 || server_link_open(args, NULL, &link, &err) < 0)
        return command_fail(args->command, &err);
    if (again && terminal_obeys(stdout))
        fputs("\033[2J", stdout);
    for (bool first = true;; first = false) {
        int rc = draw_frame(&link, draw, ctx, again, &err);
        if (rc < 0 && !first && err.code == ERR_UNREACHABLE)
            rc = server_link_wait_back(&link, &err);
        if (rc < 0)
            return command_fail(args->command, &err);
        if (!again)
            return 0;
        interrupt_sleep(every);
    }
}
