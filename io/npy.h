/* io/npy.h - the header of a NumPy .npy file. */
#ifndef HY_NPY_H
#define HY_NPY_H

#include "io/io.h"

typedef struct hy_npy_header {
    hybrid_type type;
    hybrid_order order;
    int64_t rows, cols;
    const char *data; /* rows * cols values, up to the end of the source */
} hy_npy_header;

/* 1 if the source begins like a .npy file. */
int hy_npy_is(const hy_source *source);

/* Everything is checked, the number of bytes that follow included. */
hybrid_status hy_npy_read_header(hy_context *ctx, const hy_source *source,
                                 hy_npy_header *out);

#endif /* HY_NPY_H */
