/* partition/blocks/choi_model.c - the execution model of Choi, Singh and Vuduc. */
#include "partition/blocks/choi_model.h"

#include <math.h>

#include "base/data/min_max.h"

/* ---- occupancy ----------------------------------------------------------------- */

/* Returns floor(available / used), or `none` if the resource is not used or has no
   limit. */
static int64_t limit(int64_t available, int64_t used, int64_t none)
{
    return available > 0 && used > 0 ? available / used : none;
}

int64_t hy_choi_resident(const hy_choi_device *d, const hy_choi_kernel *k)
{
    /* Eq. 8: number of warps of a thread block */
    const int64_t warps    = (k->threads + d->warp - 1) / d->warp;
    const int64_t by_warps = hy_min(d->blocks, limit(d->warps, warps, d->blocks));
    /* Eq. 10: thread blocks for which the registers suffice */
    const int64_t by_registers = limit(d->registers, k->registers, by_warps);
    /* Eq. 11: thread blocks for which the shared memory suffices */
    const int64_t by_shared = limit(d->shared, k->shared, by_warps);

    /* Eq. 9 and 12: thread blocks that a multiprocessor holds */
    return hy_min(by_warps, hy_min(by_registers, by_shared));
}

/* ---- constants ----------------------------------------------------------------- */

/* A line: N steps take start + step * N seconds. */
typedef struct line {
    double start, step;
} line;

/* Returns the line through the seconds of one step (one_s) and of `steps` steps (all_s),
   with both constants at least 0. The paper has a line through 0. */
static line line_through(double one_s, double all_s, double steps)
{
    const double step = fmax(0, (all_s - fmax(0, one_s)) / (steps - 1));

    return one_s > step ? (line){one_s - step, step} : (line){0, fmax(0, all_s / steps)};
}

hy_choi_times hy_choi_fit(const hy_choi_phi *p)
{
    const double steps = (double)p->steps, others = fmax(1, (double)(p->resident - 1));
    const line next = line_through(p->beyond_one_step - p->full_one_step,
                                   /* Eq. 16: seconds of a step of a later iteration */
                                   p->beyond - p->full, steps);
    const line more = line_through((p->full_one_step - p->one_step) / others,
                                   /* Eq. 17: a step in a further thread block */
                                   (p->full - p->one) / others, steps);

    return (hy_choi_times){
        .start = p->one_step,
        /* Eq. 15: seconds of a step of the first iteration */
        .first      = fmax(0, (p->one - p->one_step) / steps),
        .next       = next.step,
        .next_start = next.start,
        .more       = more.step,
        .more_start = more.start,
    };
}

/* ---- time ---------------------------------------------------------------------- */

int64_t hy_choi_iterations(int64_t blocks, int64_t resident, int64_t sms)
{
    const int64_t wave = resident * sms;

    return blocks / wave + (blocks % wave > 0);
}

double hy_choi_iteration_s(double sigma, double alpha, int64_t k)
{
    return sigma + alpha * (double)(k - 1);
}

/* Returns k, the thread blocks of the fullest multiprocessor in the last iteration:
   thread blocks go to all multiprocessors in turn. In Eq. 7 and 20 k - 1 is floor(((L mod
   T M) - 1) / M). If T M divides L, the last iteration is a whole one, a case that the
   paper leaves out. */
static int64_t last_blocks(int64_t blocks, int64_t resident, int64_t sms)
{
    const int64_t rest = blocks % (resident * sms);

    return rest > 0 ? (rest - 1) / sms + 1 : resident;
}

/* The paper assumes I >= 2. If I = 1, the first iteration is the last one, too. */
double hy_choi_seconds(const hy_choi_times *times, const hy_choi_work *work,
                       int64_t resident, int64_t sms)
{
    if (work->blocks <= 0 || resident <= 0 || sms <= 0)
        return times->start;
    const double N = work->steps;
    /* Eq. 1: number of iterations */
    const int64_t I    = hy_choi_iterations(work->blocks, resident, sms);
    const int64_t last = last_blocks(work->blocks, resident, sms);
    /* Eq. 13: seconds of the first iteration with one thread block */
    const double sigma_1 = times->start + times->first * N;
    /* Eq. 14: seconds of a later iteration with one thread block */
    const double sigma = times->next_start + times->next * N;
    /* Eq. 17: seconds that each further thread block adds */
    const double alpha = times->more_start + times->more * N;
    const double chain = times->start + times->first * work->longest;

    if (I == 1)
        return fmax(chain, hy_choi_iteration_s(sigma_1, alpha, last));
    /* Eq. 5, 18: seconds of the first iteration */
    return fmax(chain, hy_choi_iteration_s(sigma_1, alpha, resident) +
                           (double)(I - 2) * hy_choi_iteration_s(
                                                 /* Eq. 6, 19: iterations between */
                                                 sigma, alpha, resident) +
                           hy_choi_iteration_s(sigma, alpha,
                                               /* Eq. 7, 20: last iteration; sum: Eq. 2,
                                                  4, 21 */
                                               last));
}
