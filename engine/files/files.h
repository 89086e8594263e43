/* engine/files/files.h - what products of operands in files have in common.

   A is read in parts. For each part only the rows of B that it touches are read. Each
   part is planned and computed as a product of its own; its rows of C or Y follow those
   of the part before it. An operand that takes at most a quarter of free host memory is
   read completely. */
#ifndef HY_FILES_H
#define HY_FILES_H

#include "engine/files/file.h"
#include "engine/run/multiply.h"
#include "partition/parts/a_part.h"
#include "partition/parts/b_rows.h"

/* State of one call of a public function that takes operands in files. */
typedef struct hy_files {
    hybrid_engine *engine;
    hybrid_plan_options options; /* options of each part's product */
    hy_beginning start;
    hybrid_report report;                       /* sum of the reports of all finished
                                                   parts */
    const hy_backend *backends[HY_MAX_DEVICES]; /* backends of the last part */
    int count;
    int shrink; /* shares of free memory, and the memory of plans, are divided by this: 1 at
                   first */
} hy_files;

/* A sparse operand, in memory or in a file. */
typedef struct hy_sparse {
    hy_source source;
    const hybrid_csr *unchecked; /* matrix in the caller's memory, until it is checked;
                                    else NULL */
    hybrid_csr own; /* the matrix, if it was read from a file completely; else zero */
} hy_sparse;

/* Begins a call and checks its options. NULL means the default options. */
hybrid_status hy_files_begin(hy_files *call, hybrid_engine *engine,
                             const hybrid_plan_options *options);

/* hy_files_add() adds the report of a finished part. hy_files_end() completes the report
   and stores it in the engine. up_bytes is the size of the operands, down_bytes that of
   the result. */
void hy_files_add(hy_files *call, const hybrid_plan *plan);
void hy_files_end(hy_files *call, int64_t up_bytes, int64_t down_bytes);

/* Reports the reading of a part of A to the caller's trace. */
void hy_files_read(const hy_files *call, const hy_a_part *part);

/* Reports the gathering of rows of B for rows of A from `row` on to the caller's trace.
 */
void hy_files_gathered(const hy_files *call, const hy_b_rows *rows, int64_t row);

/* hy_sparse_find() finds and checks an operand, except for the arrays of an operand in
   memory. hy_sparse_check() checks these arrays (offsets only; everything with
   HYBRID_CHECK) and narrows 64-bit columns. */
hybrid_status hy_sparse_find(const hy_files *call, const hybrid_operand *operand,
                             const char *name, hy_sparse *out);
hybrid_status hy_sparse_check(const hy_files *call, hy_sparse *sparse, const char *name);

/* Finds and checks a dense operand. */
hybrid_status hy_dense_find(const hy_files *call, const hybrid_operand *operand,
                            const char *name, hy_source *out);

/* Checks that exactly one member of the operand is set. */
hybrid_status hy_operand_check(const hy_files *call, const hybrid_operand *operand,
                               const char *name);

/* Reads an operand in a file completely if it has at most hy_files_whole() bytes.
   hy_sparse_free() frees what was read. */
hybrid_status hy_sparse_read_small(const hy_files *call, hy_sparse *sparse);
void hy_sparse_free(const hy_files *call, hy_sparse *sparse);

int64_t hy_sparse_bytes(const hy_sparse *sparse);

/* Returns the bytes of free host memory, or an assumption if the engine has no limit. */
int64_t hy_files_free(const hy_files *call);

/* Return the maximum bytes of:
     hy_files_part_bytes()  a part of A
     hy_files_rows()        rows of B for a range of rows of A. Two ranges are in memory.
                            to_file: 1 if the result goes to a file, else 0
     hy_files_row()         rows of B for a single row of A, if those for the next row are
                            gathered meanwhile
     hy_files_whole()       an operand that is read completely */
int64_t hy_files_part_bytes(const hy_files *call, const hy_sparse *A);
int64_t hy_files_rows(const hy_files *call, int to_file);
int64_t hy_files_row(const hy_files *call);
int64_t hy_files_whole(const hy_files *call);

#endif /* HY_FILES_H */
