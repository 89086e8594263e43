/* engine/weigh.h - the host instead of a device. */
#ifndef HY_WEIGH_H
#define HY_WEIGH_H

#include "engine/rank.h"
#include "partition/extents.h"

/* Seconds in which the host is expected to have all of an SpMM that it may take from the
   device, and INFINITY where it may not. Once candidates are ranked for all of A. */
double hy_weigh_host(const hy_product *product, const hy_candidates *candidates);

/* What the device would take, in seconds, if it is to be spared: if so many rows and
   columns of A are not empty, X does not fit nor pass through in a window, and the host
   is done in product->host_s, much sooner. Else 0. */
double hy_weigh(const hy_product *product, int64_t rows, int64_t cols);

/* The same of all of A where B or X fits, by estimates of both (estimate.h); 0 with several
   columns of X and Y in columns. B NULL: SpMM. */
double hy_weigh_fitting(const hy_product *product, const hy_candidates *candidates,
                        const hybrid_csr *A, const hybrid_csr *B);

/* The same of an SpMM before anybody has looked how the entries of A lie
   (hy_product_inspect_tiles()): if the host is sooner however that is. */
double hy_weigh_unseen(const hy_product *product, const hy_candidates *candidates,
                       const hybrid_csr *A);

/* And where X does not fit and passes through in a window, its rows lying
   between these columns; for X and Y in rows, as with columns the host takes twice as
   long. */
double hy_weigh_window(const hy_product *product, const hy_extents *extents);

#endif /* HY_WEIGH_H */
