/* Owns the division of a node's CPUs: weighted water-filling. Each round gives
 * their limit to all that ask for less than their part and divides the rest
 * anew; at most one round per claim. */
#include "model/divide.h"

#include <stdbool.h>

void divide_cpus(double capacity, struct claim *claims, uint32_t n)
{
    double left = capacity, weights = 0;
    for (uint32_t i = 0; i < n; i++) {
        claims[i].got = -1;
        weights += claims[i].weight;
    }
    for (bool capped = true; capped && weights > 0;) {
        double round_left = left, round_weights = weights;
        capped = false;
        for (uint32_t i = 0; i < n; i++) {
            struct claim *c = &claims[i];
            if (c->got >= 0 || c->limit > round_left * c->weight / round_weights)
                continue;
            c->got = c->limit;
            left -= c->limit;
            weights -= c->weight;
            capped = true;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        if (claims[i].got < 0)
            claims[i].got = left > 0 ? left * claims[i].weight / weights : 0;
}
