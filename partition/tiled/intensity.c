/* partition/tiled/intensity.c - the performance model of Tiled SpMM. */
#include "partition/tiled/intensity.h"

/* Eq. 2: I = 2 mu / (mu (B_T + B_I) + mu B_T + B_T + delta). The letters are those of
   intensity.h. */
double hy_intensity_naive(const hy_intensity *m)
{
    const double bytes =
        m->mu * (m->value + m->index) + m->mu * m->value + m->value + m->metadata;

    return 2 * m->mu / bytes;
}

/* The first two terms of the denominators of Eq. 3 and 6: A, and the rows of X. */
static double bytes_of_entry(const hy_intensity *m, double gamma)
{
    return (m->value + m->in_tile) * m->Z / m->R + m->value * gamma / m->rho;
}

/* Eq. 3: I_e = 2 / ((B_T + B_IS) Z / R + B_T Gamma / rho + B_I / (rho mu)
                     + delta / (R mu)). */
double hy_intensity_tiled(const hy_intensity *m, double gamma)
{
    return 2 / (bytes_of_entry(m, gamma) + m->index / (m->rho * m->mu) +
                m->metadata / (m->R * m->mu));
}

/* Eq. 6: I_e* = 2 / ((B_T + B_IS) Z / R + B_T C / rho + B_I / (rho mu*)
                      + (B_I + delta) / (R mu*) + B_T / mu). */
double hy_intensity_segmented(const hy_intensity *m, double gamma)
{
    return 2 / (bytes_of_entry(m, gamma) + m->index / (m->rho * m->mu_cut) +
                (m->index + m->metadata) / (m->R * m->mu_cut) + m->value / m->mu);
}

/* Eq. 4: Gamma = C / L. */
double hy_intensity_gamma(const hy_intensity *m)
{
    return m->C / m->L;
}

/* The paper counts the cache lines that a warp touches and sets C to 1 for a misaligned
   access, because another warp of the thread block uses the rest of the line. A line is
   therefore counted once for each panel, whichever warps touch it. */
double hy_intensity_lines(double lines, double staged, double value)
{
    const double C = staged > 0 ? lines * HY_CACHE_LINE / (staged * value) : 1;

    return C > 1 ? C : 1;
}

/* The paper divides the rows that all thread blocks stage by M, the rows of A. Its bound
   N / nnz <= Gamma (Table 1) holds if the divisor is N, the rows of X, which is the same
   for a square A. Rows of X that no entry uses are left out here, so that L is at least
   1. */
double hy_intensity_repeats(double staged, double distinct)
{
    return distinct > 0 && staged > distinct ? staged / distinct : 1;
}

/* Eq. 5: U = thread blocks / multiprocessors. */
double hy_utilization(double panels, double passes, double multiprocessors)
{
    return panels * passes / multiprocessors;
}
