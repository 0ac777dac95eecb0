/* Owns the division of a node's CPUs: weighted water-filling. Each round gives their limit
 * to all claims whose limit is below their part, and divides the rest again; at most one
 * round per claim. */
#include "model/divide.h"

#include <stdbool.h>

/* The weights of claims that have got nothing yet. They are summed again each time:
 * subtracting heavy weights from a sum would leave their rounding errors. */
static double weights_left(const struct claim *claims, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += claims[i].got < 0 ? claims[i].weight : 0;
    return sum;
}

void divide_cpus(double capacity, struct claim *claims, uint32_t n)
{
    double left = capacity, weights;
    for (uint32_t i = 0; i < n; i++)
        claims[i].got = -1;
    for (bool capped = true; capped && (weights = weights_left(claims, n)) > 0;) {
        double round_left = left;
        capped = false;
        for (uint32_t i = 0; i < n; i++) {
            struct claim *c = &claims[i];
            if (c->got >= 0 || c->limit > round_left * c->weight / weights)
                continue;
            c->got = c->limit;
            left -= c->limit;
            capped = true;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        if (claims[i].got < 0)
            claims[i].got = left > 0 ? left * claims[i].weight / weights : 0;
}
