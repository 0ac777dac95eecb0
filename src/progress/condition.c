/* Owns conditions on reported numbers. */
#include "progress/condition.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "progress/words.h"

/* The longer ones first. */
static const struct {
    const char *text;
    enum condition_op op;
} operators[] = {
    {"<=", CONDITION_AT_MOST},
    {">=", CONDITION_AT_LEAST},
    {"<", CONDITION_BELOW},
    {">", CONDITION_ABOVE},
};

int condition_metric(const char *text, size_t n, char out[PROGRESS_NAME], struct err *err)
{
    struct progress_name name;
    enum { SHOWN = 40 };
    int shown = n < SHOWN ? (int)n : SHOWN;
    progress_name_read(text, n, &name);
    if (n >= PROGRESS_NAME || !*name.text)
        return err_set(err, ERR_INVALID, "'%.*s': expected the name of a metric, such as val_loss",
                       shown, text);
    snprintf(out, PROGRESS_NAME, "%s", name.text);
    return 0;
}

static int parse_number(const char *text, double *out)
{
    struct err ignored;
    return str_parse_double(text + strspn(text, " "), -1e300, 1e300, out, &ignored);
}

int condition_parse(const char *text, struct condition *out, struct err *err)
{
    struct condition c = {0};
    size_t n = strcspn(text, "<>");
    bool odd = memchr(text, '=', n) || memchr(text, '!', n);
    for (size_t i = 0; text[n] && !odd && i < COUNT_OF(operators); i++) {
        size_t length = strlen(operators[i].text);
        if (strncmp(text + n, operators[i].text, length) != 0)
            continue;
        if (parse_number(text + n + length, &c.value) < 0)
            break;
        c.op = operators[i].op;
        if (condition_metric(text, n, c.metric, err) < 0)
            return -1;
        *out = c;
        return 0;
    }
    return err_set(err, ERR_INVALID,
                   "'%.60s': expected METRIC < NUMBER, or with <=, > or >=, such as val_loss < 0.1",
                   text);
}

const char *condition_format(const struct condition *c, char buf[CONDITION_TEXT])
{
    static const char *const texts[] = {"<", "<=", ">", ">="};
    snprintf(buf, CONDITION_TEXT, "%s %s %.15g", c->metric, texts[c->op], c->value);
    return buf;
}

bool condition_met(const struct condition *c, double value)
{
    switch (c->op) {
    case CONDITION_BELOW:
        return value < c->value;
    case CONDITION_AT_MOST:
        return value <= c->value;
    case CONDITION_ABOVE:
        return value > c->value;
    case CONDITION_AT_LEAST:
        return value >= c->value;
    }
    return false;
}

bool condition_rises(const char *metric)
{
    struct progress_name name;
    progress_name_read(metric, strlen(metric), &name);
    return name.rises;
}
