/* io/arrays/npy.h - the header of a NumPy .npy file. */
#ifndef HY_NPY_H
#define HY_NPY_H

#include "io/text/io.h"

typedef struct hy_npy_header {
    hybrid_type type;
    hybrid_order order;
    int64_t rows, cols;
    int64_t bytes;    /* bytes of all values that the header announces */
    const char *data; /* address of the first value in the window (the part of the file in
                         memory) */
} hy_npy_header;

/* Returns 1 if the input begins like a .npy file. */
int hy_npy_is(const hy_input *input);

/* Reads and checks the header. If the window holds the whole file, also checks the number
   of bytes behind the header. Fails with BAD_FILE and a sentence. */
hybrid_status hy_npy_read_header(hy_context *ctx, const hy_input *input,
                                 hy_npy_header *out);

/* Checks `found`, the number of data bytes up to the end of the window. BAD_FILE if there
   are too many, or if the file ends with this window and there are too few. */
hybrid_status hy_npy_check_bytes(hy_context *ctx, const hy_input *input,
                                 const hy_npy_header *header, int64_t found);

#endif /* HY_NPY_H */
