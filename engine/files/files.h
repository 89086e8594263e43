/* engine/files/files.h - what products of operands in files have in common.

   A is taken by panels of rows, and of B the rows that they touch; each panel is a product
   of its own, planned and computed as any other, whose rows of C or Y follow those of the
   panel before. An operand that takes a small part of memory is read as a whole. */
#ifndef HY_FILES_H
#define HY_FILES_H

#include "engine/files/file.h"
#include "engine/run/multiply.h"

/* A call of one of the public functions. */
typedef struct hy_files {
    hybrid_engine *engine;
    hybrid_plan_options options; /* of each product */
    hy_beginning start;
    hybrid_report report;      /* of the products so far, summed up */
    const hy_backend *backends[HY_MOST_DEVICES]; /* that computed the last of them */
    int count;
} hy_files;

/* A sparse operand, in memory or in a file. */
typedef struct hy_sparse {
    const hybrid_csr *csr;   /* without arrays in a file */
    const hy_csr_file *file; /* NULL: in memory */
    hybrid_csr own;          /* what was read as a whole */
} hy_sparse;

/* Options are checked; NULL: the usual ones. */
hybrid_status hy_files_begin(hy_files *call, hybrid_engine *engine,
                             const hybrid_plan_options *options);

/* A product is done. All are: their operands and results, as they are, have so many bytes. */
void hy_files_add(hy_files *call, const hybrid_plan *plan);
void hy_files_end(hy_files *call, int64_t up_bytes, int64_t down_bytes);

/* The operand, which is checked, but for arrays in memory: that is hy_sparse_check(), of
   offsets, or of all rules with HYBRID_CHECK, and has them narrowed. */
hybrid_status hy_sparse_find(const hy_files *call, const hybrid_operand *operand,
                             const char *name, hy_sparse *out);
hybrid_status hy_sparse_check(const hy_files *call, hy_sparse *sparse, const char *name);

/* Exactly one member is given. */
hybrid_status hy_operand_check(const hy_files *call, const hybrid_operand *operand,
                               const char *name);

/* Read it as a whole, if it takes a small part of memory. To be freed. */
hybrid_status hy_sparse_settle(const hy_files *call, hy_sparse *sparse);
void hy_sparse_free(const hy_files *call, hy_sparse *sparse);

int64_t hy_sparse_bytes(const hy_sparse *sparse);

/* Bytes of a panel of A, of rows of B, and of an operand that is read as a whole, at most. */
int64_t hy_files_panel(const hy_files *call, const hy_csr_file *file);
int64_t hy_files_rows(const hy_files *call);
int64_t hy_files_whole(const hy_files *call);

#endif /* HY_FILES_H */
