/* partition/tiled/tiled_rules.h - how spmm.cuda.tiled cuts, sorts and stores the rows of
   A: the decision chart of Tiled SpMM (Fig. 6 of the paper), and what the parameters of
   the variant force. */
#ifndef HY_TILED_RULES_H
#define HY_TILED_RULES_H

#include "base/contract/variant.h"
#include "base/contract/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HY_TILED_ROWS = 256, /* strips of a panel, and threads of a block */
    HY_TILED_COLS = 768  /* maximum rows of X in a tile */
};

/* Whether the strips, which are rows of A or segments of long rows, are sorted. */
typedef enum hy_tiled_order {
    HY_TILED_SORT_IF_BETTER, /* strips are sorted by their columns if the sort is
                                predicted to shorten the product */
    HY_TILED_SORT_NEVER,
    HY_TILED_SORT_ALWAYS
} hy_tiled_order;

typedef struct hy_tiled_rules {
    int64_t segment;  /* maximum entries of a segment; a longer row is cut into several */
    int64_t partials; /* upper bound on the number of segments of all rows that have more
                         than one. It must not fall when rows are added, because cutting
                         chunks relies on that */
    int R;            /* number of columns of X that a thread computes at once */
    int tiles;        /* number of tiles that a thread block has in shared memory at a
                         time */
    int paper;        /* 1: as in the paper. Slices are padded with zeros, strips are
                         sorted by all their columns and stay sorted if rho rises, and the
                         copies to a tile are awaited before it is used. */
    hy_tiled_order order;
} hy_tiled_rules;

/* Returns the rules for a product with features `f` on a device with rates `r`. */
hy_tiled_rules hy_tiled_rules_for(const hy_features *f, const hy_rates *r);

/* Returns U of Eq. 5, the thread blocks for each multiprocessor, if no row is cut and a
   thread computes R columns. */
double hy_tiled_utilization(const hy_features *f, const hy_rates *r, int R);

/* Returns NULL, or the reason why the device cannot run spmm.cuda.tiled. */
const char *hy_tiled_refuse(const hy_features *f, const hy_rates *r);

#ifdef __cplusplus
}
#endif
#endif /* HY_TILED_RULES_H */
