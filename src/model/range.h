/* An estimate with its uncertainty: the central value (the median) and the
 * bounds of the 10-90 % band, inside which the truth lies four times in five.
 * Infinity stands for a bound that nobody can give. */
#ifndef MODEL_RANGE_H
#define MODEL_RANGE_H

/* The 90 % quantile of the standard normal distribution. */
#define RANGE_Z 1.2815515655446004

struct range {
    double low, mid, high;
};

#endif
