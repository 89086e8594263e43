/* host/spmm/spmm_host_loops.c - a piece of Y = alpha*A*X + beta*Y, in this CPU's vectors.

   A row of Y is computed in registers, up to twelve vectors of columns at a time, from
   the rows of X that the row of A names, in its order. Wider rows are cut into blocks of
   columns. All blocks of a row are computed before the next row: equal parts of rows of X
   often lie a power of two apart and would share few sets of the caches.

   Many workers store a Y that is too large for the caches past them, with instructions
   that bypass the caches: Y is then not read before it is written and does not displace
   X. Rows of X are fetched into the cache in advance only if neighbouring rows of A name
   distant ones. */
#include "host/spmm/spmm_host.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "host/backend/vectors.h"

enum {
    MOST = 12,           /* maximum SIMD vectors of a row of Y that are computed together;
                            each holds several columns */
    ROWS = 64,           /* maximum short rows (not cut into segments) that are computed
                            together */
    PART_WORK = 1 << 22, /* target for the work of a part of a piece: scalar products,
                            rows and entries */
    PAIRED = 8           /* rows are summed in pairs if they have at least this many
                            entries on average */
};

/* Returns the id of the first segment of the long row that begins at entry k; ids of the
   next segments follow. Ids are unique, because segments have HY_SEGMENT entries or
   more. */
static inline int64_t segment_id(const hy_dense_product *p, int64_t k)
{
    return (k - hy_offset(p->A, p->row_begin)) / HY_SEGMENT;
}

/* Sets begin[i] to the index in A of the first entry of row row + i, for up to ROWS rows
   before `stop` and the row after them. Returns the number of rows before the first long
   one (spmm_host.h). */
static inline int64_t find_rows(const hy_dense_product *p, int64_t row, int64_t stop,
                                int64_t *begin)
{
    const int64_t most = hy_min(stop - row, ROWS);
    int64_t n          = 0;

    begin[0] = hy_offset(p->A, row);
    for (; n < most; n++) {
        begin[n + 1] = hy_offset(p->A, row + n + 1);
        if (hy_segments(begin[n + 1] - begin[n]) > 1)
            break;
    }
    return n;
}

#define HY_LOOPS "host/spmm/spmm_host_loops.inc"
#include "host/backend/each_type.inc"

#define SELF(x) x
#define INSTANCES(is, T, suffix, ...) {HY_EACH_TARGET(SELF, product_##suffix)},

/* [type (hy_type_index())][instruction set (hy_target)] */
static void (*const products[][HY_TARGETS])(const hy_dense_product *p,
                                            const hy_piece *w) = {
    HY_VALUE_TYPES(INSTANCES)};

/* ---- pieces ------------------------------------------------------------------------ */

/* Returns where piece k begins: the first row, or segment of a long row, with about its
   share of the work before it. */
static hy_row_cut find_cut(const hy_dense_product *p, int64_t k)
{
    const int64_t total = hy_work_before(p, p->row_end);
    const int64_t share = total / p->pieces * k + total % p->pieces * k / p->pieces;
    int64_t low = p->row_begin, high = p->row_end;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (hy_work_before(p, middle) < share)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > p->row_begin && hy_work_before(p, low) > share) {
        const int64_t all  = hy_segments(hy_offset(p->A, low) - hy_offset(p->A, low - 1));
        const int64_t into = (share - hy_work_before(p, low - 1)) / HY_SEGMENT;
        if (all > 1 && into < all)
            return (hy_row_cut){low - 1, into};
    }
    return (hy_row_cut){low, 0};
}

void hy_dense_product_piece(const hy_dense_product *p, const hy_piece *w)
{
    products[hy_type_index(p->A->type)][p->target](p, w);
}

/* Returns into how many parts a piece is divided, so that a worker takes a few
   milliseconds for each. */
static int64_t count_parts(const hy_dense_product *p)
{
    const double work = (double)hy_work_before(p, p->row_end) * (double)(p->n + 1);

    return (int64_t)(work / (double)p->pieces / PART_WORK) + 1;
}

hybrid_status hy_dense_product_make_piece(const hy_dense_product *all,
                                          hy_progress *progress, int64_t k)
{
    const int64_t parts    = hy_progress_asked(progress) ? count_parts(all) : 1;
    const int64_t elements = (all->row_end - all->row_begin) * all->n;
    hy_dense_product p     = *all;

    p.pieces *= parts;
    for (int64_t i = k * parts; i < (k + 1) * parts; i++) {
        const hy_piece w = {find_cut(&p, i), find_cut(&p, i + 1)};
        HY_TRY(hy_progress_check(progress));
        (p.y_col == 1 ? hy_dense_product_piece : hy_dense_product_columns)(&p, &w);
        hy_progress_add(progress, elements / p.pieces + (i < elements % p.pieces));
    }
    return HYBRID_OK;
}
