/* base/data/median.h - the median of a few measurements. */
#ifndef HY_MEDIAN_H
#define HY_MEDIAN_H

/* Sorts x and returns the median of its n > 0 numbers; of two middle numbers, the
   lower. */
static inline double hy_median(double *x, int n)
{
    for (int i = 1; i < n; i++) {
        const double moved = x[i];
        int k              = i;
        for (; k > 0 && x[k - 1] > moved; k--)
            x[k] = x[k - 1];
        x[k] = moved;
    }
    return x[(n - 1) / 2];
}

#endif /* HY_MEDIAN_H */
