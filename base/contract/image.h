/* base/contract/image.h - how an operand lies on a device, where all chunks read it: a
   value.

   The operand is B in CSR, or X. Its image is there whole, or as a ring of blocks of rows
   or of columns of X: block k is at place k mod places, and comes when no chunk needs
   block k - places any more:

       whole           one block
       row blocks      each row of X is a block; a chunk reads some that follow each other
       column blocks   chunks of one block compute while the next one comes
       gathered        nothing is there: each chunk brings the rows that it touches

   All functions are pure. */
#ifndef HY_IMAGE_H
#define HY_IMAGE_H

#include "hybrid_spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In which order elements lie.

       CSR     the arrays of B: row_ptr, col, val, each aligned to 256
       ROWS    rows of X: those of one column block after those of the one before it. Rows
               of more than 8 bytes take whole 16, so that whatever their number the
               columns can be read in vectors; zeros fill them up
       SLABS   HY_X_SLAB rows of X after the other, each slab column after column */
typedef enum hy_form { HY_FORM_NONE, HY_FORM_CSR, HY_FORM_ROWS, HY_FORM_SLABS } hy_form;

/* Of what lies so: X, and the part of Y that a chunk makes of it. */
static inline hybrid_order hy_form_order(hy_form form)
{
    return form == HY_FORM_SLABS ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
}

typedef enum hy_axis {
    HY_AXIS_NONE,    /* whole */
    HY_AXIS_ROWS,    /* a ring of rows */
    HY_AXIS_COLS,    /* blocks of columns */
    HY_AXIS_GATHERED /* each chunk brings the rows that it touches */
} hy_axis;

enum {
    HY_X_SHIFT = 14,
    HY_X_SLAB  = 1 << HY_X_SHIFT,
    HY_X_LINE  = 128, /* bytes of the device's lines */
    HY_X_TAIL  = 16,  /* most bytes of tail columns */
    HY_RING_PIECES = 8 /* a ring of rows is filled in pieces of that part of it, or smaller */
};

typedef struct hy_image {
    hy_form form; /* NONE: there is no image */
    hybrid_type type;
    int64_t rows, cols, nnz; /* of the operand; nnz: of B */
    int tail_lines; /* ROWS, > 0: where rows have so many whole lines or more, up to HY_X_TAIL
                       bytes that are more are tail columns: they lie behind all rows, as
                       rows of their own, so that no row takes a line more than it must */
    hy_axis axis;   /* of NONE and GATHERED what follows is 0 */
    int64_t block;  /* rows or columns of a block */
    int64_t places; /* blocks that are there at once */

    /* Of column blocks. Block k begins at column k block - back, the first at 0; the last
       ends where X does. */
    int64_t last;  /* columns that the last one may have: block, or more */
    int64_t pitch; /* columns from one place to the next; the last place is `last` wide */
    int64_t back;  /* of a run, less than block: with it blocks begin where lines of Y do */
} hy_image;

/* Whole. The second: of a form for dense operands. */
hy_image hy_image_of_csr(int64_t rows, int64_t cols, int64_t nnz, hybrid_type type);
hy_image hy_image_of_dense(hy_form form, int64_t rows, int64_t cols, hybrid_type type,
                           int tail_lines);

/* The same of which so many rows are there at once. Tail columns lie in their rows. */
hy_image hy_image_row_ring(const hy_image *whole, int64_t rows);

/* Rows that a chunk may touch with a ring of so many: those that come with the last of
   them must find a place as well. */
int64_t hy_ring_most(int64_t rows);

/* Chunks that there should be at least of an X of so many rows, so that some touch the
   rows of its ring at once; 1 if `ring` is 0. */
int64_t hy_ring_chunks(int64_t ring, int64_t rows);

/* ---- bytes ---- */

size_t hy_image_bytes(const hy_image *image); /* of all blocks, which are sent; of a gathered
                                                 one, as if it were whole */
size_t hy_image_room(const hy_image *image);  /* of those that are there at once */

static inline int hy_image_is_gathered(const hy_image *image)
{
    return image->axis == HY_AXIS_GATHERED;
}

/* ---- blocks ---- */

int64_t hy_image_blocks(const hy_image *image);     /* 1 if it is whole */
int64_t hy_image_col_blocks(const hy_image *image); /* 1 if they are rows */

/* The block that holds element (row, col). */
int64_t hy_image_block_of(const hy_image *image, int64_t row, int64_t col);

/* Of a column block: where it begins, one beyond the last begins where the columns end;
   and its columns. */
int64_t hy_image_begin(const hy_image *image, int64_t k);
int64_t hy_image_width(const hy_image *image, int64_t k);

/* Rows that lie one after the other: those of the ring, or all. */
int64_t hy_image_rows_there(const hy_image *image);

/* ---- regions ---- */

enum { HY_CSR_OFFSETS, HY_CSR_COLS, HY_CSR_VALUES }; /* regions of B */

/* What lies together: a column block of X, or all of its columns; an array of B. */
typedef struct hy_region {
    int64_t begin, cols; /* columns of X */
    int64_t ld;          /* elements from row to row; SLABS: 0 */
    int64_t tail;        /* so many of the columns, the last, are tail columns, */
    int64_t tail_ld;     /* their rows so many elements from each other */
    int64_t elements;    /* all of them, */
    int64_t before;      /* and those of the column blocks before it */
    size_t size;         /* bytes of an element */
    size_t at;           /* where it lies on the device */
} hy_region;
hy_region hy_image_region(const hy_image *image, int64_t k);
hy_region hy_image_region_of(const hy_image *image, int64_t col); /* of a column of X */

/* Where its element, its row, or the tail columns of its row lie on the device. */
size_t hy_image_at(const hy_image *image, const hy_region *region, int64_t element);
size_t hy_image_row_at(const hy_image *image, const hy_region *region, int64_t row);
size_t hy_image_tail_at(const hy_image *image, const hy_region *region, int64_t row);

/* Elements of a row, wherever they lie. */
static inline int64_t hy_region_row(const hy_region *region)
{
    return region->ld + region->tail_ld;
}

/* Columns of X, of so many, that are tail columns. */
int64_t hy_tail_cols(int tail_lines, hybrid_type type, int64_t cols);

/* Whether elements follow each other as those of X do in memory without gaps, in *order. */
int hy_image_is_flat(const hy_image *image, hybrid_order *order);

/* ---- a ring while it is filled, region by region ---- */

/* Where a piece ends that begins at element `begin` and should end at `end`: within a ring
   of rows, and so short that a chunk need not wait for what comes with its rows. */
int64_t hy_image_piece(const hy_image *image, const hy_region *region, int64_t begin,
                       int64_t end);

/* Blocks, the first ones, that no chunk may need any more before elements up to `end` of
   region k come. */
int64_t hy_image_displaced(const hy_image *image, int64_t k, int64_t end);

/* Elements, those of regions before counted, that hold rows [0, row) of the block of a
   column. Not of B: entries are its rows' own. */
int64_t hy_image_elements_for(const hy_image *image, int64_t row, int64_t col);

/* ---- column blocks of a run, whose place in Y is known ---- */

/* Most that hy_image_move() makes of `back`. */
int64_t hy_image_most_back(const hy_image *image);

/* Move blocks so that all but the first begin where lines of the host's cache do in Y, if
   they can. */
void hy_image_move(hy_image *image, const hybrid_dense *Y);

#ifdef __cplusplus
}
#endif
#endif /* HY_IMAGE_H */
