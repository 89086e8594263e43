/* host/spgemm/spgemm_host.h - a row of C = A*B, and the accumulators that make rows.

   In these files a product is a scalar product. A row of A becomes terms: the begin and
   end of each row of B that it names. An accumulator adds the products of the terms and
   writes the row of C sorted by column. Products of one entry of C are rounded, then
   added to +0 in the order of A's row, so all accumulators give the same bits. */
#ifndef HY_SPGEMM_HOST_H
#define HY_SPGEMM_HOST_H

#include "base/contract/variant.h"
#include "host/backend/host_lane.h"

typedef struct hy_term {
    int64_t begin, end; /* entries of B, [begin, end) */
} hy_term;

/* A row of C to be made. With lanes > 1 it stands for `lanes` rows of C, whose rows of A
   have entries in the same columns. */
typedef struct hy_row {
    const hy_term *terms;
    int64_t        count;
    const int32_t *b_col;
    const void    *b_val;
    int64_t        b_entries;        /* number of elements of b_col and b_val that may be
                                        read; 0: only the elements of the terms may be
                                        read */
    int64_t        products;         /* scalar products of each of the rows */
    int64_t        bound;            /* upper bound on the entries of each row of C */
    int64_t        room;             /* entries that each row of C has memory for: at
                                        least `bound` */
    int32_t        col_min, col_max; /* smallest and largest column of the scalar products
                                        of the row; INT32_MAX and -1 if there are none */
    int            lanes;            /* number of rows of C that are made together, 1 to 4 */
    int            shuffled;         /* 1: columns of a term may be in any order; 0: they
                                        ascend */
    const void    *a[4];             /* for each of the `lanes` rows: its values of A, one
                                        for each term */
    int32_t       *col[4];           /* for each of the `lanes` rows of C: memory for its
                                        columns */
    void          *val[4];
} hy_row;

typedef struct hy_recipes hy_recipes; /* recipes of a worker: notes on how it made earlier
                                         rows, for rows with the same pattern */

/* Context of the code that makes rows on a worker. */
typedef struct hy_seat {
    hy_lane    *lane;    /* lane that provides the workspaces */
    hybrid_type type;
    hy_recipes *recipes; /* NULL: the worker has no recipes */
} hy_seat;

/* Makes the row or rows that `row` describes. Sets *nnz to the entries of each of them,
   which is the same number. Fails with NO_MEMORY if a workspace cannot grow. */
typedef hybrid_status (*hy_row_fn)(const hy_seat *seat, const hy_row *row, int64_t *nnz);

/* spgemm_host_dense.c: makes up to 4 rows in a dense window, which is an array with an
   element for each column of [col_min, col_max]. row->lanes is 1 to 4. */
hybrid_status hy_row_dense(const hy_seat *seat, const hy_row *row, int64_t *nnz);
/* spgemm_host_hash.c: makes a row in a hash table with 2 to 4 places for each possible
   entry. row->lanes must be 1. */
hybrid_status hy_row_hash(const hy_seat *seat, const hy_row *row, int64_t *nnz);
/* spgemm_host_few.c: makes a row. The caller ensures that the row has at most HY_FEW
   scalar products, and no more than B has columns, and that `row` is a single row
   (row->lanes is 1). */
hybrid_status hy_row_few(const hy_seat *seat, const hy_row *row, int64_t *nnz);

/* spgemm_host_recipe.c: makes a row by the recipe of an earlier row of this worker with
   the same columns, all moved by the same distance. If there is no such recipe, calls
   `make`.

   Values of rows made by a recipe are computed later. The caller must keep the terms of
   these rows, and the memory for their values, until hy_recipes_finish(). */
hybrid_status hy_row_recipe(const hy_seat *seat, const hy_row *row, hy_row_fn make,
                            int64_t *nnz);
hybrid_status hy_recipes_open(hy_seat *seat); /* sets seat->recipes; to NULL if this CPU
                                                 has no AVX-512 */
void          hy_recipes_finish(const hy_seat *seat);

enum { HY_FEW = 128 };

/* A row of C that all workers make together. */
typedef struct hy_huge {
    hy_lane          *lane;
    const hybrid_csr *A, *B;
    int64_t           row;  /* index of the row in A */
    hy_row_fn         make; /* makes the part of the row that lies in a range of columns;
                               it is called with a single row (lanes is 1) and without
                               recipes (seat->recipes is NULL) */
    int64_t           room; /* number of entries that col and val have memory for */
    int32_t          *col;
    void             *val;
} hy_huge;

/* spgemm_host_huge.c: makes the row with all workers. The result has the same bits as
   that of `make`. The worker that runs the lane calls this. */
hybrid_status hy_row_huge(const hy_huge *huge, int64_t *nnz);

/* spgemm_host_work.c: sets row->products, bound, col_min and col_max from the terms. */
void hy_row_measure(const hybrid_csr *B, hy_row *row);
/* spgemm_host_work.c: returns an error with the message that `lanes` rows of C from `row`
   on may need `bound` entries and there is memory for `room`. */
hybrid_status hy_row_too_long(const hy_lane *lane, int64_t row, int lanes, int64_t bound,
                              int64_t room);

/* Iterator over the stretches of a row with many scalar products. A stretch is a run of
   at most HY_UNCHECKED of them, in their order. After each stretch, a thread checks
   whether the call is cancelled. */
typedef struct hy_stretch {
    hy_row        row;      /* the present stretch (run of scalar products): a copy of
                               *whole with only some of its terms */
    const hy_row *whole;
    int64_t       term, at; /* where the next stretch starts: index of the term, and
                               number of scalar products of that term that earlier
                               stretches took */
    hy_term       part;     /* if a term is longer than a stretch: the part of it that
                               makes up the stretch */
} hy_stretch;

/* spgemm_host_work.c: sets stretch->row to the next stretch and returns 1; returns 0 if
   none is left. Before the first call only `whole` is set. */
int hy_stretch_next(hy_stretch *stretch, hybrid_type type);
/* spgemm_host_work.c: counts `rows` more finished rows for the progress report, and
   returns CANCELLED if the call is cancelled. Code that makes rows calls this about every
   HY_UNCHECKED scalar products. */
hybrid_status hy_seat_check(const hy_seat *seat, int64_t rows);

/* spgemm_host_rows.c: computes a chunk of C, for the variants spgemm.host.rows, dense and
   hash. `make` makes up to `lanes` rows of equal pattern at once. */
hybrid_status hy_spgemm_host_run(hy_lane *lane, hy_job *job, hy_row_fn make, int lanes);

/* spgemm_host_work.c: predicts the cost of a chunk if a scalar product takes `cycles`
   cycles of a core. */
hy_cost hy_spgemm_host_cost(const hy_features *f, const hy_rates *r, double cycles);

/* spgemm_host_sort.c: sorts n keys (column << 32 | anything) by ascending column; equal
   columns keep their order. The caller ensures that columns are below 2^bits and that
   `spare` has room for n keys. */
void hy_sort_by_column(uint64_t *keys, uint64_t *spare, int64_t n, int bits);

#endif /* HY_SPGEMM_HOST_H */
