/* Owns the tests of a job request's fields: every one with good and bad values,
 * what goes together, what follows from what, and that the documentation names
 * them all. */
#include "support/test.h"

#include <jansson.h>

#include "wire/spec.h"
#include "wire/spec_check.h"
#include "wire/spec_export.h"
#include "wire/spec_json.h"
#include "wire/spec_lists.h"
#include "wire/spec_set.h"
#include "wire/value.h"

static const struct good {
    const char *field, *text, *json; /* json: as it is written; NULL = the default */
} good[] = {
    {"name", "resnet", "\"resnet\""},
    {"name", "3d unet: größe", "\"3d unet: größe\""},
    {"command", "python3 -c 'x\ny'", "[\"python3 -c 'x\\ny'\"]"},
    {"command", "", "[\"\"]"},
    {"script", "#!/bin/sh\necho $1\n", "\"#!/bin/sh\\necho $1\\n\""},
    {"cpus", "2", "2"},
    {"cpus", "1", "1"},
    {"cpus", "1-4", "\"1-4\""},
    {"cpus", "0.5-2", "\"0.5-2\""},
    {"cpus", ".25", "0.25"},
    {"cpus", "0.001-65536", "\"0.001-65536\""},
    {"cpus", "12345.678-65535.999", "\"12345.678-65535.999\""},
    {"gpus", "4", "4"},
    {"gpus", "1-8", "\"1-8\""},
    {"gpus", "0", NULL},
    {"gpu_type", "a100", "\"a100\""},
    {"memory", "512", "512"},
    {"memory", "512m", "512"},
    {"memory", "1.5G", "1536"},
    {"memory", "4GiB", "4096"},
    {"memory", "4gb", "4096"},
    {"memory", "2Ti", "2097152"},
    {"memory", "1k", "1"},
    {"memory", "0", NULL},
    {"workers", "2-8", "\"2-8\""},
    {"workers", "3", "3"},
    {"nodes", "2-3", "\"2-3\""},
    {"nodes", "2", "2"},
    {"resize", "auto", NULL},
    {"resize", "none", "\"none\""},
    {"resize", "live", "\"live\""},
    {"resize", "restart", "\"restart\""},
    {"resize", "torchrun", "\"torchrun\""},
    {"resize", "horovod", "\"horovod\""},
    {"preempt", "auto", NULL},
    {"preempt", "restart", "\"restart\""},
    {"preempt", "pause", "\"pause\""},
    {"preempt", "never", "\"never\""},
    {"deadline", "2h30m", "9000"},
    {"deadline_at", "1900000000", "1900000000"},
    {"deadline_at", "2030-01-31T18:00:30Z", "1896112830"},
    {"deadline_at", "2030-01-31T18:00+02:00", "1896105600"},
    {"deadline_at", "2030-01-31 18:00:00-0530", "1896132600"},
    {"time_limit", "90", "90"},
    {"time_limit", "1.5s", "1.5"},
    {"time_limit", "100us", "0.0001"},
    {"signal", "USR1@90", "\"USR1@90\""},
    {"signal", "sigusr2", "\"USR2@60\""},
    {"signal", "10@2m", "\"USR1@120\""},
    {"signal", "34@1.5", "\"34@1.5\""},
    {"checkpoint_signal", "TERM", "\"TERM\""},
    {"checkpoint_signal", "SIGINT", "\"INT\""},
    {"grace", "0", "0"},
    {"grace", "5m", "300"},
    {"lease", "90s", "90"},
    {"lease", "none", "\"none\""},
    {"priority", "-5", "-5"},
    {"priority", "+7", "7"},
    {"weight", "2.5", "2.5"},
    {"weight", "1", NULL},
    {"target", "0.1", "0.10000000000000001"},
    {"target", "-3", "-3.0"},
    {"total", "1e5", "100000"},
    {"total", "500", "500"},
    {"total", "10 epochs", "\"10epochs\""},
    {"total", "500iters", "\"500steps\""},
    {"strict_deadline", "true", "true"},
    {"no_probe", "true", "true"},
    {"category", "resnet", "\"resnet\""},
    {"stop_on_nan", "true", "true"},
    {"metric", "val_acc", "\"val_acc\""},
    {"goal", "max", "\"max\""},
    {"stop_when", "Val Loss<=.1", "\"val_loss <= 0.1\""},
    {"stop_when_flat", "5%/10min", "\"5%/600s\""},
    {"stop_when_flat", "0.1%/500steps", "\"0.1%/500steps\""},
    {"sweep", "lr=0.1,0.01", "{\"lr\": \"0.1,0.01\"}"},
    {"group", "sweep 1", "\"sweep 1\""},
    {"keep_best", "4", "4"},
    {"every", "100", "100"},
    {"wait_children", "true", "true"},
    {"pattern", "it (?<step>\\d+)", "\"it (?<step>\\\\d+)\""},
    {"retries", "3", "3"},
    {"backoff", "1m", "60"},
    {"requeue", "true", "true"},
    {"requeue", "Off", NULL},
    {"after", "afterok:12", "[\"afterok:12\"]"},
    {"after", "afterok:12,13", "[\"afterok:12\", \"afterok:13\"]"},
    {"after", "afterok:12:13,afterany:prep,singleton",
     "[\"afterok:12\", \"afterok:13\", \"afterany:prep\", \"singleton\"]"},
    {"after", "after:1,afternotok:2,3", "[\"after:1\", \"afternotok:2\", \"afternotok:3\"]"},
    {"array", "0-9", "\"0-9\""},
    {"array", "1,3,5", "\"1,3,5\""},
    {"array", "0-99:10%4", "\"0-99:10%4\""},
    {"array", "7", "\"7\""},
    {"array", "0-8:2,1-9:2", "\"0-8:2,1-9:2\""},
    {"hold", "yes", "true"},
    {"workdir", "/srv/run", "\"/srv/run\""},
    {"env", "A=1=2", "{\"A\": \"1=2\"}"},
    {"env", "EMPTY=", "{\"EMPTY\": \"\"}"},
    {"export", "none", "\"none\""},
    {"export", "WANDB_*,A", "\"WANDB_*,A\""},
    {"environment", "A=1", "{\"A\": \"1\"}"},
    {"pty", "yes", "\"yes\""},
    {"checkpoint_dir", "/srv/ckpt", "\"/srv/ckpt\""},
    {"image", "pytorch/pytorch:2.4", "\"pytorch/pytorch:2.4\""},
    {"mounts", "/data:/data:ro", "[\"/data:/data:ro\"]"},
    {"shm_size", "2g", "2048"},
    {"run_as", "1000:100", "\"1000:100\""},
    {"upload", "code", "\"code\""},
    {"notify", "mail:a@b.c", "[\"mail:a@b.c\"]"},
    {"notify_on", "end,fail", "\"end,fail\""},
    {"ulimits", "nofile=1024:2048", "[\"nofile=1024:2048\"]"},
    {"user", "ann", "\"ann\""},
    {"comment", "first try", "\"first try\""},
};

/* The member that a field has become; NULL when it is not written. */
static char *written(const struct spec *s, const char *field)
{
    json_t *o = spec_to_json(s);
    json_t *v = json_object_get(o, field);
    char *text = v ? json_dumps(v, JSON_ENCODE_ANY) : NULL;
    json_decref(o);
    return text;
}

static void takes_good_values(void **state)
{
    (void)state;
    struct err err = {0};
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct spec s;
        spec_init(&s);
        const struct spec_field *f = spec_find(good[i].field, &err);
        assert_non_null(f);
        if (spec_set(&s, f, good[i].text, &err) < 0)
            fail_msg("%s '%s': %s", good[i].field, good[i].text, err.text);
        AUTO_FREE char *json = written(&s, good[i].field);
        if (!good[i].json != !json || (json && strcmp(json, good[i].json) != 0))
            fail_msg("%s '%s' is written as %s", good[i].field, good[i].text, json);
        assert_int_equal(spec_differs(&s, f), json != NULL);
        spec_clear(&s, f);
        assert_false(spec_differs(&s, f));
        spec_done(&s);
    }
}

static void every_field_is_tried(void **state)
{
    (void)state;
    for (const struct spec_field *f = spec_fields; f->name; f++) {
        bool tried = false;
        for (size_t i = 0; i < COUNT_OF(good); i++)
            tried |= !strcmp(good[i].field, f->name);
        if (!tried)
            fail_msg("%s has no good value here", f->name);
        assert_true(f->help && *f->help && (f->value || f->type == SPEC_FLAG));
        for (const struct spec_field *other = spec_fields; other < f; other++) {
            assert_string_not_equal(f->name, other->name);
            assert_true(f->letter == 0 || f->letter != other->letter);
            assert_int_not_equal(f->at, other->at);
        }
    }
}

static const struct {
    const char *field, *text, *error;
} bad[] = {
    {"name", "", "name: must not be empty"},
    {"name", "12", "name: '12': a name has at most 128 bytes and not only digits"},
    {"name", "a\nb", "name: 'a?b': control characters are not allowed"},
    {"name", "\xff", "name: '?': not valid UTF-8"},
    {"script", "", "script: must not be empty"},
    {"cpus", "", "cpus: '': expected MIN-MAX"},
    {"cpus", "many", "cpus: 'many' is not a number"},
    {"cpus", "-1", "cpus: '-1': expected a number or MIN-MAX"},
    {"cpus", "0", "cpus: 0 is not between 0.001 and 65536"},
    {"cpus", "4-2", "cpus: '4-2': the minimum is above the maximum"},
    {"cpus", "1-", "cpus: '' is not a number"},
    {"cpus", "1-2-3", "cpus: '2-3' is not a number"},
    {"cpus", "1e9", "cpus: 1e9 is not between 0.001 and 65536"},
    {"cpus", "nan", "cpus: 'nan' is not a number"},
    {"cpus", "1\xc2\xb2", "cpus: '1\xc2\xb2': expected MIN-MAX"},
    {"gpus", "0.5", "gpus: '0.5': expected whole numbers"},
    {"gpus", "0-2", "gpus: '0-2': a job with GPUs needs at least 1"},
    {"gpu_type", "", "gpu_type: must not be empty"},
    {"memory", "4x", "memory: '4x' is not a size; write 512m, 4g, 1.5t or a number of MB"},
    {"memory", "g", "memory: 'g' is not a size"},
    {"memory", "-4g", "memory: '-4g' is not a size"},
    {"memory", "1..5g", "memory: '1..5g' is not a size"},
    {"memory", "1000t", "memory: '1000t': at most 950t"},
    {"workers", "0", "workers: 0 is not between 1 and 65536"},
    {"workers", "1.5", "workers: '1.5': expected whole numbers"},
    {"resize", "Live", "resize: 'Live': expected one of auto|none|live|restart|torchrun|horovod"},
    {"preempt", "", "preempt: '': expected auto|restart|pause|never"},
    {"deadline", "soon", "deadline: 'soon' is not a duration; write 90, 90s, 15m, 2h30m or 1d"},
    {"deadline", "-1", "deadline: '-1' is not a duration"},
    {"deadline", "99999d", "deadline: '99999d' is not between 1ms and 36525d00h"},
    {"deadline", "0", "deadline: '0' is not between 1ms and 36525d00h"},
    {"deadline_at", "tomorrow", "deadline_at: 'tomorrow' is not a time; write 2030-01-31T18:00"},
    {"deadline_at", "2030-02-30", "deadline_at: '2030-02-30' is not a time"},
    {"deadline_at", "2030-01-01T10:00X", "is not a time"},
    {"deadline_at", "1960-01-01T00:00Z", "is not between 1970 and 2200"},
    {"deadline_at", "1e12", "deadline_at: '1e12' is not between 1970 and 2200"},
    {"time_limit", "1:30:00", "time_limit: '1:30:00' is not a duration"},
    {"signal", "KILL@60", "signal: 'KILL': a job cannot catch this signal"},
    {"signal", "FOO@60", "signal: 'FOO' is not a signal; write USR1, SIGTERM or a number"},
    {"signal", "USR1@", "signal: '' is not a duration"},
    {"signal", "0", "signal: 0 is not between 1 and 64"},
    {"signal", "@60", "signal: '' is not a signal"},
    {"signal", "AAAAAAAAAAAAAAAAAAAA@1", "expected SIGNAL@SECONDS"},
    {"checkpoint_signal", "TERM@5", "checkpoint_signal: 'TERM@5' is not a signal"},
    {"checkpoint_signal", "19", "checkpoint_signal: '19': a job cannot catch this signal"},
    {"lease", "1s", "lease: '1s' is not between 10.0s and 1d00h"},
    {"lease", "never", "lease: 'never' is not a duration; write 90, 90s, 15m, 2h30m or 1d"},
    {"grace", "2d", "grace: '2d' is not between 0ms and 1d00h"},
    {"priority", "high", "priority: 'high' is not a whole number"},
    {"priority", "1000001", "priority: 1000001 is not between -1000000 and 1000000"},
    {"weight", "0", "weight: 0 is not between 0.001 and 1000"},
    {"stop_when", "loss", "stop_when: 'loss': expected METRIC < NUMBER"},
    {"stop_when_flat", "5%", "stop_when_flat: '5%': expected PART%/WINDOW"},
    {"stop_when_flat", "0%/1m", "stop_when_flat: 0 is not between 1e-06 and 100"},
    {"stop_when_flat", "5%/x", "stop_when_flat: 'x' is not a duration"},
    {"stop_when_flat", "5%/0s", "stop_when_flat: '0s' is not between"},
    {"every", "0", "every: 0 is not between 1 and"},
    {"target", "inf", "target: 'inf' is not a number"},
    {"total", "-1", "total: '-1': expected a number of steps, or a number and a unit"},
    {"total", "10h", "total: '10h': unknown unit 'h'; expected steps"},
    {"pattern", "a\tb", "pattern: 'a?b': control characters are not allowed"},
    {"retries", "-1", "retries: -1 is not between 0 and 1000"},
    {"backoff", "8d", "backoff: '8d' is not between 0ms and 7d00h"},
    {"requeue", "", "requeue: '': expected true or false"},
    {"requeue", "maybe", "requeue: 'maybe': expected true or false"},
    {"hold", "2", "hold: '2': expected true or false"},
    {"after", "", "after: '': expected after:, afterok:, afternotok: or afterany: with jobs"},
    {"after", "12", "after: '12': expected after:"},
    {"after", "afterok:", "after: expected a job after 'afterok:', such as afterok:12,13"},
    {"after", "afterok:1,", "after: expected a job after 'afterok:'"},
    {"after", "afterok:1::2", "after: expected a job after 'afterok:'"},
    {"after", "aftercorr:1", "after: 'aftercorr:1': expected after:"},
    {"after", "singleton:1", "after: 'singleton:1': expected after:"},
    {"array", "x", "array: 'x': expected an index, FIRST-LAST or FIRST-LAST:STEP"},
    {"array", "1,", "array: '': expected an index"},
    {"array", "5-1", "array: '5-1': expected FIRST <= LAST and STEP >= 1"},
    {"array", "1-5:0", "array: '1-5:0': expected FIRST <= LAST and STEP >= 1"},
    {"array", "0-100000", "array: an array of more than 100000 jobs"},
    {"array", "99999999999999999999", "indices go up to 10000000"},
    {"array", "1-3,3", "array: index 3 is given twice"},
    {"array", "0-8:2,1-9:3", "array: index 4 is given twice"},
    {"array", "1-3%", "array: the limit after %: ''"},
    {"array", "1-3%0", "0 is not between 1 and 100000"},
    {"array", "1-3x", "array: 'x': expected 0-9, 1,3,5 or 0-99%4"},
    {"workdir", "", "workdir: must not be empty"},
    {"env", "A", "env: 'A': expected KEY=VALUE"},
    {"env", "=x", "env: '=x': expected KEY=VALUE"},
    {"env", "A=\xc3", "env: 'A=?': not valid UTF-8"},
};

static void refuses_bad_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct spec s;
        struct err err = {0};
        spec_init(&s);
        const struct spec_field *f = spec_find(bad[i].field, &err);
        assert_non_null(f);
        if (spec_set(&s, f, bad[i].text, &err) == 0)
            fail_msg("%s '%s' is taken", bad[i].field, bad[i].text);
        if (err.code != ERR_INVALID || !strstr(err.text, bad[i].error))
            fail_msg("%s '%s': %s", bad[i].field, bad[i].text, err.text);
        assert_true(!strncmp(err.text, f->name, strlen(f->name)));
        assert_true(spec_field_repeats(f) || !spec_differs(&s, f));
        spec_done(&s);
    }
}

static void bounds_long_values(void **state)
{
    (void)state;
    enum { LONG = 200000 };
    AUTO_FREE char *text = xmalloc(LONG + 1);
    memset(text, 'x', LONG);
    text[LONG] = '\0';
    text[1] = '=';
    for (const struct spec_field *f = spec_fields; f->name; f++) {
        struct spec s;
        struct err err = {0};
        spec_init(&s);
        int rc = spec_set(&s, f, text, &err);
        assert_int_equal(rc, f->type == SPEC_BODY || f->type == SPEC_DEPS ? rc : -1);
        if (rc < 0)
            assert_true(strlen(err.text) < 160);
        spec_done(&s);
    }
}

static void guesses_names(void **state)
{
    struct err err;
    (void)state;
    assert_null(spec_find("cpu", &err));
    assert_string_equal(err.text, "unknown field 'cpu'; did you mean 'cpus'?");
    assert_null(spec_find("timelimit", &err));
    assert_string_equal(err.text, "unknown field 'timelimit'; did you mean 'time_limit'?");
    assert_null(spec_find("zzz\n", &err));
    assert_string_equal(err.text, "unknown field 'zzz?'");
}

static void set(struct spec *s, const char *field, const char *text)
{
    struct err err = {0};
    if (spec_set(s, spec_find(field, &err), text, &err) < 0)
        fail_msg("%s", err.text);
}

/* Pairs of fields and values, ended by NULL, and the field at fault. */
static const struct {
    const char *pairs[9], *field, *error;
} contradictions[] = {
    {{NULL}, "command", "command: nothing to run"},
    {{"command", ""}, "command", "command: the first word must not be empty"},
    {{"command", "x", "deadline", "1h", "deadline_at", "1900000000"},
     "deadline_at",
     "deadline_at: give either deadline or deadline_at, not both"},
    {{"command", "x", "sweep", "lr=1..0"}, "sweep", "sweep: 'lr=1..0': the range is empty"},
    {{"command", "x", "sweep", "lr=1,2"}, "sweep", "the command does not use lr; write {lr}"},
    {{"command", "{lr}", "sweep", "lr=1,2", "array", "1-2"},
     "array",
     "array: the sweep has 2 combinations, numbered from 0 to 1"},
    {{"command", "x", "keep_best", "2"}, "keep_best", "keep_best: it needs the name of a group"},
    {{"command", "x", "keep_best", "2", "group", "g"}, "keep_best", "it needs every"},
    {{"command", "x", "every", "2", "group", "g"}, "every", "every: it needs keep_best"},
    {{"command", "x", "metric", "??"}, "metric", "expected the name of a metric"},
    {{"command", "x", "signal", "USR1@60"}, "signal", "signal: it is sent before the time limit"},
    {{"command", "x", "signal", "USR1@60", "time_limit", "1m"},
     "signal",
     "signal: it would be sent before the job starts"},
    {{"command", "x", "workdir", "here"}, "workdir", "workdir: 'here' is not an absolute path"},
    {{"command", "x", "checkpoint_dir", "c"}, "checkpoint_dir", "'c' is not an absolute path"},
    {{"command", "x", "mounts", "/a:/b"}, "mounts", "mounts: require an image"},
    {{"command", "x", "run_as", "1000"}, "run_as", "requires an image"},
    {{"command", "x", "image", "i", "run_as", "1000:"}, "run_as", "expected UID[:GID]"},
    {{"command", "x", "image", "i", "run_as", "a b"}, "run_as", "expected UID[:GID]"},
    {{"command", "x", "upload", "."}, "upload", "requires an image"},
    {{"command", "x", "shm_size", "1g"}, "shm_size", "requires an image"},
    {{"command", "x", "ulimits", "core=0"}, "ulimits", "require an image"},
    {{"command", "x", "image", "i", "ulimits", "core"}, "ulimits", "expected NAME=SOFT[:HARD]"},
    {{"command", "x", "image", "i", "ulimits", "core=1:2:3"}, "ulimits", "expected NAME=SOFT"},
    {{"command", "x", "image", "i", "ulimits", "core=x"}, "ulimits", "expected NAME=SOFT"},
    {{"command", "x", "image", "a b"}, "image", "'a b' is not the name of an image"},
    {{"command", "x", "image", "a(b"}, "image", "is not the name of an image"},
    {{"command", "x", "image", ":tag"}, "image", "is not the name of an image"},
    {{"command", "x", "image", "i", "mounts", "a:/b"}, "mounts", "expected /SOURCE:/TARGET[:ro]"},
    {{"command", "x", "image", "i", "mounts", "/a:b"}, "mounts", "expected /SOURCE:/TARGET[:ro]"},
    {{"command", "x", "image", "i", "mounts", "/a:/b:rx"}, "mounts", "expected /SOURCE:/TARGET"},
    {{"command", "x", "gpu_type", "t4"}, "gpu_type", "gpu_type: the job does not ask for GPUs"},
    {{"command", "x", "workers", "2"}, "workers", "need resize: torchrun or horovod"},
    {{"command", "x", "gpus", "1", "resize", "live"}, "resize", "live works only without GPUs"},
    {{"command", "x", "export", "A,all"}, "export", "expected all, none, or names"},
    {{"command", "x", "export", "A*B"}, "export", "expected all, none, or names"},
    {{"command", "x", "export", "A=1"}, "export", "expected all, none, or names"},
    {{"command", "x", "gpus", "1", "preempt", "pause"}, "preempt", "would keep its GPU memory"},
};

static void finds_contradictions(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(contradictions); i++) {
        struct spec s;
        struct err err;
        const char *field = NULL;
        spec_init(&s);
        for (const char *const *p = contradictions[i].pairs; *p; p += 2)
            set(&s, p[0], p[1]);
        assert_error(spec_check(&s, &field, &err), err, ERR_INVALID, contradictions[i].error);
        assert_string_equal(field, contradictions[i].field);
        assert_int_equal(spec_check(&s, NULL, NULL), -1);
        spec_done(&s);
    }
}

static void refuses_what_exec_would(void **state)
{
    enum { LONG = 100000 };
    struct spec s;
    struct err err;
    (void)state;
    AUTO_FREE char *word = xmalloc(LONG + 1);
    memset(word, 'x', LONG);
    word[LONG] = '\0';
    spec_init(&s);
    for (int i = 0; i < 16; i++)
        set(&s, "command", word);
    assert_error(spec_check(&s, NULL, &err), err, ERR_INVALID,
                 "command: 1600144 bytes together with env; the kernel accepts about 1572864");
    spec_done(&s);
}

static void lists_grow_and_variables_replace(void **state)
{
    struct spec s;
    char text[32];
    (void)state;
    spec_init(&s);
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "K%d=%d", i % 100, i);
        set(&s, "env", text);
        snprintf(text, sizeof text, "w%d", i);
        set(&s, "command", text);
        snprintf(text, sizeof text, "afterok:%d", i);
        set(&s, "after", text);
    }
    assert_int_equal(s.env.n, 100);
    assert_int_equal(s.command.n, 1000);
    assert_int_equal(s.after.n, 1000);
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "w%d", i);
        assert_string_equal(s.command.at[i], text);
        assert_int_equal(atoi(s.after.at[i].job), i);
    }
    assert_string_equal(spec_env_get(&s.env, "K7", 2), "907");
    assert_null(spec_env_get(&s.env, "K", 1));
    assert_int_equal(indices_count(&s.array), 0);
    set(&s, "array", "0-9,20-30:5");
    assert_int_equal(indices_count(&s.array), 13);
    assert_int_equal(indices_nth(&s.array, 0), s.array.at[0].first);
    assert_int_equal(indices_nth(&s.array, 12), s.array.at[s.array.n - 1].last);
    spec_done(&s);
}

static void exports_the_environment(void **state)
{
    char *environment[] = {"PATH=/bin", "A=theirs",          "B=2", "odd", "C=\xff",
                           "HOME=/h",   "TRAINYARD_TOKEN=t", NULL};
    struct spec s;
    (void)state;
    spec_init(&s);
    set(&s, "env", "A=mine");
    assert_int_equal(spec_export(&s, environment), 1);
    assert_int_equal(s.env.n, 1);
    assert_int_equal(s.environment.n, 3);
    assert_null(spec_env_get(&s.environment, "A", 1));
    assert_string_equal(spec_env_get(&s.environment, "B", 1), "2");
    assert_null(spec_env_get(&s.environment, "TRAINYARD_TOKEN", 15));
    spec_done(&s);
    spec_init(&s);
    set(&s, "export", "none");
    assert_int_equal(spec_export(&s, environment), 0);
    assert_int_equal(s.environment.n, 2);
    assert_string_equal(spec_env_get(&s.environment, "PATH", 4), "/bin");
    spec_done(&s);
    spec_init(&s);
    set(&s, "export", "B, TRAINYARD_T*");
    assert_int_equal(spec_export(&s, environment), 0);
    assert_int_equal(s.environment.n, 4);
    assert_string_equal(spec_env_get(&s.environment, "B", 1), "2");
    assert_string_equal(spec_env_get(&s.environment, "TRAINYARD_TOKEN", 15), "t");
    spec_done(&s);
    spec_init(&s);
    set(&s, "image", "alpine");
    assert_int_equal(spec_export(&s, environment), 0);
    assert_int_equal(s.environment.n, 0);
    set(&s, "export", "B");
    assert_int_equal(spec_export(&s, environment), 0);
    assert_int_equal(s.environment.n, 1);
    spec_done(&s);
}

static void expect_words(const char *script, const char *wanted)
{
    struct spec s;
    char got[256] = "";
    spec_init(&s);
    if (script)
        set(&s, "script", script);
    set(&s, "command", "job.sh");
    set(&s, "command", "a b");
    struct spec_list words = spec_words(&s, "/run/script", &s.arena);
    for (uint32_t i = 0; i < words.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s|", words.at[i]);
    assert_string_equal(got, wanted);
    spec_done(&s);
}

static void knows_what_to_execute(void **state)
{
    (void)state;
    expect_words(NULL, "job.sh|a b|");
    expect_words("echo\n", "/bin/sh|/run/script|a b|");
    expect_words("#!/bin/bash\necho\n", "/bin/bash|/run/script|a b|");
    expect_words("#! /bin/bash -eu  \n", "/bin/bash|-eu|/run/script|a b|");
    expect_words("#!/usr/bin/env -S python3 -u\n", "/usr/bin/env|-S python3 -u|/run/script|a b|");
    expect_words("#!/bin/sh", "/bin/sh|/run/script|a b|");
}

static void shows_odd_text(void **state)
{
    char shown[VALUE_SHOWN];
    (void)state;
    assert_string_equal(value_show("a\x01\xff\xfe\xc3\xbcz", shown), "a???\xc3\xbcz");
    assert_string_equal(value_show("0123456789012345678901234567890123456789", shown),
                        "0123456789012345678901234567890123456789");
    assert_string_equal(value_show("01234567890123456789012345678901234567890", shown),
                        "0123456789012345678901234567890123456789...");
    assert_string_equal(value_show("012345678901234567890123456789012345678\xc3\xbc", shown),
                        "012345678901234567890123456789012345678...");
}

/* docs/jobs.md has a row for each field. */
static void documentation_names_every_field(void **state)
{
    (void)state;
    FILE *page = fopen("docs/jobs.md", "r");
    assert_non_null(page);
    AUTO_FREE char *text = xcalloc(1, 1 << 18);
    assert_true(fread(text, 1, (1 << 18) - 1, page) > 0);
    fclose(page);
    for (const struct spec_field *f = spec_fields; f->name; f++) {
        char row[64];
        snprintf(row, sizeof row, "\n| `%s` |", f->name);
        if (!strstr(text, row))
            fail_msg("docs/jobs.md has no row for %s", f->name);
    }
}

static const struct CMUnitTest tests[] = {
    TEST(takes_good_values),       TEST(every_field_is_tried),
    TEST(refuses_bad_values),      TEST(bounds_long_values),
    TEST(guesses_names),           TEST(finds_contradictions),
    TEST(refuses_what_exec_would), TEST(lists_grow_and_variables_replace),
    TEST(exports_the_environment), TEST(knows_what_to_execute),
    TEST(shows_odd_text),          TEST(documentation_names_every_field),
};

int main(void)
{
    return RUN(tests);
}
