/* io/formats/raw.h - matrices as raw numbers in files, described by a JSON file.

   The JSON file holds one object. Its first member is "format"; only "ld", "offset",
   "begin" and "end" are optional:

     {"format": "hybrid-dense", "version": 1, "rows": 4, "cols": 2, "type": "f32",
      "order": "row", "ld": 2, "values": {"file": "x.bin", "offset": 0}}

     {"format": "hybrid-csr", "version": 1, "rows": 4, "cols": 4, "nnz": 7,
      "type": "f64", "row_ptr": {"file": "a.bin", "offset": 0, "type": "i64"},
      "col": {"file": "a.bin", "offset": 40, "type": "i32"},
      "values": {"file": "a.bin", "offset": 72}}

     {"format": "hybrid-rows", "version": 1,
      "parts": [{"file": "a.json"}, {"file": "b.npz", "begin": 10, "end": 20}]}

   The last form is a matrix whose rows are those of other matrices, each in a file of any
   format, or rows [begin, end) of such a matrix.

   The forms need only whole numbers, strings, objects and one list of objects, so the
   reader knows no other values, and names the line of each fault (docs/decisions/0012). */
#ifndef HY_RAW_H
#define HY_RAW_H

#include "io/text/io.h"

/* An array in a file of numbers. */
typedef struct hy_raw_array {
    const char *name; /* name of the file of numbers, within the input's text, with JSON
                         escapes */
    size_t length;
    int64_t offset; /* position of the array's first byte in its file */
    int64_t type;   /* hybrid_index of offsets or column indices; not set for values */
} hy_raw_array;

/* A matrix, or some of its rows, in another file. */
typedef struct hy_raw_part {
    hy_raw_array file;
    int64_t begin, end; /* rows [begin, end); end is -1 for the last row of the file */
} hy_raw_part;

typedef enum hy_raw_form { HY_RAW_DENSE = 1, HY_RAW_CSR, HY_RAW_ROWS } hy_raw_form;

typedef struct hy_raw_header {
    hy_raw_form form;
    int64_t parts; /* number of parts, at least 1; HY_RAW_ROWS sets `form`, `parts` and
                      `version` only */
    int64_t version, rows, cols;
    int64_t type;              /* hybrid_type of the values */
    int64_t order, ld;         /* `order` (hybrid_order) and `ld` (leading dimension in
                                  elements) are set for a dense matrix only */
    int64_t nnz;               /* number of entries; set for a sparse matrix only */
    hy_raw_array row_ptr, col; /* offsets and columns; set for a sparse matrix only */
    hy_raw_array values;
} hy_raw_header;

/* Parses the whole text of a description. BAD_FILE names file, line and reason.
   Guarantees that sizes, byte counts and the ends of arrays fit 64 bits. */
hybrid_status hy_raw_parse(hy_context *ctx, const hy_input *input, hy_raw_header *out);

/* Checks the sizes of a header, and sets a missing `ld`. `end` is the end of the text, for
   messages. hy_raw_parse() calls this function. */
hybrid_status hy_raw_check(hy_context *ctx, const hy_input *input, const char *end,
                           hy_raw_header *header);

/* Writes the parts in a description, which hy_raw_parse() has accepted, to the array
   `parts`, which has room for hy_raw_header.parts elements. */
hybrid_status hy_raw_parse_parts(hy_context *ctx, const hy_input *input,
                                 hy_raw_part *parts);

#endif /* HY_RAW_H */
