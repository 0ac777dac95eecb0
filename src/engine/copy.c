/* Owns copying an engine. The copy has the same state, including the order of tasks and
 * what policies remember, so it makes the same decisions. Forecasts start from a copy. */
#include "engine/copy.h"

static void *duplicate(const void *from, size_t n, size_t size)
{
    if (!n)
        return NULL;
    void *to = xreallocarray(NULL, n, size);
    return memcpy(to, from, n * size);
}

#define COPY_VEC(to, from)                                                                         \
    do {                                                                                           \
        (to)->at = duplicate((from)->at, (from)->n, sizeof *(from)->at);                           \
        (to)->n = (to)->cap = (from)->n;                                                           \
    } while (0)

static void copy_tasks(struct engine *to, const struct engine *from)
{
    to->tasks = duplicate(from->tasks, from->tasks_cap, sizeof *to->tasks);
    to->links = duplicate(from->links, from->tasks_cap, sizeof *to->links);
    to->touched_mark = duplicate(from->touched_mark, from->tasks_cap, sizeof *to->touched_mark);
    to->why = from->why ? duplicate(from->why, from->tasks_cap, sizeof *to->why) : NULL;
    for (uint32_t i = 0; i < from->tasks_n; i++) {
        struct task *t = &to->tasks[i];
        t->slots_cap = t->at.n;
        t->at.at = duplicate(t->at.at, t->at.n, sizeof *t->at.at);
        t->history = t->history ? duplicate(t->history, 1, sizeof *t->history) : NULL;
    }
}

static void copy_nodes(struct engine *to, const struct engine *from)
{
    uint32_t n = from->cluster.n;
    to->cluster.nodes = duplicate(from->cluster.nodes, n, sizeof *to->cluster.nodes);
    to->stale_mark = xcalloc(n, sizeof *to->stale_mark);
    for (uint32_t i = 0; i < n; i++)
        COPY_VEC(&to->cluster.nodes[i].tasks, &from->cluster.nodes[i].tasks);
    for (int axis = 0; axis < AXES; axis++)
        to->node_memo[axis] = duplicate(from->node_memo[axis], n, sizeof **to->node_memo);
}

void engine_copy(struct engine *to, const struct engine *from)
{
    *to = *from; /* what is not copied below has no pointers, or is made again */
    copy_tasks(to, from);
    copy_nodes(to, from);
    COPY_VEC(&to->spare, &from->spare);
    COPY_VEC(&to->running, &from->running);
    COPY_VEC(&to->effects, &from->effects);
    COPY_VEC(&to->touched, &from->touched);
    to->stale.at = to->measured.at = NULL; /* the copy has made no step yet */
    to->stale.n = to->stale.cap = to->measured.n = to->measured.cap = 0;
    to->arena = (struct arena){0};
    to->plan = (struct plan){0};
}
