/* Owns the selection, the scrolling and the meaning of keys. The screen has a line with totals,
 * the nodes with their heads, a blank line, the jobs with their heads, and a last line. */
#include "cli/top_state.h"

#include <math.h>
#include <string.h>

#include "cli/job_text.h"
#include "cli/key.h"
#include "cli/member.h"

static size_t job_count(const struct top_state *s)
{
    return json_array_size(s->jobs);
}

static int64_t id_at(const struct top_state *s, size_t row)
{
    return member_integer(json_array_get(s->jobs, row), "id");
}

/* The row of the selected job; the number of jobs when it is gone. */
static size_t row_of(const struct top_state *s)
{
    size_t row = 0;
    while (row < job_count(s) && id_at(s, row) != s->selected)
        row++;
    return row;
}

const json_t *top_state_selected(const struct top_state *s)
{
    return s->selected ? json_array_get(s->jobs, row_of(s)) : NULL;
}

size_t top_state_node_rows(const struct top_state *s)
{
    size_t nodes = json_array_size(s->nodes), most = s->size.rows / 4;
    return nodes < most ? nodes : most;
}

size_t top_state_job_rows(const struct top_state *s)
{
    size_t nodes = top_state_node_rows(s), others = 4 + (nodes ? nodes + 1 : 0);
    return s->size.rows > others ? s->size.rows - others : 1;
}

/* Scrolls so that the selected row is visible and no line after the last job is wasted. */
static void scroll(struct top_state *s, size_t row)
{
    size_t rows = top_state_job_rows(s), n = job_count(s);
    if (s->first > row)
        s->first = row;
    if (row >= s->first + rows)
        s->first = row - rows + 1;
    if (s->first + rows > n)
        s->first = n > rows ? n - rows : 0;
}

/* Jobs are listed by ascending or descending id: the neighbour of a job that is gone is the
 * first after it. */
static size_t neighbour(const struct top_state *s)
{
    size_t n = job_count(s), row = 0;
    bool falling = n > 1 && id_at(s, 0) > id_at(s, n - 1);
    while (row + 1 < n && (falling ? id_at(s, row) > s->selected : id_at(s, row) < s->selected))
        row++;
    return row;
}

void top_state_settle(struct top_state *s)
{
    size_t n = job_count(s), row = row_of(s);
    if (s->mode == TOP_JOB)
        return;
    if (n == 0) {
        s->selected = 0;
        s->first = 0;
        if (s->mode == TOP_CONFIRM)
            s->mode = TOP_LIST;
        return;
    }
    if (row == n) {
        /* A question about a job that is gone must not apply to its neighbour. */
        if (s->mode == TOP_CONFIRM)
            s->mode = TOP_LIST;
        row = s->selected ? neighbour(s) : 0;
    }
    s->selected = id_at(s, row);
    scroll(s, row);
}

/* Moves the selection by some rows, within the list. */
static void move(struct top_state *s, int64_t by)
{
    int64_t n = (int64_t)job_count(s), row = (int64_t)row_of(s) + by;
    if (n == 0)
        return;
    row = row < 0 ? 0 : row >= n ? n - 1 : row;
    s->selected = id_at(s, (size_t)row);
    scroll(s, (size_t)row);
}

/* The number of rows that a key moves by; 0 = it does not move. */
static int64_t movement(const struct top_state *s, int key)
{
    int64_t page = (int64_t)top_state_job_rows(s);
    switch (key) {
    case KEY_UP:
    case 'k':
        return -1;
    case KEY_DOWN:
    case 'j':
        return 1;
    case KEY_PAGE_UP:
        return -page;
    case KEY_PAGE_DOWN:
    case ' ':
        return page;
    case KEY_HOME:
    case 'g':
        return -(int64_t)INT32_MAX;
    case KEY_END:
    case 'G':
        return INT32_MAX;
    default:
        return 0;
    }
}

static enum top_want hold_or_release(const json_t *job)
{
    return !strcmp(member_text(job, "state"), "held") ? TOP_RELEASE : TOP_HOLD;
}

/* Keys that act on the selected job. */
static enum top_want job_key(struct top_state *s, int key)
{
    const json_t *job = top_state_selected(s);
    if (!job)
        return TOP_NOTHING;
    switch (key) {
    case 'c':
        if (!job_text_over(job))
            s->mode = TOP_CONFIRM;
        return TOP_NOTHING;
    case 'h':
        return hold_or_release(job);
    case '+':
    case '=':
        return TOP_GROW;
    case '-':
        return TOP_SHRINK;
    case '0':
        return TOP_RESET;
    case KEY_ENTER:
        s->mode = TOP_JOB;
        s->job = NULL;
        s->first = 0;
        return TOP_REFRESH;
    default:
        return TOP_NOTHING;
    }
}

static enum top_want list_key(struct top_state *s, int key)
{
    int64_t by = movement(s, key);
    if (by) {
        move(s, by);
        return TOP_NOTHING;
    }
    switch (key) {
    case 'q':
        return TOP_QUIT;
    case 'p':
        s->paused = !s->paused;
        return s->paused ? TOP_NOTHING : TOP_REFRESH;
    case 'a':
        s->all = !s->all;
        return TOP_REFRESH;
    case '?':
        s->mode = TOP_HELP;
        return TOP_NOTHING;
    default:
        return job_key(s, key);
    }
}

static enum top_want page_key(struct top_state *s, int key)
{
    int64_t by = movement(s, key), first = (int64_t)s->first + by;
    if (key == 'q' || key == KEY_ESCAPE || key == KEY_ENTER) {
        s->mode = TOP_LIST;
        s->first = 0;
        top_state_settle(s);
        return TOP_NOTHING;
    }
    if (by)
        s->first = first < 0 ? 0 : first > UINT16_MAX ? UINT16_MAX : (size_t)first;
    return TOP_NOTHING;
}

enum top_want top_state_key(struct top_state *s, int key)
{
    if (key == KEY_NONE)
        return TOP_NOTHING;
    s->message[0] = '\0';
    switch (s->mode) {
    case TOP_CONFIRM:
        s->mode = TOP_LIST;
        return key == 'y' || key == 'Y' ? TOP_CANCEL : TOP_NOTHING;
    case TOP_JOB:
        return page_key(s, key);
    case TOP_HELP:
        s->mode = TOP_LIST;
        return TOP_NOTHING;
    default:
        return list_key(s, key);
    }
}

double top_state_step(const json_t *job, bool up)
{
    double cpus = member_number(job, "cpus"), least = member_number(job, "cpus_min");
    double now = cpus > 0 ? cpus : least;
    if (up)
        return floor(now) + 1;
    /* Below one CPU, steps halve. */
    return now > 1 ? ceil(now) - 1 : now / 2;
}
