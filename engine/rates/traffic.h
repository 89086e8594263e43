/* engine/rates/traffic.h - bytes that a plan will move, and those of the way it did not
   take. */
#ifndef HY_TRAFFIC_H
#define HY_TRAFFIC_H

#include "engine/plan/layout.h"
#include "pipeline/site/site.h"

typedef struct hy_traffic {
    int64_t up, down; /* to the device and back, at most or about; 0 when in place */
    int64_t other_up; /* if B or X were gathered instead of resident, or resident (X that
                         does not fit: in a window or in panels) instead of gathered; -1:
                         there is no other way */
} hy_traffic;

/* SpMM: bytes up in that layout; without those of an A that is there from the first run.
 */
int64_t hy_traffic_dense_up(const hy_product *product, const hy_layout *layout);

/* More up in the next run on the site, which packs what stays of A and is not there yet.
 */
int64_t hy_traffic_first(const hy_product *product, const hy_layout *layout,
                         const hy_site *site);

/* Of the packs of A that stay, the part that is there for the next run: from 0 to 1. */
double hy_traffic_there(const hy_product *product, const hy_layout *layout,
                        const hy_site *site);

/* Bytes up if each chunk brought the rows of X that it touches: counted for a few chunks
   of the layout, which has X on the device, and scaled by entries of A. */
hybrid_status hy_traffic_gathered_up(const hy_product *product, const hy_layout *layout,
                                     const hybrid_csr *A, const hybrid_csr *B,
                                     int64_t *up);

/* Rows of B or X that all chunks bring together, and entries of B. */
typedef struct hy_touch {
    int64_t rows, nnz;
} hy_touch;

/* The same, before there are chunks of the gathered layout that is asked for: counted for
   a few ranges of rows as long as one of them may be, and scaled by entries of A. */
hybrid_status hy_traffic_sample(const hy_planning *p, const hy_layout *asked,
                                hy_touch *out);

/* Whether rows of A are rows of the B that the device holds. */
int hy_traffic_same(const hy_product *product, const hybrid_csr *A, const hybrid_csr *B);

/* Predict for these operands (B NULL: SpMM). What chunks would gather is counted for a
   few of them, and scaled by entries of A. */
hybrid_status hy_traffic_find(const hy_product *product, const hy_layout *layout,
                              const hybrid_csr *A, const hybrid_csr *B, hy_traffic *out);

#endif /* HY_TRAFFIC_H */
