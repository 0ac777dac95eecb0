/* Owns the format of a message: its line, its type, its members. */
#include "protocol/message.h"

#include <jansson.h>
#include <string.h>

void message_encode(const struct message_kind *kind, const struct record *head,
                    const void *head_from, const void *body, struct str *out)
{
    str_addf(out, "{\"type\":\"%s\"", kind->name);
    if (head)
        record_add_members(head, head_from, out);
    record_add_members(kind->body, body, out);
    str_add(out, "}\n");
}

int message_parse(const char *line, size_t n, json_t **object, struct err *err)
{
    json_error_t where;
    json_t *o = json_loadb(line, n, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_string(json_object_get(o, "type"))) {
        err_set(err, ERR_INVALID, "not a message: %s", o ? "it has no type" : where.text);
        json_decref(o);
        return -1;
    }
    *object = o;
    return 0;
}

int message_decode(const struct message_kind *kinds, size_t n_kinds, const json_t *object,
                   struct arena *a, void *body, struct err *err)
{
    const char *type = json_string_value(json_object_get(object, "type"));
    for (size_t i = 0; i < n_kinds; i++) {
        if (strcmp(kinds[i].name, type) != 0)
            continue;
        if (record_decode(kinds[i].body, object, a, body, err) < 0)
            return err_prefix(err, "%s", type);
        return (int)i;
    }
    return err_set(err, ERR_INVALID, "unknown message '%.60s'", type);
}
