/* base/contract/image.h - how an operand lies on a device: a value that all chunks share.

   The operand is B in CSR, or X. It lies on the device whole, or as a ring of blocks.
   Block k of a ring is at position k mod held, and replaces block k - held when no chunk
   needs that block any more:

     whole           one block
     row blocks      each row of X is a block; a chunk reads a contiguous range of rows
     column blocks   a block is a range of columns of X; chunks of one block compute
                     while the next block arrives
     entries         each entry of B is a block; all row offsets of B stay on the device
     gathered        no block is on the device: each chunk brings the rows that it needs
     collected       as gathered, but the device reads the rows from host memory itself
     passes          no block is on the device: each chunk brings all rows of B, one range
                     of rows after another (partition/parts/passes.h)

   All functions are pure. */
#ifndef HY_IMAGE_H
#define HY_IMAGE_H

#include "hybrid_spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Order of elements.

     CSR     the arrays of B: row_ptr, col, val, each aligned to 256 bytes
     ROWS    X row by row; column blocks follow each other. A row of more than 8 bytes
             is padded with zeros to a multiple of 16, so that kernels can read any
             number of columns in vectors.
     SLABS   X in slabs of HY_X_SLAB rows; a slab is stored column by column */
typedef enum hy_form { HY_FORM_NONE, HY_FORM_CSR, HY_FORM_ROWS, HY_FORM_SLABS } hy_form;

/* Returns the order (row- or column-major) of X in this form, and of the part of Y that a
   chunk computes. */
static inline hybrid_order hy_form_order(hy_form form)
{
    return form == HY_FORM_SLABS ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
}

typedef enum hy_axis {
    HY_AXIS_NONE,    /* the whole operand is one block */
    HY_AXIS_ROWS,    /* a ring of rows: each row is a block */
    HY_AXIS_COLS,    /* blocks of columns, as a ring if not all fit */
    HY_AXIS_ENTRIES, /* a ring of entries of B */
    HY_AXIS_GATHERED, /* nothing is on the device: each chunk brings the rows that it
                         touches */
    HY_AXIS_COLLECTED, /* the same, and the device reads these rows of B from pinned host
                          memory, if it can; otherwise workers gather them */
    HY_AXIS_PASSES /* nothing is on the device: each chunk brings all rows of B, in
                      passes */
} hy_axis;

enum {
    HY_X_SHIFT     = 14,
    HY_X_SLAB      = 1 << HY_X_SHIFT,
    HY_X_LINE      = 128, /* bytes of a cache line of the device */
    HY_X_TAIL      = 16,  /* maximum bytes of a row's tail columns, which are its last
                             columns, stored behind all rows */
    HY_RING_PIECES = 8    /* a ring of rows is filled in at least this many pieces */
};

typedef struct hy_image {
    hy_form form; /* HY_FORM_NONE: there is no image */
    hybrid_type type;
    int64_t rows, cols, nnz; /* sizes of the operand; nnz is 0 for X */
    int tail_lines; /* ROWS: a row has tail columns if it consists of at least this many
                       whole device cache lines and 1 to HY_X_TAIL more bytes. These bytes
                       are stored behind all rows; otherwise every row would take one line
                       more. 0: rows have no tail columns. */
    int64_t before, after; /* ROWS: number of first and of last rows of X that are not
                              sent, because chunks of this device touch none of them.
                              Their room on the device is undefined. 0 in rings. */
    hy_axis axis;   /* how the image is divided. If it is HY_AXIS_NONE,
                       HY_AXIS_GATHERED or HY_AXIS_COLLECTED, the fields below are 0. */
    int64_t block;  /* rows, columns or entries of a block; passes: see passes.h */
    int64_t held;   /* number of blocks that the device holds at once; passes: maximum
                       rows of B in a pass */
    int64_t span;   /* ring of entries: maximum entries of the rows of B that a chunk
                       reads. The first `span` entries of the ring are stored again
                       behind its end, so that these entries always follow each other.
                       Passes: maximum entries of B in a pass */

    /* Column blocks only (axis == HY_AXIS_COLS). Block k begins at column k * block -
       back (block 0: at column 0) and ends where block k + 1 begins; the last one ends
       with X. */
    int64_t last;  /* maximum columns of the last block; at least `block` */
    int64_t pitch; /* columns from the start of one held block to the start of the next;
                      the last one has `last` columns */
    int64_t back;  /* columns, 0 to `block` - 1, by which blocks begin earlier in this
                      run. Blocks then begin at cache lines of Y. */
} hy_image;

/* Return the image of an operand that lies on the device as a whole: of a B in CSR, or of
   an X in the form `form`. */
hy_image hy_image_of_csr(int64_t rows, int64_t cols, int64_t nnz, hybrid_type type);
hy_image hy_image_of_dense(hy_form form, int64_t rows, int64_t cols, hybrid_type type,
                           int tail_lines);

/* Limits what is sent of an X in ROWS, whole or in column blocks, to rows [begin, end),
   rounded to whole groups of rows. Does nothing for other forms. */
void hy_image_limit(hy_image *image, int64_t begin, int64_t end);

/* Returns the image of `whole` as a ring that holds `rows` rows at a time. Tail columns
   stay in their rows, because a ring is not split by columns. */
hy_image hy_image_row_ring(const hy_image *whole, int64_t rows);

/* Returns the image of `whole`, which is in CSR, as a ring that holds `held` entries at a
   time, with room for `span` of them to be stored again. */
hy_image hy_image_entry_ring(const hy_image *whole, int64_t held, int64_t span);

/* Returns the image of the same operand if each chunk brings the rows that it touches. */
hy_image hy_image_gathered(const hy_image *image);

/* Returns the number of entries of B before the first entry of the turn of the ring that
   brings `entry`. If a chunk reads nothing before `entry`, entry e that it reads is at
   position e minus this number. */
static inline int64_t hy_entry_ring_base(const hy_image *image, int64_t entry)
{
    return entry / image->held * image->held;
}

/* Returns the maximum number of consecutive rows that a chunk may read from a ring of
   `rows` rows. The rest of the ring has room for the piece that brings the last of these
   rows. */
int64_t hy_ring_max_span(int64_t rows);

/* Returns the minimum number of chunks for an X of `rows` rows in a ring of `ring` rows,
   so that several chunks compute with the rows in the ring. Returns 1 if `ring` is 0. */
int64_t hy_ring_chunks(int64_t ring, int64_t rows);

/* ---- bytes ---- */

/* hy_image_bytes() returns the bytes that are sent: all blocks together, or, for a
   gathered image, the bytes of the whole operand. hy_image_room() returns the bytes of
   device memory; 0 for a gathered image. */
size_t hy_image_bytes(const hy_image *image);
size_t hy_image_room(const hy_image *image);

/* hy_image_is_gathered() returns 1 if each chunk brings the rows that it needs, however
   they reach the device. hy_image_is_collected() returns 1 if the device reads them, and
   hy_image_in_passes() if each chunk brings all rows in passes. */
static inline int hy_image_is_gathered(const hy_image *image)
{
    return image->axis == HY_AXIS_GATHERED || image->axis == HY_AXIS_COLLECTED ||
           image->axis == HY_AXIS_PASSES;
}

static inline int hy_image_is_collected(const hy_image *image)
{
    return image->axis == HY_AXIS_COLLECTED;
}

static inline int hy_image_in_passes(const hy_image *image)
{
    return image->axis == HY_AXIS_PASSES;
}

/* Returns 1 if rows of B or X pass through the device in their order: in a ring of rows
   or of entries. */
static inline int hy_image_is_ring(const hy_image *image)
{
    return image->axis == HY_AXIS_ROWS || image->axis == HY_AXIS_ENTRIES;
}

/* ---- blocks ---- */

/* hy_image_blocks() returns the number of blocks: 1 for a whole image.
   hy_image_col_blocks() returns the number of column blocks: 1 for a whole image or a
   ring of rows. */
int64_t hy_image_blocks(const hy_image *image);
int64_t hy_image_col_blocks(const hy_image *image);

/* Returns 1 if the device receives all rows of the operand and holds them at once: the
   image is one block, or all its column blocks have a place of their own. */
static inline int hy_image_is_complete(const hy_image *image)
{
    return image->form != HY_FORM_NONE && image->before + image->after == 0 &&
           (image->axis == HY_AXIS_NONE ||
            (image->axis == HY_AXIS_COLS && image->held >= hy_image_col_blocks(image)));
}

/* Returns 1 if two complete images of one operand have the same bytes. */
int hy_image_is_same(const hy_image *a, const hy_image *b);

/* Returns the number of the block that holds element (row, col) of X; 0 if the image has
   no blocks of rows or columns. */
int64_t hy_image_block_of(const hy_image *image, int64_t row, int64_t col);

/* hy_image_begin() returns the first column of column block k, or the end of the columns
   if k is the number of column blocks. hy_image_width() returns the block's number of
   columns. */
int64_t hy_image_begin(const hy_image *image, int64_t k);
int64_t hy_image_width(const hy_image *image, int64_t k);

/* Returns the number of rows that the device holds at once: those of the ring, or all. */
int64_t hy_image_rows_held(const hy_image *image);

/* ---- regions ---- */

/* numbers of the regions of B, which are its three arrays */
enum { HY_CSR_OFFSETS, HY_CSR_COLS, HY_CSR_VALUES };

/* A contiguous part of an image: a column block of X (or all its columns), or one array
   of B. */
typedef struct hy_region {
    int64_t begin, cols; /* first column of X and number of columns; of B: number of the
                            array (HY_CSR_OFFSETS, ...) and 1 */
    int64_t ld;          /* elements from one row to the next, without tail columns; 0 for
                            SLABS */
    int64_t tail;        /* number of tail columns, the last ones of the `cols` columns */
    int64_t tail_ld;     /* elements from one row of tail columns to the next */
    int64_t elements;    /* number of elements, padding included */
    int64_t before;      /* number of elements of the image in the column blocks before
                            this region */
    size_t size;         /* bytes of an element */
    size_t at;           /* position on the device, in bytes from the image's start */
} hy_region;
hy_region hy_image_region(const hy_image *image, int64_t k);
/* Returns the region of X that contains column `col`. */
hy_region hy_image_region_of(const hy_image *image, int64_t col);

/* Return offsets on the device in bytes, from the image's start: of element number
   `element` of a region, of its row `row`, and of the tail columns of row `row`. */
size_t hy_image_at(const hy_image *image, const hy_region *region, int64_t element);
size_t hy_image_row_at(const hy_image *image, const hy_region *region, int64_t row);
size_t hy_image_tail_at(const hy_image *image, const hy_region *region, int64_t row);

/* Returns the number of elements that a row takes, tail columns included. */
static inline int64_t hy_region_row(const hy_region *region)
{
    return region->ld + region->tail_ld;
}

/* Elements [hy_image_first(), hy_image_stop()) of a region of X are sent: all of them, or
   those of the rows that the image is limited to. */
static inline int64_t hy_image_first(const hy_image *image, const hy_region *region)
{
    return image->before * hy_region_row(region);
}

static inline int64_t hy_image_stop(const hy_image *image, const hy_region *region)
{
    return region->elements - image->after * hy_region_row(region);
}

/* Returns the number of tail columns of a row of X of `cols` columns: those beyond whole
   device cache lines (HY_X_LINE). It is 0 if they take more than HY_X_TAIL bytes, if the
   row has fewer than `tail_lines` whole lines, or if tail_lines is 0. */
int64_t hy_tail_cols(int tail_lines, hybrid_type type, int64_t cols);

/* Sets *order to the order of the image. Returns 1 if the image is one array without
   gaps, so that an X of this order without gaps can be copied as it is. */
int hy_image_is_flat(const hy_image *image, hybrid_order *order);

/* ---- filling a ring, region by region ---- */

/* Returns where to end a piece that begins at element `begin`: at `end` or before. A
   piece does not cross the end of a ring of rows, and it is short, so that a chunk waits
   for little more than its own rows. */
int64_t hy_image_piece(const hy_image *image, const hy_region *region, int64_t begin,
                       int64_t end);

/* Returns the number of leading blocks whose memory has new contents once elements up to
   `end` of region k are sent; 0 or less: none. No chunk may need these blocks any
   more. */
int64_t hy_image_displaced(const hy_image *image, int64_t k, int64_t end);

/* Returns the number of elements of X, from the first on in the order in which they are
   sent, that hold rows [0, row) of the column block with column `col`. */
int64_t hy_image_elements_for(const hy_image *image, int64_t row, int64_t col);

/* ---- column blocks of a run with a known Y ---- */

/* Returns the most columns by which hy_image_move() can let the blocks of this image
   begin earlier (image->back); 0 if it cannot. */
int64_t hy_image_max_back(const hy_image *image);

/* Sets `back` so that every block but the first begins at a line of the host's cache in
   Y, if the shapes allow that; else to 0. */
void hy_image_move(hy_image *image, const hybrid_dense *Y);

#ifdef __cplusplus
}
#endif
#endif /* HY_IMAGE_H */
