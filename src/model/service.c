/* Owns the histogram of finished service: eight buckets to a decade from one
 * unit-millisecond on, which covers 20 decades. */
#include "model/service.h"

#include <math.h>

static const double base = 1e3, per_decade = 8;

unsigned service_bucket(double service)
{
    if (!(service >= base))
        return 0;
    double b = floor(log10(service / base) * per_decade) + 1;
    unsigned bucket = b < SERVICE_BUCKETS - 1 ? (unsigned)b : SERVICE_BUCKETS - 1;
    /* log10 may land on the wrong side of an edge by one rounding. */
    while (bucket > 0 && service < service_edge(bucket))
        bucket--;
    while (bucket < SERVICE_BUCKETS - 1 && service >= service_edge(bucket + 1))
        bucket++;
    return bucket;
}

double service_edge(unsigned bucket)
{
    return bucket == 0 ? 0 : base * pow(10, (bucket - 1) / per_decade);
}

void service_add(struct service *s, double service)
{
    unsigned b = service_bucket(service);
    s->count[b]++;
    s->sum[b] += service;
    s->total++;
}
