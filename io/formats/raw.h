/* io/formats/raw.h - matrices as raw numbers in files, described by a JSON file.

   The JSON file holds one object. Its first member is "format"; only "ld" and "offset"
   are optional:

     {"format": "hybrid-dense", "version": 1, "rows": 4, "cols": 2, "type": "f32",
      "order": "row", "ld": 2, "values": {"file": "x.bin", "offset": 0}}

     {"format": "hybrid-csr", "version": 1, "rows": 4, "cols": 4, "nnz": 7,
      "type": "f64", "row_ptr": {"file": "a.bin", "offset": 0, "type": "i64"},
      "col": {"file": "a.bin", "offset": 40, "type": "i32"},
      "values": {"file": "a.bin", "offset": 72}}

   The format needs only whole numbers, strings and objects, so the reader knows no other
   values, and names the line of each fault (docs/decisions/0012). */
#ifndef HY_RAW_H
#define HY_RAW_H

#include "io/text/io.h"

/* An array in a file. */
typedef struct hy_raw_array {
    const char *name; /* name of the file in the input's text, with JSON escapes */
    size_t length;
    int64_t offset; /* position of the array in the file, in bytes */
    int64_t type;   /* hybrid_index, if the array holds offsets or columns */
} hy_raw_array;

typedef struct hy_raw_header {
    int sparse;
    int64_t version, rows, cols;
    int64_t type;              /* hybrid_type of the values */
    int64_t order, ld;         /* `order` (hybrid_order) and `ld` (leading dimension in
                                  elements) are set for a dense matrix only */
    int64_t nnz;               /* set for a sparse matrix only */
    hy_raw_array row_ptr, col; /* set for a sparse matrix only */
    hy_raw_array values;
} hy_raw_header;

/* Parses the whole text. BAD_FILE names file, line and reason. Guarantees that sizes,
   byte counts and the ends of arrays fit 64 bits. */
hybrid_status hy_raw_parse(hy_context *ctx, const hy_input *input, hy_raw_header *out);

#endif /* HY_RAW_H */
