/* Owns the reading of an engine's JSON. */
#include "runtime/docker/answers.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/fields.h"
#include "base/str.h"

static json_t *parse(const char *text, size_t n, const char *what, struct err *err)
{
    json_error_t where;
    json_t *v = json_loadb(text, n, 0, &where);
    if (!v)
        err_set(err, ERR_INVALID, "the engine's %s is not JSON: %s", what, where.text);
    return v;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static int64_t int_of(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

/* ---- versions and machines ---------------------------------------------------- */

static api_version_t version_of(const char *text)
{
    unsigned major, minor;
    char end;
    return sscanf(text, "%3u.%3u%c", &major, &minor, &end) == 2 ? major * 1000 + minor : 0;
}

static bool has_component(const json_t *version, const char *name)
{
    const json_t *list = json_object_get(version, "Components");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!strcmp(text_of(json_array_get(list, i), "Name"), name))
            return true;
    return false;
}

int answer_read_version(const char *text, size_t n, struct answer_version *out, struct err *err)
{
    json_t *v = parse(text, n, "version", err);
    if (!v)
        return -1;
    struct answer_version got = {version_of(text_of(v, "ApiVersion")),
                                 version_of(text_of(v, "MinAPIVersion")),
                                 has_component(v, "Podman Engine")};
    json_decref(v);
    if (!got.newest)
        return err_set(err, ERR_INVALID, "the engine did not report its API version");
    *out = got;
    return 0;
}

int answer_read_info(const char *text, size_t n, struct answer_info *out, struct err *err)
{
    json_t *v = parse(text, n, "description", err);
    if (!v)
        return -1;
    struct answer_info got = {.cpus = json_number_value(json_object_get(v, "NCPU")),
                              .memory_mb = int_of(v, "MemTotal") >> 20};
    fields_cut_text(text_of(v, "Architecture"), got.architecture, sizeof got.architecture);
    json_decref(v);
    if (!(got.cpus > 0 && got.cpus < 1e6) || got.memory_mb < 0)
        return err_set(err, ERR_INVALID, "the engine did not report how many CPUs it has");
    *out = got;
    return 0;
}

/* ---- images --------------------------------------------------------------------- */

static const char **texts_of(const json_t *object, const char *name, struct arena *a)
{
    const json_t *list = json_object_get(object, name);
    size_t n = json_array_size(list), kept = 0;
    const char **out = ARENA_ARRAY(a, n + 1, const char *);
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (text)
            out[kept++] = arena_strdup(a, text);
    }
    return out;
}

int answer_read_image(const char *text, size_t n, struct arena *a, struct answer_image *out,
                      struct err *err)
{
    json_t *v = parse(text, n, "image", err);
    if (!v)
        return -1;
    const json_t *config = json_object_get(v, "Config");
    *out = (struct answer_image){.entrypoint = texts_of(config, "Entrypoint", a),
                                 .command = texts_of(config, "Cmd", a),
                                 .env = texts_of(config, "Env", a),
                                 .workdir = arena_strdup(a, text_of(config, "WorkingDir"))};
    json_decref(v);
    return 0;
}

/* ---- containers ------------------------------------------------------------------ */

static bool copy_id(const char *text, char out[CONTAINER_ID_SIZE])
{
    size_t n = strlen(text);
    if (!n || n >= CONTAINER_ID_SIZE || strspn(text, "0123456789abcdef") != n)
        return false;
    memcpy(out, text, n + 1);
    return true;
}

static enum container_state state_of(const char *status)
{
    static const char *const running[] = {"running", "paused", "restarting"};
    for (size_t i = 0; i < COUNT_OF(running); i++)
        if (!strcmp(status, running[i]))
            return CONTAINER_RUNNING;
    if (!strcmp(status, "removing") || !strcmp(status, "dead"))
        return CONTAINER_LEAVING;
    /* podman says "configured" and "initialized" of one that was never started */
    return !strcmp(status, "created") || !strcmp(status, "configured") ||
                   !strcmp(status, "initialized")
               ? CONTAINER_CREATED
               : CONTAINER_ENDED;
}

int answer_read_container(const char *text, size_t n, struct answer_container *out, struct err *err)
{
    json_t *v = parse(text, n, "container", err);
    if (!v)
        return -1;
    const json_t *state = json_object_get(v, "State");
    const char *status = text_of(state, "Status");
    struct answer_container got = {.state = state_of(status),
                                   .paused = !strcmp(status, "paused"),
                                   .pid = int_of(state, "Pid"),
                                   .exit_code = int_of(state, "ExitCode")};
    fields_cut_text(text_of(state, "Error"), got.error, sizeof got.error);
    const json_t *own = json_object_get(json_object_get(v, "Config"), "Labels");
    struct err none;
    (void)str_parse_int(text_of(own, LABEL_LOG_PART), 1, INT64_MAX / 2, &got.log_part, &none);
    bool fine = *status && copy_id(text_of(v, "Id"), got.id);
    json_decref(v);
    if (!fine)
        return err_set(err, ERR_INVALID, "the engine did not report the state of the container");
    *out = got;
    return 0;
}

int answer_read_id(const char *text, size_t n, char out[CONTAINER_ID_SIZE], struct err *err)
{
    json_t *v = parse(text, n, "answer", err);
    if (!v)
        return -1;
    bool fine = copy_id(text_of(v, "Id"), out);
    json_decref(v);
    return fine ? 0 : err_set(err, ERR_INVALID, "the engine did not report what it has created");
}

/* ---- ours -------------------------------------------------------------------------- */

static bool read_labels(const json_t *labels, struct answer_ours *out)
{
    int64_t job, attempt, part = 0, gpus = 0;
    struct err err;
    if (str_parse_int(text_of(labels, LABEL_JOB), 1, INT64_MAX, &job, &err) < 0 ||
        str_parse_int(text_of(labels, LABEL_ATTEMPT), 0, UINT32_MAX, &attempt, &err) < 0)
        return false;
    (void)str_parse_int(text_of(labels, LABEL_GPUS), 0, INT64_MAX, &gpus, &err);
    (void)str_parse_int(text_of(labels, LABEL_PART), 0, UINT32_MAX, &part, &err);
    out->part = (uint32_t)part;
    out->gpus = (uint64_t)gpus;
    out->job = job;
    out->attempt = (uint32_t)attempt;
    return true;
}

int answer_read_list(const char *text, size_t n, void (*fn)(void *ctx, const struct answer_ours *c),
                     void *ctx, struct err *err)
{
    json_t *v = parse(text, n, "list of containers", err);
    size_t i;
    const json_t *one;
    if (!v)
        return -1;
    json_array_foreach(v, i, one)
    {
        struct answer_ours c = {.state = state_of(text_of(one, "State"))};
        if (read_labels(json_object_get(one, "Labels"), &c) && copy_id(text_of(one, "Id"), c.id))
            fn(ctx, &c);
    }
    bool list = json_is_array(v);
    json_decref(v);
    return list ? 0 : err_set(err, ERR_INVALID, "the engine does not list its containers");
}

int answer_read_event(const char *text, size_t n, struct answer_ours *out)
{
    struct err err;
    json_t *v = parse(text, n, "event", &err);
    if (!json_is_object(v)) {
        json_decref(v);
        return -1;
    }
    const json_t *actor = json_object_get(v, "Actor");
    struct answer_ours got = {.died = !strcmp(text_of(v, "Action"), "die")};
    bool ours = !strcmp(text_of(v, "Type"), "container") &&
                read_labels(json_object_get(actor, "Attributes"), &got) &&
                copy_id(text_of(actor, "ID"), got.id);
    json_decref(v);
    if (ours)
        *out = got;
    return ours;
}

/* ---- pulls and errors ---------------------------------------------------------------- */

int answer_read_pull(const char *text, size_t n, struct answer_pull *out, struct err *err)
{
    json_t *v = parse(text, n, "progress", err);
    if (!v)
        return -1;
    const json_t *detail = json_object_get(v, "progressDetail");
    const char *error = text_of(v, "error");
    struct answer_pull got = {.current = int_of(detail, "current"),
                              .total = int_of(detail, "total")};
    fields_cut_text(text_of(v, "id"), got.layer, sizeof got.layer);
    fields_cut_text(text_of(v, "status"), got.status, sizeof got.status);
    int rc = *error ? err_set(err, ERR_IO, "%.200s", error) : 0;
    json_decref(v);
    if (rc == 0)
        *out = got;
    return rc;
}

void answer_read_error(const char *text, size_t n, char *out, size_t size)
{
    json_t *v = json_loadb(text, n, 0, NULL);
    const char *message = text_of(v, "message");
    /* podman */
    message = *message ? message : text_of(v, "cause");
    if (*message) {
        fields_cut_text(message, out, size);
    } else {
        struct str plain = {0};
        AUTO_FREE char *copy = xstrndup(text, n < size ? n : size);
        str_add_utf8(&plain, copy);
        fields_cut_text(plain.at, out, size);
        str_done(&plain);
    }
    out[strcspn(out, "\r\n")] = '\0';
    json_decref(v);
}
