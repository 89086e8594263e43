/* base/data/median.h - the middle of a few measurements. */
#ifndef HY_MEDIAN_H
#define HY_MEDIAN_H

/* Of n > 0 numbers, which it sorts; the lower of two. */
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
