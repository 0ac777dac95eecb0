/* Owns JSON lines: those that a program prints, {"step":10,"loss":0.5}, where the
 * names decide whether they are progress at all, and those of the file
 * $TRAINYARD_PROGRESS, where every number is meant. */

#include "progress/json.h"
#include "progress/number.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT_LIMIT 4096

static void free_json(json_t **j)
{
    json_decref(*j);
}
#define AUTO_JSON __attribute__((cleanup(free_json)))

/* Python's json writes NaN and Infinity bare, which is no JSON: puts quotes around
 * them. The length of the result, 0 when it does not fit. */
static size_t quote_numbers(const char *text, size_t n, char *out, size_t size)
{
    static const char *const words[] = {"NaN", "-Infinity", "Infinity"};
    bool quoted = false;
    size_t used = 0;
    for (size_t i = 0; i < n;) {
        if (used + 16 > size)
            return 0;
        quoted = text[i] == '"' && !(i && text[i - 1] == '\\') ? !quoted : quoted;
        size_t length = 0;
        for (size_t w = 0; w < sizeof words / sizeof *words && !quoted && !length; w++) {
            if (n - i >= strlen(words[w]) && !memcmp(text + i, words[w], strlen(words[w])))
                length = strlen(words[w]);
        }
        if (!length) {
            out[used++] = text[i++];
            continue;
        }
        out[used++] = '"';
        memcpy(out + used, text + i, length);
        used += length;
        out[used++] = '"';
        i += length;
    }
    return used;
}

static json_t *load_object(const char *text, size_t n)
{
    char fixed[TEXT_LIMIT + 512];
    if (progress_find(text, n, "NaN") || progress_find(text, n, "Infinity")) {
        n = quote_numbers(text, n, fixed, sizeof fixed);
        text = fixed;
    }
    json_t *root = json_loadb(text, n, 0, NULL);
    if (json_is_object(root))
        return root;
    json_decref(root);
    return NULL;
}

/* A number, or a string that is one: "3.180", "nan". */
static bool get_number(const json_t *value, double *out)
{
    if (json_is_number(value)) {
        *out = json_number_value(value);
        return true;
    }
    size_t n = json_string_length(value);
    return json_is_string(value) && n && n < 40 &&
           progress_number_read(json_string_value(value), n, out) == n;
}

static bool get_whole(double value, int64_t *out)
{
    if (!(value >= 0 && value <= 1e15) || value != floor(value))
        return false;
    *out = (int64_t)value;
    return true;
}

/* Takes a field of the six that the file knows by name. */
static bool add_said_field(struct sighting *s, const char *key, double value)
{
    int64_t whole;
    if (!strcmp(key, "step") && get_whole(value, &whole)) {
        s->at = whole;
        s->has |= SIGHTING_AT;
    } else if (!strcmp(key, "total") && get_whole(value, &whole) && whole) {
        s->total = whole;
        s->has |= SIGHTING_TOTAL;
    } else if (!strcmp(key, "epoch") && value >= 0 && isfinite(value)) {
        s->epoch = value;
        s->has |= SIGHTING_EPOCH;
    } else if (!strcmp(key, "epochs") && get_whole(value, &whole) && whole) {
        s->epochs = whole;
        s->has |= SIGHTING_EPOCHS;
    } else if (!strcmp(key, "rate") && value >= 0 && isfinite(value)) {
        s->rate = value;
        s->has |= SIGHTING_RATE;
    } else if (!strcmp(key, "loss")) {
        s->loss = value;
        s->loss_rank = PROGRESS_LOSS_WHOLE;
    } else {
        static const char *const known[] = {"step", "total", "epoch", "epochs", "rate"};
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (!strcmp(key, known[i]))
                return false;
        }
        struct progress_name name;
        progress_name_read(key, strlen(key), &name);
        name.kind = PROGRESS_WORD_METRIC;
        return sighting_add(s, &name, value, true);
    }
    return true;
}

static bool read_said(const json_t *root, struct sighting *s)
{
    const char *key;
    json_t *value;
    bool any = false;
    json_object_foreach((json_t *)root, key, value)
    {
        double number;
        if (get_number(value, &number))
            any |= add_said_field(s, key, number);
    }
    s->trust = TRUST_SAID;
    return any;
}

/* A member that a program printed: its name decides what it is. */
static void add_printed(struct sighting *s, const char *label, double value)
{
    struct progress_name name;
    progress_name_read(label, strlen(label), &name);
    int64_t whole;
    if (name.kind == PROGRESS_WORD_STEP && get_whole(value, &whole)) {
        s->at = whole;
        s->has |= SIGHTING_AT;
    } else if (name.kind == PROGRESS_WORD_TOTAL && get_whole(value, &whole) && whole) {
        s->of = whole;
        s->has |= SIGHTING_OF;
    } else if (name.kind == PROGRESS_WORD_EPOCH && value >= 0 && isfinite(value)) {
        s->epoch = value;
        s->has |= SIGHTING_EPOCH;
    } else if (name.kind == PROGRESS_WORD_EPOCHS && get_whole(value, &whole) && whole) {
        s->epochs = whole;
        s->has |= SIGHTING_EPOCHS;
    } else {
        sighting_add(s, &name, value, true);
    }
}

/* {"train":{"loss":0.5}} is train_loss; a box that only says that metrics follow
 * adds nothing. */
static void add_nested(struct sighting *s, const char *outer, const json_t *object)
{
    static const char *const boxes[] = {"metrics", "logs", "log", "scalars", "data", "stats"};
    bool box = false;
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
        box = box || !strcmp(outer, boxes[i]);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        char label[2 * PROGRESS_NAME];
        double number;
        if (!get_number(value, &number))
            continue;
        snprintf(label, sizeof label, "%s%s%s", box ? "" : outer, box ? "" : " ", key);
        add_printed(s, label, number);
    }
}

/* Whether enough of the names are those of a training. */
static bool is_training(const struct sighting *s)
{
    bool place = s->has & (SIGHTING_AT | SIGHTING_EPOCH),
         known = s->loss_rank != PROGRESS_LOSS_NONE;
    for (unsigned i = 0; i < s->n_metrics && !known; i++) {
        struct progress_name name;
        progress_name_read(s->metric[i].name, strlen(s->metric[i].name), &name);
        known = name.kind == PROGRESS_WORD_LOSS || name.kind == PROGRESS_WORD_METRIC;
    }
    return (place && known) || ((s->has & SIGHTING_AT) && (s->has & SIGHTING_OF));
}

bool progress_read_json(const char *text, size_t n, bool said, struct sighting *s)
{
    while (n && (*text == ' ' || *text == '\t')) {
        text++;
        n--;
    }
    if (n < 2 || n > TEXT_LIMIT || *text != '{')
        return false;
    AUTO_JSON json_t *root = load_object(text, n);
    if (!root)
        return false;
    sighting_init(s, said ? "file" : "json");
    if (said)
        return read_said(root, s);
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value)
    {
        double number;
        if (json_is_object(value))
            add_nested(s, key, value);
        else if (get_number(value, &number))
            add_printed(s, key, number);
    }
    s->trust = TRUST_GOOD;
    s->closes = !(s->has & SIGHTING_AT);
    return is_training(s);
}
