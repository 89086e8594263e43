/* io/arrays/raw.h - matrices as raw numbers in files, which a file of JSON describes.

   One object, of which "format" is the first member; all members are needed but "ld" and
   "offset":

       {"format": "hybrid-dense", "version": 1, "rows": 4, "cols": 2, "type": "f32",
        "order": "row", "ld": 2, "values": {"file": "x.bin", "offset": 0}}

       {"format": "hybrid-csr", "version": 1, "rows": 4, "cols": 4, "nnz": 7, "type": "f64",
        "row_ptr": {"file": "a.bin", "offset": 0, "type": "i64"},
        "col": {"file": "a.bin", "offset": 40, "type": "i32"},
        "values": {"file": "a.bin", "offset": 72}}

   No other values than these are in it, so the reader knows whole numbers, strings and
   objects, and says of each fault in which line it is (docs/decisions/0012). */
#ifndef HY_RAW_H
#define HY_RAW_H

#include "io/text/io.h"
#include "partition/move/csr_file.h"
#include "partition/move/sources.h"

/* An array in a file. */
typedef struct hy_raw_array {
    const char *name; /* in the text of the input, as it stands there between quotes */
    size_t length;
    int64_t offset; /* bytes */
    int64_t type;   /* hybrid_index, of offsets and columns */
} hy_raw_array;

typedef struct hy_raw_header {
    int sparse;
    int64_t version, rows, cols;
    int64_t type;              /* hybrid_type */
    int64_t order, ld;         /* dense: hybrid_order; elements */
    int64_t nnz;               /* sparse */
    hy_raw_array row_ptr, col; /* sparse */
    hy_raw_array values;
} hy_raw_header;

/* All of the text; BAD_FILE names file, line and reason. What it announces fits 64 bits:
   sizes, bytes, and where arrays end. */
hybrid_status hy_raw_parse(hy_context *ctx, const hy_input *input, hy_raw_header *out);

/* Open an array of so many bytes of a file that is described by the input. */
hybrid_status hy_raw_open(hy_context *ctx, const hy_input *input,
                          const hy_raw_array *array, int64_t bytes, hy_stored *out);

/* A matrix that stays where it is: one of the two, the other is zeroed. */
typedef struct hy_raw_matrix {
    int sparse;
    hy_dense_file dense;
    hy_csr_file csr;
} hy_raw_matrix;

/* `out` is zeroed after a failure. */
hybrid_status hy_raw_open_matrix(hy_context *ctx, const char *path, hy_raw_matrix *out);
void hy_raw_close_matrix(hy_raw_matrix *matrix);

/* A sparse one, read as a whole; to be freed with hy_csr_free(). All its rules are verified. */
hybrid_status hy_raw_read_csr(hy_context *ctx, const char *path, hybrid_csr *out);

#endif /* HY_RAW_H */
