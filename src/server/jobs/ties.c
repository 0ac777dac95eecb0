/* Owns the groups that tie jobs together. A group exists as long as it has a member. */
#include "server/jobs/ties.h"

#include "server/jobs/live.h"

struct tie_names {
    uint64_t key;
    struct tie_names *next; /* another name with the same hash */
    struct tie_list members;
};

struct tie_array {
    int64_t id;
    uint32_t limit, members, active;
    struct tie_list waiting;
};

/* ---- lists ----------------------------------------------------------------- */

/* The job after which this one belongs. Most belong at one end of the list: new ones at the
 * last, members of an array that wait once more at the first. */
static struct live_job *find_before(const struct tie_list *l, const struct live_job *j,
                                    enum tie_links which)
{
    struct live_job *before = l->last;
    for (struct live_job *after = l->first; before && before->row.id > j->row.id;
         after = after->ties.links[which].next) {
        if (after->row.id > j->row.id)
            return after->ties.links[which].prev;
        before = before->ties.links[which].prev;
    }
    return before;
}

static void list_insert(struct tie_list *l, struct live_job *j, enum tie_links which)
{
    struct tie_link *link = &j->ties.links[which];
    struct live_job *before = find_before(l, j, which);
    link->prev = before;
    link->next = before ? before->ties.links[which].next : l->first;
    *(link->next ? &link->next->ties.links[which].prev : &l->last) = j;
    *(before ? &before->ties.links[which].next : &l->first) = j;
}

static void list_remove(struct tie_list *l, struct live_job *j, enum tie_links which)
{
    struct live_job *prev = j->ties.links[which].prev, *next = j->ties.links[which].next;
    *(next ? &next->ties.links[which].prev : &l->last) = prev;
    *(prev ? &prev->ties.links[which].next : &l->first) = next;
}

/* ---- names ----------------------------------------------------------------- */

static uint64_t hash_text(uint64_t h, const char *text)
{
    do
        h = (h ^ (unsigned char)*text) * 1099511628211ULL; /* FNV-1a */
    while (*text++);
    return h;
}

static uint64_t name_key(const struct live_job *j)
{
    return hash_text(hash_text(14695981039346656037ULL, j->row.name), j->row.user);
}

static bool same_name(const struct live_job *a, const struct live_job *b)
{
    return !strcmp(a->row.name, b->row.name) && !strcmp(a->row.user, b->row.user);
}

static struct tie_names *name_group(struct ties *t, const struct live_job *j)
{
    uint64_t key = name_key(j);
    struct tie_names *head = idmap_get(&t->names, key), *g = head;
    while (g && !same_name(g->members.first, j))
        g = g->next;
    if (!g) {
        g = xcalloc(1, sizeof *g);
        *g = (struct tie_names){.key = key, .next = head};
        idmap_set(&t->names, key, g);
    }
    return g;
}

static void drop_name_group(struct ties *t, struct tie_names *gone)
{
    struct tie_names *head = idmap_get(&t->names, gone->key);
    if (head != gone) {
        while (head->next != gone)
            head = head->next;
        head->next = gone->next;
    } else if (gone->next) {
        idmap_set(&t->names, gone->key, gone->next);
    } else {
        idmap_remove(&t->names, gone->key);
    }
    free(gone);
}

static void join_names(struct ties *t, struct live_job *j)
{
    j->ties.names = name_group(t, j);
    list_insert(&j->ties.names->members, j, TIE_NAME);
}

static void leave_names(struct ties *t, struct live_job *j)
{
    struct tie_names *g = j->ties.names;
    list_remove(&g->members, j, TIE_NAME);
    if (!g->members.first)
        drop_name_group(t, g);
}

struct live_job *ties_elder(const struct live_job *j)
{
    struct live_job *first = j->ties.names->members.first;
    return first == j ? NULL : first;
}

struct live_job *ties_younger(const struct live_job *j)
{
    return j->ties.links[TIE_NAME].next;
}

/* ---- arrays ---------------------------------------------------------------- */

static void join_array(struct ties *t, struct live_job *j)
{
    if (!j->row.array || !j->terms.array_limit)
        return;
    struct tie_array *a = idmap_get(&t->arrays, (uint64_t)j->row.array);
    if (!a) {
        a = xcalloc(1, sizeof *a);
        *a = (struct tie_array){.id = j->row.array, .limit = j->terms.array_limit};
        idmap_set(&t->arrays, (uint64_t)a->id, a);
    }
    a->members++;
    j->ties.array = a;
}

static void leave_array(struct ties *t, struct live_job *j)
{
    struct tie_array *a = j->ties.array;
    if (!a)
        return;
    ties_note(j, false, false);
    if (--a->members > 0)
        return;
    idmap_remove(&t->arrays, (uint64_t)a->id);
    free(a);
}

bool ties_array_full(const struct live_job *j)
{
    const struct tie_array *a = j->ties.array;
    return a && a->active - j->ties.active >= a->limit;
}

void ties_note(struct live_job *j, bool active, bool waiting)
{
    struct tie_array *a = j->ties.array;
    if (!a)
        return;
    if (active != j->ties.active)
        active ? a->active++ : a->active--;
    if (waiting && !j->ties.waiting)
        list_insert(&a->waiting, j, TIE_WAIT);
    if (!waiting && j->ties.waiting)
        list_remove(&a->waiting, j, TIE_WAIT);
    j->ties.active = active;
    j->ties.waiting = waiting;
}

struct live_job *ties_waiting(const struct ties *t, int64_t array)
{
    const struct tie_array *a = idmap_get(&t->arrays, (uint64_t)array);
    return a ? a->waiting.first : NULL;
}

/* ---- jobs ------------------------------------------------------------------ */

void ties_add(struct ties *t, struct live_job *j)
{
    join_names(t, j);
    join_array(t, j);
}

void ties_remove(struct ties *t, struct live_job *j)
{
    leave_array(t, j);
    leave_names(t, j);
    j->ties = (struct tied){0};
}

void ties_done(struct ties *t)
{
    idmap_done(&t->names);
    idmap_done(&t->arrays);
}
