/* Owns the reading of job files in YAML.
 *
 * A first pass over the events limits nesting and size before anything is built from them. The
 * second pass walks each document. Aliases are shared nodes and can multiply what is read, so
 * there is a budget of values and bytes, and a limit on the depth of merge keys, which can
 * nest. */
#include "wire/spec_yaml.h"

#include <stdio.h>
#include <yaml.h>

#include "base/map.h"
#include "base/str.h"
#include "wire/spec_places.h"
#include "wire/spec_set.h"
#include "wire/value.h"

enum {
    BYTES_MAX = 4 << 20,
    EVENTS_MAX = 1000000,
    DEPTH_MAX = 32,
    MERGES_MAX = 8,
    BUDGET = 64 << 20,
    JOB_COST = 1024,
    VALUE_COST = 32,
};

struct reader {
    const char *file; /* as errors show it */
    const char *text;
    yaml_document_t doc;
    size_t spent;
    int merges; /* nested around the node being read */
};

static struct spec_place place_of(const struct reader *r, yaml_mark_t mark)
{
    return (struct spec_place){r->file, (uint32_t)mark.line + 1, (uint32_t)mark.column + 1};
}

static int fail_at(const struct reader *r, yaml_mark_t mark, struct err *err)
{
    return spec_place_fail(place_of(r, mark), err);
}

/* The error of libyaml about a text that it cannot read. */
static int fail_parse(const struct reader *r, const yaml_parser_t *p, struct err *err)
{
    bool tab = p->error == YAML_SCANNER_ERROR && *p->buffer.pointer == '\t';
    if (p->error == YAML_MEMORY_ERROR)
        return err_set(err, ERR_LIMIT, "%s: not enough memory", r->file);
    err_set(err, ERR_INVALID, "not valid YAML: %s%s%s%s", p->context ? p->context : "",
            p->context ? ", " : "", p->problem ? p->problem : "unreadable",
            tab ? "; indent with spaces, not tabs" : "");
    if (p->error == YAML_READER_ERROR)
        return spec_place_fail(spec_place_of(r->file, r->text, p->problem_offset), err);
    return fail_at(r, p->problem_mark, err);
}

static int check_event(const struct reader *r, const yaml_event_t *e, int *depth, int *events,
                       struct err *err)
{
    if (e->type == YAML_MAPPING_START_EVENT || e->type == YAML_SEQUENCE_START_EVENT)
        ++*depth;
    if (e->type == YAML_MAPPING_END_EVENT || e->type == YAML_SEQUENCE_END_EVENT)
        --*depth;
    if (*depth > DEPTH_MAX) {
        err_set(err, ERR_INVALID, "nested deeper than %d levels", DEPTH_MAX);
        return fail_at(r, e->start_mark, err);
    }
    if (++*events > EVENTS_MAX) {
        err_set(err, ERR_LIMIT, "more than %d values in one file", EVENTS_MAX);
        return fail_at(r, e->start_mark, err);
    }
    return 0;
}

static void open_parser(const struct reader *r, yaml_parser_t *p)
{
    if (!yaml_parser_initialize(p))
        abort();
    yaml_parser_set_encoding(p, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(p, (const unsigned char *)r->text, strlen(r->text));
}

static int check_events(const struct reader *r, struct err *err)
{
    __attribute__((cleanup(yaml_parser_delete))) yaml_parser_t p;
    int depth = 0, events = 0;
    open_parser(r, &p);
    for (bool end = false; !end;) {
        yaml_event_t e;
        if (!yaml_parser_parse(&p, &e))
            return fail_parse(r, &p, err);
        end = e.type == YAML_STREAM_END_EVENT;
        int rc = check_event(r, &e, &depth, &events, err);
        yaml_event_delete(&e);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static yaml_node_t *node_at(struct reader *r, int index)
{
    return yaml_document_get_node(&r->doc, index);
}

static const char *kind_of(const yaml_node_t *node)
{
    return node->type == YAML_MAPPING_NODE    ? "a mapping"
           : node->type == YAML_SEQUENCE_NODE ? "a list"
                                              : "one value";
}

static bool is_null(const yaml_node_t *node)
{
    const char *text = (const char *)node->data.scalar.value;
    return node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (!*text || !strcmp(text, "~") || str_equal_nocase(text, "null"));
}

/* Charges the budget each time that a node is read. */
static int spend(struct reader *r, const yaml_node_t *node, size_t cost, struct err *err)
{
    r->spent += cost;
    if (r->spent <= BUDGET)
        return 0;
    err_set(err, ERR_LIMIT, "the file is too large when its aliases are expanded");
    return fail_at(r, node->start_mark, err);
}

/* The text of a scalar; NULL and an error otherwise. */
static const char *text_of(struct reader *r, const yaml_node_t *node, const char *what,
                           struct err *err)
{
    const char *tag = (const char *)node->tag, *text = (const char *)node->data.scalar.value;
    if (node->type != YAML_SCALAR_NODE)
        err_set(err, ERR_INVALID, "%s: expected one value, not %s", what, kind_of(node));
    else if (tag && strncmp(tag, "tag:yaml.org,2002:", 18) != 0)
        err_set(err, ERR_INVALID, "%s: tags are not supported; quote a text that begins with !",
                what);
    else if (strlen(text) != node->data.scalar.length)
        err_set(err, ERR_INVALID, "%s: a NUL character", what);
    else
        return spend(r, node, VALUE_COST + node->data.scalar.length, err) < 0 ? NULL : text;
    fail_at(r, node->start_mark, err);
    return NULL;
}

static int set_scalar(struct reader *r, struct spec *s, const struct spec_field *f,
                      const yaml_node_t *node, struct err *err)
{
    const char *text = text_of(r, node, f->name, err);
    if (!text)
        return -1;
    return spec_set(s, f, text, err) < 0 ? fail_at(r, node->start_mark, err) : 0;
}

static int set_list(struct reader *r, struct spec *s, const struct spec_field *f,
                    const yaml_node_t *node, struct err *err)
{
    for (int *i = node->data.sequence.items.start; i < node->data.sequence.items.top; i++) {
        const yaml_node_t *item = node_at(r, *i);
        if (is_null(item)) {
            err_set(err, ERR_INVALID, "%s: empty list item; write \"\" for an empty text", f->name);
            return fail_at(r, item->start_mark, err);
        }
        if (set_scalar(r, s, f, item, err) < 0)
            return -1;
    }
    return 0;
}

static int set_variable(struct reader *r, struct spec *s, const struct spec_field *f,
                        const yaml_node_pair_t *pair, struct map *seen, struct err *err)
{
    char shown[VALUE_SHOWN], what[VALUE_SHOWN + 8];
    const yaml_node_t *k = node_at(r, pair->key), *v = node_at(r, pair->value);
    const char *key = text_of(r, k, f->name, err);
    if (!key)
        return -1;
    snprintf(what, sizeof what, "%s: %s", f->name, value_show(key, shown));
    if (strchr(key, '='))
        err_set(err, ERR_INVALID, "%s: a variable's name must not contain =", what);
    else if (!map_add(seen, key, 0))
        err_set(err, ERR_INVALID, "%s: given twice", what);
    else {
        const char *value = text_of(r, v, what, err);
        if (!value)
            return -1;
        AUTO_FREE char *text = xmalloc(strlen(key) + strlen(value) + 2);
        sprintf(text, "%s=%s", key, value);
        return spec_set(s, f, text, err) < 0 ? fail_at(r, k->start_mark, err) : 0;
    }
    return fail_at(r, k->start_mark, err);
}

static int set_map(struct reader *r, struct spec *s, const struct spec_field *f,
                   const yaml_node_t *node, struct err *err)
{
    __attribute__((cleanup(map_done))) struct map seen = {0};
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
    for (; pair < node->data.mapping.pairs.top; pair++)
        if (set_variable(r, s, f, pair, &seen, err) < 0)
            return -1;
    return 0;
}

static int set_value(struct reader *r, struct spec *s, const struct spec_field *f,
                     const yaml_node_t *node, struct err *err)
{
    if (f->type != SPEC_MAP) /* variables are added to those of a merge or a default */
        spec_clear(s, f);
    if (is_null(node))
        return 0;
    if (node->type == YAML_SEQUENCE_NODE && spec_field_repeats(f))
        return set_list(r, s, f, node, err);
    if (node->type == YAML_MAPPING_NODE && f->type == SPEC_MAP)
        return set_map(r, s, f, node, err);
    if (node->type != YAML_SCALAR_NODE) {
        err_set(err, ERR_INVALID, "%s: expected %s, not %s", f->name,
                f->type == SPEC_MAP     ? "a mapping of variables"
                : spec_field_repeats(f) ? "a list"
                : f->value              ? f->value
                                        : "true or false",
                kind_of(node));
        return fail_at(r, node->start_mark, err);
    }
    if (f->at != offsetof(struct spec, command))
        return set_scalar(r, s, f, node, err);
    const char *line = text_of(r, node, f->name, err);
    if (!line)
        return -1;
    return spec_set_shell(s, line, err) < 0 ? fail_at(r, node->start_mark, err) : 0;
}

static int set_fields(struct reader *r, struct spec *s, const yaml_node_t *node, bool top,
                      struct err *err);

/* "<<: *other" or "<<: [*one, *other]", where the first one wins. */
static int merge(struct reader *r, struct spec *s, const yaml_node_t *node, struct err *err)
{
    if (r->merges == MERGES_MAX) {
        err_set(err, ERR_INVALID, "<<: merges nested deeper than %d levels", MERGES_MAX);
        return fail_at(r, node->start_mark, err);
    }
    r->merges++;
    int rc = 0;
    if (node->type == YAML_SEQUENCE_NODE) {
        int *i = node->data.sequence.items.top;
        while (rc == 0 && i-- > node->data.sequence.items.start)
            rc = set_fields(r, s, node_at(r, *i), false, err);
    } else {
        rc = set_fields(r, s, node, false, err);
    }
    r->merges--;
    return rc;
}

static bool is_key(const yaml_node_t *node, const char *name)
{
    return node->type == YAML_SCALAR_NODE && !strcmp((const char *)node->data.scalar.value, name);
}

static const yaml_node_t *find_value(struct reader *r, const yaml_node_t *node, const char *name)
{
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
    for (; pair < node->data.mapping.pairs.top; pair++)
        if (is_key(node_at(r, pair->key), name))
            return node_at(r, pair->value);
    return NULL;
}

static int set_pair(struct reader *r, struct spec *s, const yaml_node_pair_t *pair, bool top,
                    struct map *seen, struct err *err)
{
    const yaml_node_t *k = node_at(r, pair->key), *v = node_at(r, pair->value);
    const char *key = text_of(r, k, "a field's name", err);
    if (!key)
        return -1;
    bool special = is_key(k, "<<") || (top && is_key(k, "jobs"));
    const struct spec_field *f = special ? NULL : spec_find(key, err);
    if (!f && !special)
        return fail_at(r, k->start_mark, err);
    if (!map_add(seen, key, (uint32_t)k->start_mark.line + 1)) {
        uint32_t line = 0;
        map_get(seen, key, &line);
        err_set(err, ERR_INVALID, "%s: given twice, first in line %u", key, line);
        return fail_at(r, k->start_mark, err);
    }
    if (special)
        return 0;
    if (set_value(r, s, f, v, err) < 0)
        return -1;
    spec_place_set(s, f, place_of(r, v->start_mark));
    return 0;
}

/* Reads the fields of a mapping: first those that it merges, then its own. `jobs` at the top
 * of a document is read elsewhere. */
static int set_fields(struct reader *r, struct spec *s, const yaml_node_t *node, bool top,
                      struct err *err)
{
    __attribute__((cleanup(map_done))) struct map seen = {0};
    if (spend(r, node, VALUE_COST, err) < 0)
        return -1;
    if (node->type != YAML_MAPPING_NODE) {
        err_set(err, ERR_INVALID, "expected a mapping of fields such as 'cpus: 2', not %s",
                kind_of(node));
        return fail_at(r, node->start_mark, err);
    }
    const yaml_node_t *merged = find_value(r, node, "<<");
    if (merged && merge(r, s, merged, err) < 0)
        return -1;
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
    for (; pair < node->data.mapping.pairs.top; pair++)
        if (set_pair(r, s, pair, top, &seen, err) < 0)
            return -1;
    return 0;
}

struct caller {
    int (*each)(struct spec *s, void *ctx, struct err *err);
    void *ctx;
};

/* Reads one job: the defaults at the top of the document, then its own mapping, if it has
 * one. */
static int read_job(struct reader *r, const yaml_node_t *top, const yaml_node_t *own,
                    const struct caller *to, struct err *err)
{
    __attribute__((cleanup(spec_done))) struct spec s;
    spec_init(&s);
    const yaml_node_t *whole = own ? own : top;
    if (spend(r, whole, JOB_COST, err) < 0 || set_fields(r, &s, top, own, err) < 0)
        return -1;
    if (own && set_fields(r, &s, own, false, err) < 0)
        return -1;
    spec_place_set(&s, NULL, place_of(r, whole->start_mark));
    return to->each(&s, to->ctx, err);
}

static int read_document(struct reader *r, const struct caller *to, struct err *err)
{
    const yaml_node_t *top = yaml_document_get_root_node(&r->doc);
    const yaml_node_t *jobs = top->type == YAML_MAPPING_NODE ? find_value(r, top, "jobs") : NULL;
    if (!jobs)
        return read_job(r, top, NULL, to, err);
    int *first = jobs->data.sequence.items.start, *end = jobs->data.sequence.items.top;
    if (jobs->type != YAML_SEQUENCE_NODE || first == end) {
        err_set(err, ERR_INVALID, "jobs: expected a list with a mapping of fields for each job");
        return fail_at(r, jobs->start_mark, err);
    }
    for (int *i = first; i < end; i++)
        if (read_job(r, top, node_at(r, *i), to, err) < 0)
            return -1;
    return 0;
}

static int read_documents(struct reader *r, const struct caller *to, struct err *err)
{
    __attribute__((cleanup(yaml_parser_delete))) yaml_parser_t p;
    open_parser(r, &p);
    for (int documents = 0;; documents++) {
        if (!yaml_parser_load(&p, &r->doc))
            return fail_parse(r, &p, err);
        bool end = !yaml_document_get_root_node(&r->doc);
        int rc = end ? 0 : read_document(r, to, err);
        yaml_document_delete(&r->doc);
        if (rc < 0)
            return -1;
        if (end && documents == 0)
            return err_set(err, ERR_INVALID, "%s: the file has no jobs", r->file);
        if (end)
            return 0;
    }
}

int spec_read_yaml(const char *name, const char *text, size_t n,
                   int (*each)(struct spec *s, void *ctx, struct err *err), void *ctx,
                   struct err *err)
{
    __attribute__((cleanup(arena_done))) struct arena a = {0};
    struct reader r = {.file = spec_place_file(&a, name)};
    struct caller to = {each, ctx};
    if (spec_place_check_text(r.file, text, n, BYTES_MAX, err) < 0)
        return -1;
    r.text = arena_strndup(&a, text, n);
    if (check_events(&r, err) < 0)
        return -1;
    return read_documents(&r, &to, err);
}
