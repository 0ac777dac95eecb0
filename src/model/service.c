/* Owns the histogram of finished service: eight buckets to a decade from one
 * unit-millisecond on, which covers 20 decades. */
#include "model/service.h"

#include <math.h>

static const double base = 1e3;
enum { PER_DECADE = 8, DECADES = (SERVICE_BUCKETS + PER_DECADE - 2) / PER_DECADE };

unsigned service_bucket(double service)
{
    if (!(service >= base))
        return 0;
    double b = floor(log10(service / base) * PER_DECADE) + 1;
    unsigned bucket = b < SERVICE_BUCKETS - 1 ? (unsigned)b : SERVICE_BUCKETS - 1;
    /* Rounding in log10 may put it on the wrong side of an edge. */
    while (bucket > 0 && service < service_edge(bucket))
        bucket--;
    while (bucket < SERVICE_BUCKETS - 1 && service >= service_edge(bucket + 1))
        bucket++;
    return bucket;
}

double service_edge(unsigned bucket)
{
    /* A table, because policies need many of them in every decision. */
    static const double decade[DECADES] = {1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                           1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
                                           1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    static const double root[PER_DECADE] = {1, /* 10^(1/8), 10^(2/8), ... */
                                            1.333521432163324,
                                            1.7782794100389228,
                                            2.371373705661655,
                                            3.1622776601683795,
                                            4.216965034285822,
                                            5.623413251903491,
                                            7.498942093324558};
    return bucket == 0 ? 0 : decade[(bucket - 1) / PER_DECADE] * root[(bucket - 1) % PER_DECADE];
}

void service_add(struct service *s, double service)
{
    unsigned b = service_bucket(service);
    s->count[b]++;
    s->sum[b] += service;
    s->total++;
}
