/* Owns the definition of TrainingJob: its schema follows from wire/spec.h, its status from
 * resource.c. */
#include "server/kubernetes/crd.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "server/kubernetes/resource.h"
#include "wire/spec.h"

/* ---- the fields of a job ----------------------------------------------------------------- */

/* Schemas must be of one type; where a job file takes a number or a text, so does the API. */
static json_t *type_schema(const struct spec_field *f)
{
    json_t *words, *either = NULL;
    switch (f->type) {
    case SPEC_TEXT:
    case SPEC_BODY:
    case SPEC_WARNING:
    case SPEC_IF:
    case SPEC_FLAT:
        return json_pack("{s:s}", "type", "string");
    case SPEC_INT:
        return json_pack("{s:s, s:f, s:f}", "type", "integer", "minimum", f->lo, "maximum", f->hi);
    case SPEC_REAL:
        return json_pack("{s:s}", "type", "number");
    case SPEC_FLAG:
        return json_pack("{s:s}", "type", "boolean");
    case SPEC_CHOICE:
        words = json_array();
        for (const char *p = f->value; *p;) {
            size_t n = strcspn(p, "|");
            json_array_append_new(words, json_stringn(p, n));
            p += n + (p[n] == '|');
        }
        return json_pack("{s:s, s:o}", "type", "string", "enum", words);
    case SPEC_LIST:
    case SPEC_DEPS:
        return json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "string");
    case SPEC_MAP:
        return json_pack("{s:s, s:{s:s}}", "type", "object", "additionalProperties", "type",
                         "string");
    default:
        either = json_pack("{s:b}", "x-kubernetes-int-or-string", 1);
    }
    return either;
}

/* One object is one job; what a client sends along has no place in an object. */
static bool is_left_out(const struct spec_field *f)
{
    static const char *const names[] = {"array", "sweep", "upload", "export", "environment"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (!strcmp(f->name, names[i]))
            return true;
    return false;
}

static json_t *spec_schema(void)
{
    json_t *all = json_object();
    for (const struct spec_field *f = spec_fields; f->name; f++) {
        if (is_left_out(f))
            continue;
        json_t *one = type_schema(f);
        json_object_set_new(one, "description", json_string(f->help));
        json_object_set_new(all, f->name, one);
    }
    json_object_set_new(all, "replicas",
                        json_pack("{s:s, s:i, s:s}", "type", "integer", "minimum", 0, "description",
                                  "CPUs that it has to have, as kubectl scale sets them; 0 = as "
                                  "many as the policy decides"));
    return json_pack("{s:s, s:o}", "type", "object", "properties", all);
}

/* ---- the status --------------------------------------------------------------------------------
 */

static const struct {
    const char *name, *type, *format, *help;
} status_members[] = {
    {"observedGeneration", "integer", "int64", "Generation of the object that this is about"},
    {"state", "string", NULL, "State of the job; pending and refused before there is one"},
    {"message", "string", NULL, "Why it was refused, has ended or was queued again"},
    {"job", "integer", "int64", "Number of the job"},
    {"attempt", "integer", "int64", "Number of its last attempt"},
    {"node", "string", NULL, "Node that it runs on"},
    {"replicas", "integer", "int32", "CPUs, or GPUs, that it has, rounded up"},
    {"cpus", "number", NULL, "CPUs that it has"},
    {"gpus", "number", NULL, "GPUs that it has"},
    {"selector", "string", NULL, "Selects its pods"},
    {"progress", "string", NULL, "Part of the work that is done"},
    {"step", "number", NULL, "Steps done"},
    {"total", "number", NULL, "Steps in total"},
    {"loss", "number", NULL, "Last loss"},
    {"expectedEnd", "string", "date-time", "When it is expected to end"},
    {"startTime", "string", "date-time", "When it first started"},
    {"completionTime", "string", "date-time", "When it ended"},
    {"exitCode", "integer", "int32", "Exit code of its command"},
};

static json_t *condition_schema(void)
{
    static const char *const names[] = {"type", "status", "reason", "message"};
    json_t *all = json_object();
    for (size_t i = 0; i < COUNT_OF(names); i++)
        json_object_set_new(all, names[i], json_pack("{s:s}", "type", "string"));
    json_object_set_new(all, "lastTransitionTime",
                        json_pack("{s:s, s:s}", "type", "string", "format", "date-time"));
    return json_pack("{s:s, s:{s:s, s:[s,s], s:o}}", "type", "array", "items", "type", "object",
                     "required", "type", "status", "properties", all);
}

static json_t *status_schema(void)
{
    json_t *all = json_object();
    for (size_t i = 0; i < COUNT_OF(status_members); i++) {
        json_t *one = json_pack("{s:s, s:b, s:s}", "type", status_members[i].type, "nullable", 1,
                                "description", status_members[i].help);
        if (status_members[i].format)
            json_object_set_new(one, "format", json_string(status_members[i].format));
        json_object_set_new(all, status_members[i].name, one);
    }
    json_object_set_new(all, "conditions", condition_schema());
    return json_pack("{s:s, s:o}", "type", "object", "properties", all);
}

/* ---- the definition ----------------------------------------------------------------------------
 */

static json_t *columns(void)
{
    static const char *const all[][3] = {
        {"State", "string", ".status.state"},     {"Job", "integer", ".status.job"},
        {"Size", "integer", ".status.replicas"},  {"Progress", "string", ".status.progress"},
        {"Loss", "number", ".status.loss"},       {"Node", "string", ".status.node"},
        {"End", "string", ".status.expectedEnd"}, {"Age", "date", ".metadata.creationTimestamp"},
    };
    json_t *list = json_array();
    for (size_t i = 0; i < COUNT_OF(all); i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", all[i][0], "type",
                                              all[i][1], "jsonPath", all[i][2]));
    return list;
}

static json_t *make_version(void)
{
    json_t *schema = json_pack(
        "{s:s, s:s, s:[s], s:{s:o, s:o}}", "type", "object", "description",
        "A training job. Its spec has the fields of a job file (docs/jobs.md).", "required", "spec",
        "properties", "spec", spec_schema(), "status", status_schema());
    return json_pack("{s:s, s:b, s:b, s:o, s:{s:{}, s:{s:s, s:s, s:s}}, s:{s:o}}", "name",
                     RESOURCE_VERSION, "served", 1, "storage", 1, "additionalPrinterColumns",
                     columns(), "subresources", "status", "scale", "specReplicasPath",
                     ".spec.replicas", "statusReplicasPath", ".status.replicas",
                     "labelSelectorPath", ".status.selector", "schema", "openAPIV3Schema", schema);
}

static json_t *make_definition(void)
{
    return json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:s, s:{s:s, s:s, s:s, s:[s], s:[s]}, s:[o]}}",
                     "apiVersion", "apiextensions.k8s.io/v1", "kind", "CustomResourceDefinition",
                     "metadata", "name", RESOURCE_PLURAL "." RESOURCE_GROUP, "spec", "group",
                     RESOURCE_GROUP, "scope", "Namespaced", "names", "kind", RESOURCE_KIND,
                     "plural", RESOURCE_PLURAL, "singular", "trainingjob", "shortNames", "tj",
                     "categories", "all", "versions", make_version());
}

/* ---- YAML
 * ---------------------------------------------------------------------------------------- */

static void print_value(const json_t *v, int depth, struct str *out);

/* Objects in lists begin on the line of their dash. */
static void print_object(const json_t *object, int depth, bool inline_first, struct str *out)
{
    const char *key;
    const json_t *v;
    json_object_foreach((json_t *)object, key, v)
    {
        str_addf(out, "%*s%s:", inline_first ? 0 : depth * 2, "", key);
        inline_first = false;
        print_value(v, depth + 1, out);
    }
}

static void print_list(const json_t *list, int depth, struct str *out)
{
    const json_t *v;
    size_t i;
    json_array_foreach(list, i, v)
    {
        str_addf(out, "%*s-", (depth - 1) * 2, "");
        if (json_object_size(v)) {
            str_add(out, " ");
            print_object(v, depth, true, out);
        } else {
            print_value(v, depth, out);
        }
    }
}

/* After a key or a dash. Texts of JSON are texts of YAML. */
static void print_value(const json_t *v, int depth, struct str *out)
{
    if (json_object_size(v)) {
        str_add(out, "\n");
        print_object(v, depth, false, out);
    } else if (json_array_size(v)) {
        str_add(out, "\n");
        print_list(v, depth, out);
    } else {
        AUTO_FREE char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        str_addf(out, " %s\n", text);
    }
}

void crd_print(struct str *out)
{
    json_auto_t *definition = make_definition();
    str_add(out, "# Made by `trainyard crd` from the table of a job's fields.\n");
    print_object(definition, 0, false, out);
}
