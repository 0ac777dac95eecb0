/* Owns the reading of YAML into JSON values, with libyaml. */
#include "runtime/kubernetes/yaml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* Aliases can make a short text a huge value. */
enum { DEPTH_MAX = 64, VALUES_MAX = 100000 };

struct reading {
    yaml_document_t document;
    int values;
};

static json_t *read_number(const char *text)
{
    char *end;
    if (!*text || strspn(text, "+-.0123456789eE") != strlen(text))
        return NULL;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    if (!*end && errno == 0)
        return json_integer(whole);
    double real = strtod(text, &end);
    return *end ? NULL : json_real(real);
}

static json_t *read_scalar(const yaml_node_t *n)
{
    const char *text = (const char *)n->data.scalar.value;
    if (n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        if (!*text || !strcmp(text, "~") || !strcmp(text, "null"))
            return json_null();
        if (!strcmp(text, "true"))
            return json_true();
        if (!strcmp(text, "false"))
            return json_false();
        json_t *number = read_number(text);
        if (number)
            return number;
    }
    return json_stringn(text, n->data.scalar.length);
}

static json_t *read_node(struct reading *r, int index, int depth);

static json_t *read_sequence(struct reading *r, const yaml_node_t *n, int depth)
{
    json_t *list = json_array();
    for (const yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top;
         i++)
        if (json_array_append_new(list, read_node(r, *i, depth)) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *read_mapping(struct reading *r, const yaml_node_t *n, int depth)
{
    json_t *object = json_object();
    for (const yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top;
         p++) {
        const yaml_node_t *key = yaml_document_get_node(&r->document, p->key);
        if (!key || key->type != YAML_SCALAR_NODE ||
            json_object_set_new(object, (const char *)key->data.scalar.value,
                                read_node(r, p->value, depth)) < 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

/* NULL if it is too deep or too large, or has a text that is not UTF-8. */
static json_t *read_node(struct reading *r, int index, int depth)
{
    const yaml_node_t *n = yaml_document_get_node(&r->document, index);
    if (!n || depth >= DEPTH_MAX || ++r->values > VALUES_MAX)
        return NULL;
    switch (n->type) {
    case YAML_SCALAR_NODE:
        return read_scalar(n);
    case YAML_SEQUENCE_NODE:
        return read_sequence(r, n, depth + 1);
    case YAML_MAPPING_NODE:
        return read_mapping(r, n, depth + 1);
    default:
        return NULL;
    }
}

int yaml_to_json(const char *text, size_t n, json_t **out, struct err *err)
{
    yaml_parser_t parser;
    struct reading r = {.values = 0};
    if (!yaml_parser_initialize(&parser))
        abort(); /* no memory */
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
    if (!yaml_parser_load(&parser, &r.document)) {
        int rc = err_set(err, ERR_INVALID, "line %zu: %s", parser.problem_mark.line + 1,
                         parser.problem ? parser.problem : "not YAML");
        yaml_parser_delete(&parser);
        return rc;
    }
    json_t *value = NULL;
    bool empty = !yaml_document_get_root_node(&r.document);
    if (!empty)
        value = read_node(&r, 1, 0);
    yaml_document_delete(&r.document);
    yaml_parser_delete(&parser);
    if (empty)
        return err_set(err, ERR_INVALID, "it is empty");
    if (!value)
        return err_set(err, ERR_INVALID, "it is too large, too deep or not UTF-8");
    *out = value;
    return 0;
}
