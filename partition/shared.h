/* partition/shared.h - B or X whole, as the device holds it for all chunks: the image,
   made piece by piece by any thread (shared.c, shared_x.c), and where what of it lies
   (x_panels.c). */
#ifndef HY_SHARED_H
#define HY_SHARED_H

#include "partition/pack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the arrays of the image start: of B, row_ptr at 0; of X, val at 0. */
typedef struct hy_shared_layout {
    size_t col, val, bytes;
} hy_shared_layout;
hy_shared_layout hy_shared_layout_of(const hy_problem *problem);

/* B: row_ptr | col | val, each aligned to 256. X: rows, in panels of columns one after the
   other; or, in_cols, in slabs.
   Rows of more than 8 bytes take whole 16, so that whatever their number the columns can
   be read in vectors; zeros fill them up. In_lines, up to HY_X_REST bytes that are more
   than in_lines or more whole lines of HY_X_LINE bytes lie behind all rows, as rows of
   their own: so no row takes a line more than it must, and of what lies apart more is in a
   line. */
enum { HY_X_LINE = 128, HY_X_REST = 16 };

/* How many of so many columns lie apart with a variant that is so in_lines, but in a
   window. */
int64_t hy_x_rest(int in_lines, hybrid_type type, int64_t cols);

size_t hy_shared_bytes(const hy_problem *problem);

/* What the device needs for it: less where not all panels are there at once. */
size_t hy_shared_room(const hy_problem *problem);

/* How many panels there are of so many columns, and where panel k of them begins; the one
   after the last begins where the columns end. */
int64_t hy_panels_number(const hy_panels *panels, int64_t cols);
int64_t hy_panels_begin(const hy_panels *panels, int64_t cols, int64_t k);
int64_t hy_panels_width(const hy_panels *panels, int64_t cols, int64_t k);

/* How many of the columns of the panel that begins at column `begin` are the last of X:
   only the first panel has such, and only if panels wrap. */
int64_t hy_panels_ends(const hy_panels *panels, int64_t begin);

/* hy_panels.back for a run: with it all panels but the first begin where lines of the
   host's cache do in Y, if they can. It is never more than hy_panels_most_back(). */
int64_t hy_panels_back(const hy_panels *panels, const hybrid_dense *Y);
int64_t hy_panels_most_back(const hy_panels *panels, hybrid_type type);

/* Panels that wrap, for a run whose X and Y have rows without gaps and are copied from
   and to where they are: the end of a row and the beginning of the next are neighbours,
   so what the first panel has of both goes in one piece, and all but the first and the
   last piece are whole lines of HY_X_LINE bytes in Y. 0 columns: they are no such lines.
 */
hy_panels hy_panels_wrapped(const hy_panels *panels, const hybrid_dense *X,
                            const hybrid_dense *Y);

/* A panel of X; X whole is the only one. */
typedef struct hy_x_panel {
    int64_t begin, cols; /* columns of X; if panels wrap, */
    int64_t wrapped;     /* so many of them, the last, are the last of X */
    int64_t ld;          /* elements from row to row */
    int64_t rest;        /* so many of the columns, the last, lie apart, */
    int64_t rest_ld;     /* their rows so many elements from each other */
    int64_t first, end;  /* its elements in the image */
    size_t at;           /* where it lies on the device */
} hy_x_panel;
hy_x_panel hy_shared_panel(const hy_problem *problem, int64_t panel);

/* The panel of a column, that of an element of the image, and their number. */
int64_t hy_shared_panel_of(const hy_problem *problem, int64_t col);
hy_x_panel hy_shared_panel_at(const hy_problem *problem, int64_t element);
int64_t hy_shared_panels(const hy_problem *problem);

/* Copies of rows [first, first + rows) of a panel from the caller's X to problem->shared:
   their lines and what lies apart of them, or what panels that wrap have of them. Returns
   how many copies, at most HY_ROW_COPIES; 0: X does not lie in such rows, or the device
   fills them up. */
int hy_shared_rows(const hy_problem *problem, const hy_x_panel *x, int64_t first,
                   int64_t rows, hy_row_copy copies[HY_ROW_COPIES]);

/* Rows of which the last `wrapped` bytes are at the end of rows a pitch long: the
   beginning of the first, ends and beginnings together, the end of the last. Returns how
   many copies; one if none are wrapped. */
int hy_wrap_rows(const hy_row_copy *rows, size_t wrapped,
                 hy_row_copy copies[HY_ROW_COPIES]);

/* B of that image, at problem->shared. */
hy_csr_view hy_shared_b(const hy_problem *problem);

/* Where bytes [at, at + bytes) of that image lie just so in the caller's own arrays;
   NULL if they do not. */
const void *hy_shared_source(const hy_problem *problem, size_t at, size_t bytes);

/* Write bytes [at, at + bytes) of that image to dst. Any thread. */
void hy_shared_fill(const hy_problem *problem, size_t at, size_t bytes, char *dst);

/* The same of rows [row, row + rows) of a panel: what is in its lines, and what lies apart
   of them. */
void hy_shared_fill_rows(const hy_problem *problem, const hy_x_panel *x, int64_t row,
                         int64_t rows, char *lines, char *rest);

/* Bytes [at, at + bytes), whole elements, of these rows of a panel, column after column. */
void hy_shared_fill_columns(const hy_problem *problem, const hy_x_panel *x, int64_t row,
                            int64_t rows, size_t at, size_t bytes, char *dst);

/* shared_x.c: elements [begin, end) of the image of X, `source` being the problem; and
   whether X lies in memory as its image does. */
void hy_shared_x_elements(const void *source, int64_t begin, int64_t end, char *dst);
int hy_shared_x_is_flat(const hy_problem *problem);

#ifdef __cplusplus
}
#endif
#endif /* HY_SHARED_H */
