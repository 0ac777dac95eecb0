/* An estimate with its uncertainty: the median and the bounds of the 10-90 % band, which
 * contains the true value four times out of five. Infinity is a bound that is not known. */
#ifndef MODEL_RANGE_H
#define MODEL_RANGE_H

/* The 90 % quantile of the standard normal distribution. */
#define RANGE_Z 1.2815515655446004

struct range {
    double low, mid, high;
};

#endif
