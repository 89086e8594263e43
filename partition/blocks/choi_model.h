/* partition/blocks/choi_model.h - the execution model of Choi, Singh and Vuduc (PPoPP
   2010, section 6) for SpMV in blocks of r x c.

   A GPU has M multiprocessors. Each holds up to T thread blocks at a time, so a kernel of
   L thread blocks runs in I = ceil(L / (T M)) iterations. An iteration costs a start plus
   a share for each further thread block of a multiprocessor. Each thread processes N
   blocks of r x c. All functions are pure. Numbers of equations are those of the
   paper. */
#ifndef HY_CHOI_MODEL_H
#define HY_CHOI_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- occupancy: Table 3, Eq. 8 to 12 ---- */

/* Limits of one multiprocessor. A limit of 0 does not apply. */
typedef struct hy_choi_device {
    int64_t warp;      /* W: threads of a warp */
    int64_t warps;     /* W_SM: maximum warps at a time */
    int64_t blocks;    /* T_SM: maximum thread blocks at a time */
    int64_t registers; /* R_SM: registers of 32 bits */
    int64_t shared;    /* S_SM: bytes of shared memory */
} hy_choi_device;

/* Needs of one thread block. */
typedef struct hy_choi_kernel {
    int64_t threads;   /* K: threads */
    int64_t registers; /* R_TB: registers of all its threads */
    int64_t shared;    /* S_TB: bytes of shared memory */
} hy_choi_kernel;

/* Returns T, the thread blocks that a multiprocessor holds at a time (Eq. 12); 0 if it
   cannot hold any. */
int64_t hy_choi_resident(const hy_choi_device *device, const hy_choi_kernel *kernel);

/* ---- off-line constants: Eq. 15 to 17 ---- */

/* Seconds of a kernel, measured on dense matrices that are stored in the format (BELLPACK
   or BCSR). A matrix has k thread blocks for each multiprocessor; each thread processes
   `steps` blocks of r x c, or only one where a comment says so. The paper has no times of
   one block of r x c with k above 1. */
typedef struct hy_choi_phi {
    int64_t steps;    /* beta: blocks of r x c for each thread, at least 2 */
    int64_t resident; /* T: thread blocks that a multiprocessor holds at a time */
    double one_step;  /* k = 1, one block of r x c for each thread */
    double one;       /* k = 1, `steps` blocks of r x c for each thread */
    double full;      /* k = T, `steps` blocks of r x c for each thread */
    double beyond;    /* k = T + 1, `steps` blocks of r x c for each thread */
    double full_one_step, beyond_one_step; /* k = T and k = T + 1, one block of r x c for
                                              each thread */
} hy_choi_phi;

/* Constants of the model, in seconds, for a kernel with a certain number of threads in a
   thread block. */
typedef struct hy_choi_times {
    double start; /* sigma_1,0: start of the kernel */
    double first; /* gamma: a block of r x c in the first iteration */
    double next;  /* gamma': a block of r x c in a later iteration */
    double more;  /* alpha(1): a block of r x c in each further thread block of a
                     multiprocessor */
    double next_start; /* start of a later iteration; 0 in the paper */
    double more_start; /* start of each further thread block; 0 in the paper */
} hy_choi_times;

/* Returns the constants that follow from measured times. Differences below 0, which are
   noise, count as 0. */
hy_choi_times hy_choi_fit(const hy_choi_phi *phi);

/* ---- time of a kernel: Eq. 1 to 7, 13, 14 and 18 to 21 ---- */

/* A kernel of `blocks` (L) thread blocks. Each thread processes `steps` (N) blocks of r x
   c, a mean that may be a fraction. `longest` is N of the thread with most blocks of r x
   c, which bounds the time from below; in the paper's matrices all rows are about equally
   long. */
typedef struct hy_choi_work {
    int64_t blocks;
    double steps, longest;
} hy_choi_work;

/* Returns I, the iterations of a kernel of `blocks` thread blocks (Eq. 1). */
int64_t hy_choi_iterations(int64_t blocks, int64_t resident, int64_t sms);

/* Returns t_i(k), the seconds of an iteration in which the fullest multiprocessor has k
   thread blocks (Eq. 3): `sigma` seconds for the first and `alpha` for each further
   one. */
double hy_choi_iteration_s(double sigma, double alpha, int64_t k);

/* Returns t(N), the seconds of the kernel (Eq. 21). */
double hy_choi_seconds(const hy_choi_times *times, const hy_choi_work *work,
                       int64_t resident, int64_t sms);

#ifdef __cplusplus
}
#endif
#endif /* HY_CHOI_MODEL_H */
