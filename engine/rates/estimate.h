/* engine/rates/estimate.h - what one way of computing a product costs, and how long that
   takes.

   An estimate counts what is asked of the machine: bytes of the bus and of host memory,
   seconds of the device and of cores. hy_seconds() turns it into the time from call to
   return by one formula, whoever computes, whichever product. */
#ifndef HY_ESTIMATE_H
#define HY_ESTIMATE_H

#include "engine/plan/layout.h"

typedef struct hy_estimate {
    double first_bytes; /* to the device before the first chunk can compute */
    double up_bytes,
        down_bytes;         /* over the bus: the others, as they are expected to go; */
    double last_bytes;      /* down, those for which nothing is left to go up, */
    double short_bytes;     /* and what rows too short for both ways at once take more */
    double device_s;        /* kernels */
    double core_s;          /* packing and computing: seconds of one core */
    double memory_bytes;    /* of host memory, which packing and computing move, */
    double stored_bytes;    /* and which storing the result moves */
    double call_s, chunk_s; /* fixed costs, of a call and of each chunk */
    int64_t chunks;
} hy_estimate;

/* What a run finds that its plan could not know. */
typedef struct hy_circumstances {
    int pinned;     /* the device copies X and Y by itself */
    int in_panels;  /* X comes in the panels that the layout has for such runs */
    int rows_of_b;  /* SpGEMM: rows of A are rows of the B on the device, not packed */
    double packed;  /* of the packs that stay, the part that is there from earlier runs */
    double ahead_s; /* B has been on its way for so long */
    double share;   /* of the work that the host is expected to take */
} hy_circumstances;

/* The time from call to return, in seconds: of a product on a site with the rates `site`,
   for which workers with the rates `host` pack and store. The host itself is a site to
   which nothing is copied. Grows with each field of the estimate. */
double hy_seconds(const hy_estimate *estimate, const hy_rates *site,
                  const hy_rates *host);

/* The same of a product that several sites compute at once, each with rates and an estimate
   of its part: bus and kernels are each one's own, cores and host memory serve all, which
   all that is copied passes, and so does the thread that hands out chunks. */
double hy_seconds_together(const hy_estimate *each, const hy_rates *const *rates,
                           int count, const hy_rates *host);

/* Whether a way that takes so long by its estimate is taken instead of a simpler one.
   Estimates err by a tenth: within that they are equal. */
static inline int hy_is_sooner(double seconds, double simpler_s)
{
    return seconds < 0.9 * simpler_s;
}

/* For how much of it packing and storing keep all workers busy. */
double hy_workers_seconds(const hy_estimate *estimate, const hy_rates *host);

/* What an SpMM on a device takes at the least, if A comes from host memory. */
double hy_estimate_least_s(const hy_rates *site);

/* Seconds of an estimate, on the product's backend. */
double hy_estimate_seconds(const hy_product *product, const hy_estimate *estimate);

/* What a run finds that is planned for: of an A that stays a later one. And of these
   operands: whether rows of A are rows of B. */
hy_circumstances hy_circumstances_of(const hy_product *product);
hy_circumstances hy_circumstances_planned(const hy_planning *p);

/* A run of these chunks on the product's device; in panels all packs stay. */
hy_estimate hy_estimate_device(const hy_product *product, const hy_layout *layout,
                               const hy_circumstances *found);

/* Of that estimate of a layout, the part of a device that computes so much of the work: B or
   X comes whole all the same, unless chunks bring what they touch. */
hy_estimate hy_estimate_part(const hy_estimate *all, const hy_layout *layout,
                             double share);

/* Of one of so many equal parts. */
hy_features hy_features_share(const hy_features *all, int64_t parts);

/* The same of so many equal chunks, before there are any: of the layout as it is asked
   for. `needs`: rows of B or X for which the first of several waits. */
hy_estimate hy_estimate_even(const hy_product *product, const hy_layout *layout,
                             int64_t needs, int64_t chunks,
                             const hy_circumstances *found);

/* A run of this variant on the host, which has these rates, alone. */
hy_estimate hy_estimate_host(const hy_product *product, const hy_variant *variant,
                             const hy_rates *host);

/* An SpMM on the host, if rows of X that rows of A near each other name stay in its
 * caches. */
hy_estimate hy_estimate_near(const hy_product *product, const hy_rates *host);

/* Seconds of hy_estimate_host(). */
double hy_estimated_host_s(const hy_product *product, const hy_variant *variant);

/* Of a run of the product as it is laid out, wherever it computes. */
double hy_estimated_s(const hy_product *product, const hy_layout *layout,
                      const hy_circumstances *found);

#endif /* HY_ESTIMATE_H */
