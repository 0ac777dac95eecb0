/* Owns the requests of live jobs. */
#include "server/jobs/submission.h"

#include <jansson.h>

#include "wire/spec_json.h"

/* The command for lists of jobs; the store has it in a column of its own. */
static char *command_text(const json_t *request)
{
    const json_t *command = json_object_get(request, "command");
    return command ? json_dumps(command, JSON_COMPACT) : xstrdup("[]");
}

static struct submission *add_known(struct submissions *all, int64_t id, struct spec *spec)
{
    struct submission *r = xcalloc(1, sizeof *r);
    *r = (struct submission){.id = id, .users = 1, .spec = *spec};
    *spec = (struct spec){0};
    idmap_set(&all->by_id, (uint64_t)id, r);
    return r;
}

struct submission *submission_add(struct submissions *all, struct store *store, struct spec *spec,
                                  struct err *err)
{
    json_auto_t *o = spec_to_json(spec);
    AUTO_FREE char *text = json_dumps(o, JSON_COMPACT), *command = command_text(o);
    int64_t id;
    if (store_request_add(store, text, command, &id, err) < 0)
        return NULL;
    return add_known(all, id, spec);
}

static int read_request(const char *text, struct spec *out, struct err *err)
{
    json_error_t bad;
    const char *field;
    json_auto_t *o = json_loads(text, 0, &bad);
    if (!o)
        return err_set(err, ERR_INVALID, "its stored request is not valid JSON: %s", bad.text);
    return spec_from_json(o, out, &field, err);
}

struct submission *submission_get(struct submissions *all, struct store *store, int64_t id,
                                  struct err *err)
{
    struct submission *known = idmap_get(&all->by_id, (uint64_t)id);
    AUTO_FREE char *text = NULL;
    struct spec spec;
    if (known)
        return submission_share(known);
    if (store_request_get(store, id, &text, err) < 0)
        return NULL;
    spec_init(&spec);
    if (read_request(text, &spec, err) == 0)
        return add_known(all, id, &spec);
    spec_done(&spec);
    return NULL;
}

struct submission *submission_share(struct submission *r)
{
    r->users++;
    return r;
}

void submission_drop(struct submissions *all, struct submission *r)
{
    if (!r || --r->users > 0)
        return;
    idmap_remove(&all->by_id, (uint64_t)r->id);
    spec_done(&r->spec);
    free(r);
}

void submissions_done(struct submissions *all)
{
    idmap_done(&all->by_id);
}
