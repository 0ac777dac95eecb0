/* A histogram of the service (unit-microseconds) that finished jobs have taken, for policies
 * that learn from it. Buckets grow by a fixed factor. */
#ifndef MODEL_SERVICE_H
#define MODEL_SERVICE_H

#include <stdint.h>

enum { SERVICE_BUCKETS = 160 };

struct service {
    uint64_t count[SERVICE_BUCKETS];
    double sum[SERVICE_BUCKETS]; /* of the services in the bucket */
    uint64_t total;
};

/* The bucket of a service; bucket b is [service_edge(b), service_edge(b+1)). */
unsigned service_bucket(double service);
double service_edge(unsigned bucket);
void service_add(struct service *s, double service);

#endif
