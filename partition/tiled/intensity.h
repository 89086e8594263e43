/* partition/tiled/intensity.h - the performance model of Tiled SpMM: floating-point
   operations for each byte of device memory (Eq. 2 to 4 and 6), and the chart that
   decides how rows are cut (Eq. 5, Fig. 6).

   All functions are pure. The letters are those of the paper. */
#ifndef HY_INTENSITY_H
#define HY_INTENSITY_H

#ifdef __cplusplus
extern "C" {
#endif

/* The parameters of the model (Table 1 of the paper). Sizes are in bytes. */
typedef struct hy_intensity {
    double value;    /* B_T: bytes of a value */
    double index;    /* B_I: bytes of an index into device memory */
    double in_tile;  /* B_IS: bytes of an index into shared memory */
    double metadata; /* delta: bytes that a thread reads about its row */
    double R;        /* columns of X that a thread computes at once */
    double mu;       /* mean entries of a row of A */
    double mu_cut;   /* mu*: mean entries of a strip, a row or a segment of a row */
    double rho;      /* mean entries of a panel that use a staged row of X */
    double C;        /* bytes of cache lines read for a staged value, divided by B_T */
    double L;        /* mean number of panels that stage a row of X */
    double Z;        /* stored entries, with padding, divided by entries */
} hy_intensity;

enum {
    HY_CACHE_LINE = 64, /* bytes of a cache line of the model, two sectors */
    HY_METADATA   = 8   /* delta: bytes that a thread reads about its row */
};

/* Eq. 2: returns the intensity of the naive kernel, in which a thread computes one
   element of Y. */
double hy_intensity_naive(const hy_intensity *m);

/* Eq. 3: returns the intensity for rows that are not cut; `gamma` is Gamma, the sparse
   access cost. */
double hy_intensity_tiled(const hy_intensity *m, double gamma);

/* Eq. 6: returns the intensity for rows in segments, with Gamma in the place of C. */
double hy_intensity_segmented(const hy_intensity *m, double gamma);

/* Eq. 4: returns Gamma if a cache keeps every line after its first use. If every access
   misses, Gamma is C. */
double hy_intensity_gamma(const hy_intensity *m);

/* Eq. 4: returns C, at least 1, for `lines` cache lines that hold `staged` values of
   `value` bytes each. */
double hy_intensity_lines(double lines, double staged, double value);

/* Eq. 4: returns L, at least 1, if all panels together stage `staged` rows of X,
   `distinct` of them different. */
double hy_intensity_repeats(double staged, double distinct);

/* Eq. 5: returns U, thread blocks for each multiprocessor, for panels of HY_TILED_ROWS
   rows, each computed in `passes` passes over the columns of X. */
double hy_utilization(double panels, double passes, double multiprocessors);

#ifdef __cplusplus
}
#endif
#endif /* HY_INTENSITY_H */
