/* partition/pattern/profile.h - what inspection finds out about a product. */
#ifndef HY_PROFILE_H
#define HY_PROFILE_H

#include "base/contract/variant.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is known of each row, as prefix sums: entry i counts rows 0 .. i-1. Of sizes alone
   (hy_inspect_sizes()) they are NULL. */
typedef struct hy_profile {
    hy_op op;
    hybrid_type type;
    int64_t rows, cols;   /* of A */
    int64_t out_cols;     /* SpGEMM: columns of B; SpMM: of X */
    int64_t *nnz;         /* rows+1; entries of A */
    int64_t *products;    /* rows+1; SpGEMM: scalar products; SpMM: == nnz (alias),
                             to be multiplied by the columns of the panel */
    int64_t *bound;       /* rows+1; SpGEMM: sum of min(products, out_cols), == products
                             (alias) where that is the same; SpMM: NULL */
    int64_t *ends;        /* SpGEMM: of every HY_ENDS_ROWS rows, columns up to the last that
                             they have an entry in; SpMM: NULL */
    int64_t begin, end;   /* of rows: all, unless hy_profile_narrow() made it */
    hy_features features; /* of these rows, out_ratio estimated from a sample */
} hy_profile;

enum { HY_ENDS_ROWS = 64 };

/* A device that has both operands and counts the products of rows sooner than the workers. */
typedef struct hy_counter {
    /* Those of each row of A, valid until `arg` is used for anything else; NULL in
       *products: not this time. */
    hybrid_status (*count)(void *arg, const uint32_t **products);
    void *arg;
    int64_t longest; /* row of A that it takes */
} hy_counter;

#ifdef __cplusplus
}
#endif
#endif /* HY_PROFILE_H */
