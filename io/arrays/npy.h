/* io/arrays/npy.h - the header of a NumPy .npy file. */
#ifndef HY_NPY_H
#define HY_NPY_H

#include "io/numbers/number_kind.h"
#include "io/text/io.h"

typedef struct hy_npy_header {
    hy_number_kind kind;
    hybrid_order order;
    int axes;           /* number of axes, 1 or 2 */
    int64_t rows, cols; /* an array of one axis has 1 column */
    int64_t bytes;      /* bytes of all values that the header announces */
    const char *data;   /* address of the first value in the window (the part of the file in
                         memory) */
} hy_npy_header;

/* Returns 1 if the input begins like a .npy file. */
int hy_npy_is(const hy_input *input);

/* Reads and checks the header. If the window (the part of the file in memory) is the
   whole file, also checks the number of bytes behind the header. Fails with BAD_FILE and
   a sentence. */
hybrid_status hy_npy_read_header(hy_context *ctx, const hy_input *input,
                                 hy_npy_header *out);

/* Checks `found`, the number of data bytes up to the end of the window. Fails with
   BAD_FILE if there are more than header->bytes, or if the file ends with this window and
   there are fewer. */
hybrid_status hy_npy_check_bytes(hy_context *ctx, const hy_input *input,
                                 const hy_npy_header *header, int64_t found);

/* Bytes of the header that hy_npy_make_header() makes, a multiple of 64. */
enum { HY_NPY_HEADER_BYTES = 128 };

/* Writes a header of version 1.0 to `out`. `descr` is NumPy's name of the numbers, such
   as "<f8". The array has the axes `rows` and `cols`; the axis `rows` only if cols == -1;
   no axis if rows == -1, too. */
void hy_npy_make_header(const char *descr, hybrid_order order, int64_t rows, int64_t cols,
                        char out[HY_NPY_HEADER_BYTES]);

#endif /* HY_NPY_H */
