/* host/spgemm/spgemm_host.h - a row of C = A*B, and the accumulators that can make it.

   A row of A becomes terms: where each row of B that it names begins and ends. An
   accumulator adds the products of the terms and writes the row of C sorted by column.
   Products of one entry of C are rounded, then added to +0 in the order of A's row,
   so all accumulators give the same bits. */
#ifndef HY_SPGEMM_HOST_H
#define HY_SPGEMM_HOST_H

#include "base/contract/variant.h"
#include "host/backend/host_lane.h"

typedef struct hy_term {
    int64_t begin, end; /* entries of B */
} hy_term;

/* A row of C, to be made; with `lanes` > 1 that many rows whose entries of A have the
   same columns. */
typedef struct hy_row {
    const hy_term *terms;
    int64_t        count;
    const int32_t *b_col;
    const void    *b_val;
    int64_t        b_entries;        /* of b_col and b_val that may be read; 0: those of terms */
    int64_t        products;         /* of each row */
    int64_t        bound;            /* entries that each row may have */
    int64_t        room;             /* entries that may be written for each row: `bound` or more */
    int32_t        col_min, col_max; /* of the products; only if there are any */
    int            lanes;
    int            shuffled;         /* 1: columns of a term need not ascend */
    const void    *a[4];             /* values of A, one a term */
    int32_t       *col[4];           /* room for the rows of C */
    void          *val[4];
} hy_row;

typedef struct hy_recipes hy_recipes; /* of a worker */

/* What a worker has at hand. */
typedef struct hy_seat {
    hy_lane    *lane;    /* for scratch */
    hybrid_type type;
    hy_recipes *recipes; /* NULL = none */
} hy_seat;

/* Make the row(s); *nnz is the number of entries (of each). Fails without memory. */
typedef hybrid_status (*hy_row_fn)(const hy_seat *seat, const hy_row *row, int64_t *nnz);

/* spgemm_host_dense.c: a window over the columns [col_min, col_max]. 1 to 4 lanes. */
hybrid_status hy_row_dense(const hy_seat *seat, const hy_row *row, int64_t *nnz);
/* spgemm_host_hash.c: a table of 2 to 4 times the products. 1 lane. */
hybrid_status hy_row_hash(const hy_seat *seat, const hy_row *row, int64_t *nnz);
/* spgemm_host_few.c: at most HY_FEW products, and no more than there are columns.
   1 lane. */
hybrid_status hy_row_few(const hy_seat *seat, const hy_row *row, int64_t *nnz);

/* spgemm_host_recipe.c: like an earlier row, if there was one of the same pattern moved by
   some columns; else by `make`. Values of such rows are made later: their terms and their
   room must stay until hy_recipes_finish(). */
hybrid_status hy_row_recipe(const hy_seat *seat, const hy_row *row, hy_row_fn make,
                            int64_t *nnz);
hybrid_status hy_recipes_open(hy_seat *seat); /* sets seat->recipes */
void          hy_recipes_finish(const hy_seat *seat);

enum { HY_FEW = 128 };

/* A row of C that all workers make together. */
typedef struct hy_huge {
    hy_lane          *lane;
    const hybrid_csr *A, *B;
    int64_t           row;  /* of A */
    hy_row_fn         make; /* for ranges of its columns; 1 lane, no recipes */
    int64_t           room; /* for entries of C, in the two arrays */
    int32_t          *col;
    void             *val;
} hy_huge;

/* spgemm_host_huge.c: by the worker that runs the lane; the bits are those of `make`. */
hybrid_status hy_row_huge(const hy_huge *huge, int64_t *nnz);

/* spgemm_host_work.c: set products, bound and range of columns of the terms. */
void hy_row_measure(const hybrid_csr *B, hy_row *row);
/* The failure of `lanes` rows of A that have less room than they may need. */
hybrid_status hy_row_too_long(const hy_lane *lane, int64_t row, int lanes, int64_t bound,
                              int64_t room);

/* A long row is added up in stretches of HY_UNCHECKED products or less, in their order. */
typedef struct hy_stretch {
    hy_row        row;      /* the terms of this one; all else is that of the whole row */
    const hy_row *whole;
    int64_t       term, at; /* where the next one begins: so far into that term */
    hy_term       part;     /* of a term that is longer */
} hy_stretch;

/* spgemm_host_work.c: the first or the next one; 0: there are no more. Begun with {.whole}
   alone. */
int hy_stretch_next(hy_stretch *stretch, hybrid_type type);
/* So many rows more are done; CANCELLED if the call is to end. To be asked every HY_UNCHECKED
   products or so. */
hybrid_status hy_seat_check(const hy_seat *seat, int64_t rows);

/* spgemm_host_rows.c: the loop over the rows of a chunk, for the three variants.
   `lanes`: how many rows of equal pattern `make` takes at once. */
hybrid_status hy_spgemm_host_run(hy_lane *lane, hy_job *job, hy_row_fn make, int lanes);

/* spgemm_host_work.c: seconds if a product takes `cycles` of a core, and an entry of C a few more. */
hy_cost hy_spgemm_host_cost(const hy_features *f, const hy_rates *r, double cycles);

/* spgemm_host_sort.c: sort keys (column << 32 | anything) by column, ascending; equal
   columns keep their order. Columns span less than 2^bits. `spare` has room for n. */
void hy_sort_by_column(uint64_t *keys, uint64_t *spare, int64_t n, int bits);

#endif /* HY_SPGEMM_HOST_H */
