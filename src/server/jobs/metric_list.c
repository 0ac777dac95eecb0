/* Owns the numbers that a job reports beside its loss. */
#include "server/jobs/metric_list.h"

#include <jansson.h>
#include <math.h>

#include "base/mem.h"
#include "server/jobs/live.h"

void metric_list_take(struct live_job *j, const struct field_numbers *metrics)
{
    if (!metrics->n && !j->metrics)
        return;
    if (!j->metrics)
        j->metrics = xmalloc(sizeof *j->metrics);
    *j->metrics = *metrics;
}

char *metric_list_print(const struct live_job *j)
{
    if (!j->progress.known || !j->metrics || !j->metrics->n)
        return NULL;
    json_auto_t *all = json_object();
    if (isfinite(j->progress.loss))
        json_object_set_new(all, "loss", json_real(j->progress.loss));
    for (uint32_t i = 0; i < j->metrics->n; i++)
        if (isfinite(j->metrics->at[i].value))
            json_object_set_new(all, j->metrics->at[i].name, json_real(j->metrics->at[i].value));
    return json_object_size(all) ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(7)) : NULL;
}
