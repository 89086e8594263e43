/* io/arrays/npy.h - the header of a NumPy .npy file. */
#ifndef HY_NPY_H
#define HY_NPY_H

#include "io/text/io.h"

typedef struct hy_npy_header {
    hybrid_type type;
    hybrid_order order;
    int64_t rows, cols;
    int64_t bytes;    /* of rows * cols values, up to the end of the file: */
    const char *data; /* the first of them */
} hy_npy_header;

/* 1 if the input begins like a .npy file. */
int hy_npy_is(const hy_input *input);

/* Everything is checked; the number of bytes that follow, too, if all are in the window.
 */
hybrid_status hy_npy_read_header(hy_context *ctx, const hy_input *input,
                                 hy_npy_header *out);

/* `found` bytes of data came up to the end of the window. BAD_FILE if the file ends with
   it and these are too few, or if they are too many. */
hybrid_status hy_npy_check_bytes(hy_context *ctx, const hy_input *input,
                                 const hy_npy_header *header, int64_t found);

#endif /* HY_NPY_H */
