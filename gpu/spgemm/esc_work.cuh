/* gpu/spgemm/esc_work.cuh - the data of the kernels of spgemm.cuda.esc and esc_dup.

   Here and in the kernels a product is a scalar product. Products of a chunk have 32-bit
   numbers from 0 in the order of A's entries. Product t belongs to entry k with start[k]
   <= t < start[k+1], and to row r with row_start[r] <= t < row_start[r+1]. A kernel
   computes the products it needs from A and B, or reads them if they were expanded, that
   is written to memory, before (`expanded`).

   Rows are put into bins by their number of products. Bin 0 holds the long rows. Their
   products are sorted together by the key (id, column), where the id of a row is its
   place in bin 0. The rank of a product is the number of distinct keys up to its own. A
   row of any other bin is expanded, sorted and summed by one warp or block and stored
   from element row_start[r] of hy_esc.col and val on. In a chunk with long rows, the sort
   of these used the same memory before. */
#ifndef HY_ESC_WORK_CUH
#define HY_ESC_WORK_CUH

#include <stdint.h>

#include "gpu/backend/cuda_search.cuh"
#include "gpu/backend/cuda_tuning.h"

template <typename T> struct hy_esc {
    int rows, nnz, products;
    const int64_t *a_row; /* rows of A in the chunk: a_row, a_col, a_val */
    const int32_t *a_col;
    const T *a_val;
    const int64_t *b_row; /* B, or the rows of B that the chunk of A touches: b_row,
                             b_col, b_val */
    const int32_t *b_col;
    const T *b_val;
    const int *expanded; /* NULL if scalar products were not expanded. Else rows + 1
                            elements: scalar products before each row; number t of them is
                            then (b_col[t], b_val[t]), and A, b_row and start are not
                            read */
    int *start;          /* nnz + 1 elements: scalar products before each entry of A */
    int *row_start;      /* rows + 1 elements: scalar products before each row */
    int *count;          /* one for each row: entries of C */
    int *order;          /* non-empty rows, grouped by bin */
    int *bin_rows;       /* HY_ESC_BINS elements: rows in each bin */
    int *bin_used;       /* HY_ESC_BINS elements: rows of each bin that are already listed
                            in `order` */
    int *long_id;        /* one for each row: place in bin 0, or -1; NULL if there are no
                            long rows */
    int32_t *col; /* columns of C: the entries of a row that is not long begin at its
                     row_start; one element for each scalar product */
    T *val;
};

template <typename T, typename K> struct hy_esc_long {
    K *key[2];    /* one for each scalar product: id << col_bits | column, in key[0];
                     key[1] is room for sorting */
    T *val[2];    /* values, one for each scalar product, in val[0]; val[1] is room for
                     sorting */
    int *rank;    /* one for each scalar product: number of distinct keys up to and
                     including its own */
    int *first;   /* one for each id (long row): number of distinct keys before those of
                     the row */
    int col_bits; /* number of bits of a column */
    int key_bits; /* number of bits of a key */
    K none;       /* key of the scalar products of rows that are not long; greater than
                     all others */
};

/* Computes scalar product t, which belongs to an entry of A in [begin, end). */
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

/* Sets *begin and *end to the range of the entries of A of a row; to an empty range if
   scalar products were expanded before. */
template <typename T>
__device__ void hy_esc_nonzeros(const hy_esc<T> &e, int row, int *begin, int *end)
{
    *begin = e.expanded ? 0 : int(e.a_row[row]);
    *end   = e.expanded ? 0 : int(e.a_row[row + 1]);
}

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

/* Returns the bin of a row with p > 0 scalar products. */
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
