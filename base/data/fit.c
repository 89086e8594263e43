/* base/data/fit.c - fits a fixed cost and factors to seconds that were measured. */
#include "base/data/fit.h"

#include <math.h>

/* Distances are logarithms of predicted / measured. Up to NEAR a distance counts by its
   square, beyond in proportion. */
static const double NEAR = 0.1;

/* Bounds of factors, as logarithms, and the steps between the factors that are tried. */
static const double LOG_MOST = 6.907755278982137, LOG_STEP = 0.345;
enum {
    FACTORS = 40,    /* number of steps of LOG_STEP from the least to the greatest factor
                        that are tried first */
    REFINEMENTS = 24 /* number of further steps; each halves the interval around the best
                        factor */
};

/* Fixed costs that are tried: 0, then LEAST_S times powers of STEP, up to MOST_S. */
static const double LEAST_S = 1e-7, MOST_S = 1e-2, STEP = 1.15;

static double distance(const hy_sample *s, double start_s, double factor)
{
    const double d = log((s->base_s + start_s + factor * s->model_s) / s->measured_s);

    return sqrt(d * d + NEAR * NEAR);
}

/* Returns the sum of the distances of the samples of a regime. */
static double distances(const hy_sample *samples, int64_t count, int regime,
                        double start_s, double log_factor)
{
    const double factor = exp(log_factor);
    double sum          = 0;

    for (int64_t i = 0; i < count; i++)
        if (samples[i].regime == regime)
            sum += distance(&samples[i], start_s, factor);
    return sum;
}

static double best_log(const hy_sample *samples, int64_t count, int regime,
                       double start_s)
{
    double best = -LOG_MOST, least = INFINITY, half = LOG_STEP / 2;

    for (int i = 0; i <= FACTORS; i++) {
        const double at  = -LOG_MOST + LOG_STEP * i;
        const double now = distances(samples, count, regime, start_s, at);
        best             = now < least ? at : best;
        least            = now < least ? now : least;
    }
    for (int i = 0; i < REFINEMENTS; i++, half /= 2) {
        const double middle = best;
        for (int side = -1; side <= 1; side += 2) {
            const double at  = fmax(-LOG_MOST, fmin(LOG_MOST, middle + side * half));
            const double now = distances(samples, count, regime, start_s, at);
            best             = now < least ? at : best;
            least            = now < least ? now : least;
        }
    }
    return best;
}

static int has(const hy_sample *samples, int64_t count, int regime)
{
    for (int64_t i = 0; i < count; i++)
        if (samples[i].regime == regime)
            return 1;
    return 0;
}

double hy_fit_factor(const hy_sample *samples, int64_t count, int regime, double start_s)
{
    return has(samples, count, regime) ? exp(best_log(samples, count, regime, start_s))
                                       : 0;
}

/* Returns the sum of all distances if each regime has its best factor. */
static double least_distances(const hy_sample *samples, int64_t count, int regimes,
                              double start_s)
{
    double sum = 0;

    for (int k = 0; k < regimes; k++) {
        const double at = best_log(samples, count, k, start_s);
        sum += distances(samples, count, k, start_s, at);
    }
    return sum;
}

double hy_fit_start(const hy_sample *samples, int64_t count, int regimes)
{
    double best = 0, least = least_distances(samples, count, regimes, 0);

    for (double s = LEAST_S; count > 0 && s <= MOST_S; s *= STEP) {
        const double now = least_distances(samples, count, regimes, s);
        best             = now < least ? s : best;
        least            = now < least ? now : least;
    }
    return best;
}
