/* gpu/spgemm/esc_work.cuh - what the kernels of spgemm.cuda.esc and esc_dup work on.

   Products of a chunk are numbered 0 .. products-1 in the order of A's nonzeros, in
   32 bits. Product t belongs to nonzero k with start[k] <= t < start[k+1], and to
   row r with row_start[r] <= t < row_start[r+1]. A kernel makes the products it needs
   from A and B, or reads them where they have been made before (`expanded`).

   Rows are put in bins by their products. Bin 0 holds the long rows, whose products
   are sorted together as (id, column), id = place in the bin. A row of any other bin
   is expanded, sorted and summed by one warp or block, which leaves it at
   row_start[r]; where the long rows have been before, if there are any. */
#ifndef HY_ESC_WORK_CUH
#define HY_ESC_WORK_CUH

#include <stdint.h>

#include "gpu/backend/cuda_search.cuh"
#include "gpu/backend/cuda_tuning.h"

template <typename T> struct hy_esc {
    int rows, nnz, products;
    const int64_t *a_row; /* A, a chunk of it */
    const int32_t *a_col;
    const T *a_val;
    const int64_t *b_row; /* B, or the rows of it that A touches */
    const int32_t *b_col;
    const T *b_val;
    const int *expanded; /* rows+1, products before each row: then product t is (b_col[t],
                            b_val[t]), and A, b_row and start are not read; or NULL */
    int *start;          /* nnz+1 */
    int *row_start;      /* rows+1 */
    int *count;          /* rows: entries of C */
    int *order;          /* rows, grouped by bin; empty ones left out */
    int *bin_rows;       /* HY_ESC_BINS: rows in each bin */
    int *bin_used;       /* HY_ESC_BINS: how many of them are in order already */
    int *long_id;        /* rows: place in bin 0, or -1; NULL if no row is long */
    int32_t *col;        /* products: compressed rows at row_start */
    T *val;
};

template <typename T, typename K> struct hy_esc_long {
    K *key[2];    /* products: id << col_bits | column; [0] holds, [1] is free */
    T *val[2];    /* products */
    int *rank;    /* products: distinct keys up to and including this one */
    int *first;   /* ids: rank before the first key of the row */
    int col_bits; /* of a column */
    int key_bits; /* of a key */
    K none;       /* key of the products of other rows; above all others */
};

/* Product t, which belongs to a nonzero of [begin, end). */
template <typename T>
__device__ void hy_esc_product(const hy_esc<T> &e, int begin, int end, int t,
                               int32_t *col, T *val)
{
    int64_t b = t;
    T a       = 1;
    if (!e.expanded) {
        const int k = hy_owner(e.start, begin, end, t);
        b           = e.b_row[e.a_col[k]] + (t - e.start[k]);
        a           = e.a_val[k];
    }
    *col = e.b_col[b];
    *val = a * e.b_val[b];
}

/* Nonzeros of a row, where products are made from them. */
template <typename T>
__device__ void hy_esc_nonzeros(const hy_esc<T> &e, int row, int *begin, int *end)
{
    *begin = e.expanded ? 0 : int(e.a_row[row]);
    *end   = e.expanded ? 0 : int(e.a_row[row + 1]);
}

/* Rows of one bin. */
struct hy_esc_list {
    const int *rows;
    int count;
};

template <typename T> __device__ hy_esc_list hy_esc_rows(const hy_esc<T> &e, int bin)
{
    int at = 0;
    for (int b = 0; b < bin; b++)
        at += e.bin_rows[b];
    return {e.order + at, e.bin_rows[bin]};
}

/* The bin of a row with p > 0 products. */
__device__ inline int hy_esc_bin(int p)
{
    int bin = 1;
#define HY_ESC_PASS(items) bin += p > 32 * items;
    HY_ESC_WARP_BINS(HY_ESC_PASS)
#undef HY_ESC_PASS
#define HY_ESC_PASS(threads, items) bin += p > threads * items;
    HY_ESC_BLOCK_BINS(HY_ESC_PASS)
#undef HY_ESC_PASS
    return bin < HY_ESC_BINS ? bin : 0;
}

#endif /* HY_ESC_WORK_CUH */
