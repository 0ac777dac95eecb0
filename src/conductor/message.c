/* Owns the form of what the conductor says. What it understands is in command.c. */
#include "conductor/message.h"

#include <jansson.h>
#include <stdlib.h>

enum { REAL_DIGITS = 15 };

/* Adds the object as a line and drops it. */
static void add_line(struct str *out, json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
    json_decref(object);
    if (!text)
        abort();
    str_add(out, text);
    str_add_n(out, "\n", 1);
    free(text);
}

void message_hello(struct str *out, const struct jobspec *spec, pid_t pid, usec_t started,
                   uint64_t seq)
{
    add_line(out, json_pack("{s:s, s:I, s:I, s:s, s:i, s:I, s:I, s:f}", "type", "hello", "job",
                            (json_int_t)spec->job, "attempt", (json_int_t)spec->attempt, "token",
                            spec->token, "pid", (int)pid, "started_us", (json_int_t)started, "seq",
                            (json_int_t)seq, "cpus", spec->cpus));
}

void message_started(struct str *out, pid_t leader, usec_t at)
{
    add_line(out, json_pack("{s:s, s:i, s:I}", "type", "started", "pid", (int)leader, "at_us",
                            (json_int_t)at));
}

void message_progress(struct str *out, uint64_t seq, usec_t at, const char *body)
{
    str_addf(out, "{\"type\":\"progress\",\"seq\":%llu,\"at_us\":%lld%s%s}\n",
             (unsigned long long)seq, (long long)at, *body ? "," : "", body);
}

static json_t *usage_object(const struct usage *u)
{
    const struct {
        const char *name;
        int64_t value;
    } fields[] = {
        {"cpu_us", u->cpu_us},
        {"memory_bytes", u->memory_bytes},
        {"block_bytes", u->block_bytes},
        {"memory_peak_bytes", u->memory_peak_bytes},
        {"net_bytes", u->net_bytes},
        {"pids", u->pids},
        {"throttled_us", u->throttled_us},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        if (fields[i].value >= 0)
            json_object_set_new(object, fields[i].name, json_integer(fields[i].value));
    return object;
}

void message_usage(struct str *out, usec_t at, const struct usage *u)
{
    json_t *object = json_pack("{s:s, s:I}", "type", "usage", "at_us", (json_int_t)at);
    json_object_update_new(object, usage_object(u));
    add_line(out, object);
}

/* A text from outside, which may hold bytes that are no UTF-8. */
static json_t *any_text(const char *text)
{
    json_t *v = json_string(text);
    if (v)
        return v;
    struct str quoted = {0};
    str_add_json(&quoted, text);
    v = json_loads(quoted.at, JSON_DECODE_ANY, NULL);
    str_done(&quoted);
    return v ? v : json_string("");
}

void message_warning(struct str *out, const char *text)
{
    add_line(out, json_pack("{s:s, s:o}", "type", "warning", "text", any_text(text)));
}

void message_ok(struct str *out, int64_t id)
{
    add_line(out, json_pack("{s:s, s:I}", "type", "ok", "id", (json_int_t)id));
}

void message_error(struct str *out, int64_t id, const char *text)
{
    add_line(out, json_pack("{s:s, s:I, s:o}", "type", "error", "id", (json_int_t)id, "text",
                            any_text(text)));
}

static json_t *applied_object(int64_t id, double cpus, int64_t threads)
{
    json_t *object = json_pack("{s:s, s:f, s:I}", "type", "applied", "cpus", cpus, "threads",
                               (json_int_t)threads);
    if (id >= 0)
        json_object_set_new(object, "id", json_integer(id));
    return object;
}

void message_applied(struct str *out, int64_t id, double cpus, int64_t threads)
{
    add_line(out, applied_object(id, cpus, threads));
}

void message_obeyed(struct str *out, const struct threads_answer *a)
{
    json_t *object = applied_object(a->id, a->cpus, a->threads);
    json_object_set_new(object, "in_us", json_integer(a->in));
    json_object_set_new(object, "regions", json_integer((json_int_t)a->regions));
    if (a->late)
        json_object_set_new(object, "late", json_true());
    add_line(out, object);
}

void message_restarted(struct str *out, unsigned incarnation, double cpus, usec_t pause)
{
    add_line(out, json_pack("{s:s, s:i, s:f, s:I}", "type", "restarted", "incarnation",
                            (int)incarnation, "cpus", cpus, "pause_us", (json_int_t)pause));
}

void message_exit(struct str *out, const struct jobspec *spec, const struct outcome *o,
                  const struct notes *notes)
{
    json_t *object =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:i, s:i, s:b, s:b, s:o, s:o, s:I, s:I}", "type",
                  "exit", "job", (json_int_t)spec->job, "attempt", (json_int_t)spec->attempt,
                  "started_us", (json_int_t)o->started, "at_us", (json_int_t)o->at, "code", o->code,
                  "signal", o->signal, "oom", o->oom, "timeout", o->timeout, "reason",
                  any_text(o->reason), "usage", usage_object(&o->usage), "log_bytes",
                  (json_int_t)o->log_bytes, "log_dropped", (json_int_t)o->log_dropped);
    if (*o->stop)
        json_object_set_new(object, "stop", any_text(o->stop));
    if (notes->n) {
        json_t *list = json_array();
        for (size_t i = 0; i < notes->n; i++)
            json_array_append_new(list, any_text(notes->text[i]));
        json_object_set_new(object, "warnings", list);
    }
    add_line(out, object);
}
