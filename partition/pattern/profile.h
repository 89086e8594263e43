/* partition/pattern/profile.h - what inspection finds out about a product. */
#ifndef HY_PROFILE_H
#define HY_PROFILE_H

#include "base/contract/variant.h"
#include "partition/pattern/lengths.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The results of inspecting a range of rows. Prefix sums over rows have rows + 1
   elements: element i counts rows 0 to i-1. The arrays are NULL if only the sizes are
   known (hy_inspect_sizes()). */
typedef struct hy_profile {
    hy_op op;
    hybrid_type type;
    int64_t rows, cols;   /* number of rows and of columns of A */
    int64_t out_cols;     /* SpGEMM: columns of B; SpMM: columns of X */
    int64_t *nnz;         /* prefix sums over the rows of A: number of entries */
    int borrows;          /* 1: nnz is the array of offsets of A, which the caller owns */
    int64_t *products;    /* prefix sums. SpGEMM: of the scalar products. SpMM: alias of
                             nnz; multiply by the columns of the chunk */
    int64_t *bound;       /* prefix sums. SpGEMM: of min(scalar products, out_cols) of
                             each row, an upper bound on its entries of C; alias of
                             `products` if no row exceeds out_cols. SpMM: NULL */
    int64_t *ends;        /* SpGEMM: for each block of HY_ENDS_ROWS rows of A, 1 + the
                             last column that has an entry; SpMM: NULL */
    int64_t *firsts;      /* SpGEMM: for each block of HY_ENDS_ROWS rows of A, the first
                             column that has an entry, or `cols` if there is none; part of
                             the array `ends`; SpMM: NULL */
    hy_lengths lengths;   /* lengths of the rows of B in a sampled profile, in which nnz
                             alone is exact (partition/stream/sampled.h); else empty */
    int64_t begin, end;   /* range of rows that the profile describes; all rows, except in
                             a result of hy_profile_narrow() */
    hy_features features; /* features of rows [begin, end); out_ratio (scalar products /
                             entries of C) is an estimate */
} hy_profile;

enum { HY_ENDS_ROWS = 64 };

/* Returns 1 if scalar products, bounds and bands of the profile are estimates. */
static inline int hy_profile_is_sampled(const hy_profile *profile)
{
    return profile->lengths.of != NULL;
}

/* A device that holds both operands and counts the scalar products of rows faster than
   the workers. */
typedef struct hy_counter {
    /* Sets *products to an array with the scalar products of each row of A. The array is
       valid until `arg` is used again. Sets *products to NULL if the device cannot count
       them this time. */
    hybrid_status (*count)(void *arg, const uint32_t **products);
    void *arg;
    int64_t longest; /* maximum entries of a row of A that the device can count; if a row
                        has more, workers count */
} hy_counter;

/* hy_profile_alloc() allocates nnz, products, ends and firsts of a profile whose sizes
   are set. If the profile borrows nnz, that array is there already. hy_profile_sums()
   allocates one array of prefix sums, which begins with 0. hy_profile_free() frees all
   arrays of the profile; it must be called also after an error. */
hybrid_status hy_profile_alloc(hy_context *ctx, hy_profile *p);
hybrid_status hy_profile_sums(hy_context *ctx, int64_t rows, const char *what,
                              int64_t **out);
void hy_profile_free(hy_context *ctx, hy_profile *profile);

#ifdef __cplusplus
}
#endif
#endif /* HY_PROFILE_H */
