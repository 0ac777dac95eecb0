/* Owns that text. */
#include "support/progress_json.h"

#include <math.h>

static void add_number(struct str *out, const char *name, double value, const char *comma)
{
    str_addf(out, "%s", comma);
    str_add_json(out, name);
    if (isfinite(value))
        str_addf(out, ":%.10g", value);
    else
        str_addf(out, ":\"%s\"", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
}

static void add_whole(struct str *out, const char *name, int64_t value, const char *comma)
{
    str_addf(out, "%s\"%s\":%lld", comma, name, (long long)value);
}

void progress_add_json(const struct progress *p, struct str *out)
{
    const char *comma = "";
#define ADD(bit, name, kind, value)                                                                \
    do {                                                                                           \
        if (p->has & (bit)) {                                                                      \
            add_##kind(out, name, value, comma);                                                   \
            comma = ",";                                                                           \
        }                                                                                          \
    } while (0)
    ADD(PROGRESS_STEP, "step", whole, p->step);
    ADD(PROGRESS_TOTAL, "total", whole, p->total);
    ADD(PROGRESS_EPOCH, "epoch", number, p->epoch);
    ADD(PROGRESS_EPOCHS, "epochs", whole, p->epochs);
    ADD(PROGRESS_LOSS, "loss", number, p->loss);
    ADD(PROGRESS_RATE, "rate", number, p->rate);
#undef ADD
    for (unsigned i = 0; i < p->n_metrics; i++) {
        str_addf(out, "%s", i ? "" : *comma ? ",\"metrics\":{" : "\"metrics\":{");
        add_number(out, p->metric[i].name, p->metric[i].value, i ? "," : "");
    }
    if (p->n_metrics)
        str_add(out, "}");
    comma = *comma || p->n_metrics ? "," : "";
    if (p->weak)
        str_addf(out, "%s\"weak\":true", comma);
    comma = p->weak ? "," : comma;
    if (p->diverged)
        str_addf(out, "%s\"diverged\":true", comma);
    comma = p->diverged ? "," : comma;
    if (p->source)
        str_addf(out, "%s\"source\":\"%s\"", comma, p->source);
}
