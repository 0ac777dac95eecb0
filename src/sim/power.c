/* Owns the power model. Energy is linear in what is busy: a job takes what its busy CPUs and its
 * GPUs add, and the idle power of all nodes, which is there whatever runs, belongs to the
 * workload. */
#include "sim/power.h"

#include <string.h>

#include "base/str.h"

static double *field_of(struct power *p, const char *name, size_t n)
{
    if (n == 4 && !memcmp(name, "idle", n))
        return &p->idle;
    if (n == 3 && !memcmp(name, "cpu", n))
        return &p->cpu;
    if (n == 3 && !memcmp(name, "gpu", n))
        return &p->gpu;
    return NULL;
}

static int parse_field(const char *text, size_t n, struct power *p, struct err *err)
{
    char value[32];
    const char *equals = memchr(text, '=', n);
    size_t name = equals ? (size_t)(equals - text) : n;
    double *field = equals ? field_of(p, text, name) : NULL;
    if (!field || n - name - 1 >= sizeof value)
        return err_set(err, ERR_INVALID, "'%.*s': expected idle=WATTS, cpu=WATTS or gpu=WATTS",
                       (int)(n < 40 ? n : 40), text);
    memcpy(value, equals + 1, n - name - 1);
    value[n - name - 1] = '\0';
    return str_parse_double(value, 0, 1e6, field, err);
}

int power_parse(const char *text, struct power *out, struct err *err)
{
    struct power p = POWER_DEFAULT;
    for (const char *at = strcmp(text, "default") ? text : NULL; at;) {
        size_t n = strcspn(at, ",");
        if (parse_field(at, n, &p, err) < 0)
            return -1;
        at = at[n] ? at + n + 1 : NULL;
    }
    *out = p;
    return 0;
}

void power_apply(const struct power *p, uint32_t nodes, struct sim_result *r)
{
    r->energy_wh = p->idle * nodes * r->makespan_s / 3600;
    for (uint32_t i = 0; i < r->jobs; i++) {
        struct sim_job *j = &r->job[i];
        double gpu_s = j->job->pool == POOL_CPU ? 0 : j->held_s;
        j->energy_wh = (p->cpu * j->busy_s + p->gpu * gpu_s) / 3600;
        r->energy_wh += j->energy_wh;
    }
}
