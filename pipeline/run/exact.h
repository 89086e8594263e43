/* pipeline/run/exact.h - turns a planned chunk, whose numbers are estimates, into chunks
   with exact numbers. */
#ifndef HY_EXACT_H
#define HY_EXACT_H

#include "pipeline/site/site.h"

/* Operands, and the site whose slots and ring chunks must fit. */
typedef struct hy_exact {
    const hy_site *site;
    const hybrid_csr *A, *B;
    const hy_lengths *lengths; /* lengths of the rows of B */
    int with_own;              /* 1: kernels read the chunk's rows of A as rows of B */
} hy_exact;

/* Appends the chunks that rows [begin, end) of a planned chunk become: one, or several
   smaller ones if one would not fit the site's slots. x_begin and x_end are the first row
   of B that a chunk touches, and the end of these rows. If B passes through a ring of
   entries, a chunk that touches more of it than the ring stores twice brings its rows of
   B itself, as all chunks do with `gathers` 1: it has features.gather_rows, and x_end is
   0. The caller frees the array, also after a failure. */
hybrid_status hy_exact_cut(const hy_exact *exact, const hy_chunk *planned, int64_t begin,
                           int64_t end, int gathers, hy_chunk_array *out);

/* Joins two chunks that follow each other. Returns 0, and *out is undefined, if the
   joined chunk would not fit a slot or the ring, or if only one of the two brings its
   rows of B. */
int hy_exact_join(const hy_exact *exact, const hy_chunk *first, const hy_chunk *next,
                  hy_chunk *out);

/* Returns 1 if the chunk brings its rows of B although B has an image. */
static inline int hy_exact_gathers(const hy_chunk *chunk, const hy_image *image)
{
    return image->axis == HY_AXIS_ENTRIES && chunk->features.gather_rows > 0;
}

#endif /* HY_EXACT_H */
