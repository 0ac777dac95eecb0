/* Owns the page about an array. */
#include "cli/array_details.h"

#include <string.h>

#include "cli/grid.h"
#include "cli/job_grid.h"
#include "cli/job_text.h"
#include "cli/member.h"
#include "cli/screen_text.h"
#include "store/job_state.h"

enum { SHOWN = 20 };

static int64_t array_of(const json_t *job)
{
    return member_integer(json_object_get(job, "array"), "job");
}

bool array_details_apply(const json_t *jobs)
{
    size_t n = json_array_size(jobs);
    int64_t array = array_of(json_array_get(jobs, 0));
    for (size_t i = 1; i < n; i++)
        if (array_of(json_array_get(jobs, i)) != array)
            return false;
    return n > 1 && array;
}

static void add_counts(const json_t *jobs, struct str *out)
{
    json_auto_t *states = json_object();
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        const char *state = member_text(json_array_get(jobs, i), "state");
        int64_t before = member_has(states, state) ? member_integer(states, state) : 0;
        json_object_set_new(states, state, json_integer(before + 1));
    }
    job_text_add_counts(states, out);
}

/* A job that has started, unless it is done. */
static bool is_of_interest(const json_t *job)
{
    return member_has(job, "started") &&
           strcmp(member_text(job, "state"), job_state_name(JOB_DONE)) != 0;
}

void array_details_add(const json_t *jobs, const struct job_details_look *look, struct str *out)
{
    const json_t *first = json_array_get(jobs, 0);
    struct job_grid_look cells = {.now = look->now};
    struct grid_look shape = {.width = look->width, .colours = look->colours};
    json_auto_t *shown = json_array();
    struct grid t;
    str_addf(out, "Array %lld (", (long long)array_of(first));
    screen_add(out, member_text(first, "name"));
    str_addf(out, "): %zu jobs, ", json_array_size(jobs));
    add_counts(jobs, out);
    str_add(out, "\n");
    for (size_t i = 0; i < json_array_size(jobs) && json_array_size(shown) < SHOWN; i++)
        if (is_of_interest(json_array_get(jobs, i)))
            json_array_append(shown, json_array_get(jobs, i));
    if (json_array_size(shown)) {
        str_add(out, "\n");
        job_grid_fill(shown, &cells, &t);
        grid_draw(&t, &shape, out);
        grid_done(&t);
    }
    str_addf(out,
             "\n`trainyard ps %lld` lists all of them, `trainyard show %lld_%lld` shows one.\n",
             (long long)array_of(first), (long long)array_of(first),
             (long long)member_integer(json_object_get(first, "array"), "index"));
}
