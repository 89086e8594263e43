/* engine/rates/estimate.h - estimates of one way to compute a product, and its time.

   An estimate counts the use of each resource: bytes of the bus and of host memory,
   seconds of the device and of cores. Bytes go up to the device and down to the host.
   hy_seconds() turns an estimate into the time from call to return, with one formula for
   all backends and products. */
#ifndef HY_ESTIMATE_H
#define HY_ESTIMATE_H

#include "engine/plan/layout.h"

/* Bytes of host memory moved per byte of a pack: each is read once and written once. */
enum { HY_PACK_PASSES = 2 };

typedef struct hy_estimate {
    double first_bytes;          /* bytes of B or X sent before the first chunk can
                                    compute */
    double up_bytes, down_bytes; /* up_bytes: all other bytes to the device; down_bytes:
                                    all bytes to the host */
    double image_bytes;          /* bytes of B or X among first_bytes and up_bytes, if
                                    devices that receive the same B or X may copy it from
                                    each other; else 0 */
    double last_bytes;           /* part of down_bytes that goes down after the last byte
                                    has gone up; 0 unless X comes in column blocks */
    double short_bytes;     /* bytes added to model the lower bus rate of short rows */
    double device_s;        /* seconds in which the device executes kernels */
    double core_s;          /* seconds that packing and computing would take one core */
    double memory_bytes;    /* bytes of host memory moved by packing and computing */
    double stored_bytes;    /* bytes of host memory moved by storing the result */
    double call_s, chunk_s; /* fixed seconds per run and per chunk */
    int64_t chunks;
    int slots; /* maximum number of chunks under way at once; 0: no limit */
} hy_estimate;

/* Facts that a run knows and its plan does not. */
typedef struct hy_circumstances {
    int pinned;     /* 1: X and Y are pinned, and the device copies them without workers;
                       else 0 */
    int in_column_blocks; /* 1: X comes in layout.pinned_blocks column blocks */
    int rows_of_b;  /* SpGEMM: 1 if kernels read rows of A in the B on the device, so that
                       A needs no packs; else 0 */
    double cached;  /* share, 0 to 1, of the packs marked as cached that are on the device
                       before the run */
    double prefetching_s; /* seconds for which B has been prefetched before the run; 0 if
                             it was not */
    double share;   /* share of the work that the host is expected to take, 0 to 1 */
} hy_circumstances;

/* Returns the seconds from call to return of a product on a site with rates `site`.
   Workers with rates `host` pack and store. A site without a bus (the host) copies
   nothing. The result grows with each field of the estimate. */
double hy_seconds(const hy_estimate *estimate, const hy_rates *site,
                  const hy_rates *host);

/* Returns the seconds of a product that `count` sites compute at once, each with its
   rates and the estimate of its part. Each site has its own bus and kernels. Cores, host
   memory and the thread that hands out chunks serve all sites. If all sites receive the
   same image_bytes, each gets an equal part of them from host memory, and the rest from
   the others, which takes no time beside the bus. */
double hy_seconds_together(const hy_estimate *each, const hy_rates *const *rates,
                           int count, const hy_rates *host);

/* Returns 1 if a way that takes `seconds` is preferred to a simpler one that takes
   simpler_s. Differences below a tenth do not count, because estimates err by that
   much. */
static inline int hy_is_sooner(double seconds, double simpler_s)
{
    return seconds < 0.9 * simpler_s;
}

/* Returns the seconds that packing and storing take if all workers do nothing else. */
double hy_workers_seconds(const hy_estimate *estimate, const hy_rates *host);

/* Returns a lower bound on the seconds of an SpMM on a device with A in host memory. */
double hy_estimate_min_s(const hy_rates *site);

/* Returns the predicted seconds of an estimate for the portion, on the product's
   backend. */
double hy_estimate_seconds(const hy_portion *portion, const hy_estimate *estimate);

/* Return the circumstances that a plan assumes: with HYBRID_RESIDENT all packs are cached
   by an earlier run. hy_circumstances_planned() also sets rows_of_b. */
hy_circumstances hy_circumstances_of(const hy_product *product);
hy_circumstances hy_circumstances_planned(const hy_portion *portion, const hybrid_csr *A,
                                          const hybrid_csr *B);

/* Estimates a run of the layout's chunks on the product's device. */
hy_estimate hy_estimate_device(const hy_portion *portion, const hy_layout *layout,
                               const hy_circumstances *found);

/* Returns the part of the layout's estimate `all` for a device that computes `share` of
   the work. B or X is still copied completely, unless chunks gather it. */
hy_estimate hy_estimate_part(const hy_estimate *all, const hy_layout *layout,
                             double share);

/* Returns the features of one of `parts` equal parts of a product with features `all`. */
hy_features hy_features_share(const hy_features *all, int64_t parts);

/* Estimates `chunks` equal chunks of a layout that is not cut yet, for a product with
   these features. If there are several chunks, the first one needs `x_end` rows of B or
   X. */
hy_estimate hy_estimate_even(const hy_portion *portion, const hy_features *features,
                             const hy_layout *layout, int64_t x_end, int64_t chunks,
                             const hy_circumstances *found);

/* Estimates a run of this variant on the host alone, with rates `host`. */
hy_estimate hy_estimate_host(const hy_features *features, const hy_variant *variant,
                             const hy_rates *host);

/* Estimates an SpMM on the host, if rows of X that neighbouring rows of A share stay in
   the CPU's caches. */
hy_estimate hy_estimate_near(const hy_product *product, const hy_rates *host);

/* Returns the seconds of hy_estimate_host() on the host of the engine. */
double hy_estimated_host_s(const hybrid_engine *engine, const hy_features *features,
                           const hy_variant *variant);

/* Returns the estimate of the portion's part of a run with the circumstances `found`. */
hy_estimate hy_portion_estimate(const hy_portion *portion, const hy_circumstances *found);

/* Returns the predicted seconds of a run of all portions. found[i] has the circumstances
   of portion i; `found` is not used if the host is the only portion. */
double hy_portions_s(const hy_portion *portions, int count,
                     const hy_circumstances *found);

/* Returns the seconds that packing and storing for all portions take if all workers do
   nothing else. */
double hy_portions_workers_s(const hy_portion *portions, int count,
                             const hy_circumstances *found);

#endif /* HY_ESTIMATE_H */
