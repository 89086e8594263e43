/* io/formats/entry_reader.h - the entries of a sparse matrix whose file does not store them by
   rows: text, coordinates (COO) or columns (CSC).

   A reader brings the entries in the order of the file, in batches. */
#ifndef HY_ENTRY_READER_H
#define HY_ENTRY_READER_H

#include "base/contract/context.h"

typedef struct hy_entry {
    int64_t row, col; /* in the matrix, counted from hy_entry_reader.base */
    double value;
} hy_entry;

typedef struct hy_entry_reader hy_entry_reader;

typedef struct hy_entry_reader_ops {
    /* Writes the next entries, up to `most`, to `to` and sets *count to their number; 0
       means that the file has no more. The reader checks rows and columns. May use the
       pool of workers. BAD_FILE or IO_FAILED, with a sentence that names file and line or
       index. */
    hybrid_status (*next)(hy_entry_reader *self, int64_t most, hy_entry *to,
                          int64_t *count);

    void (*close)(hy_entry_reader *self);
} hy_entry_reader_ops;

struct hy_entry_reader {
    const hy_entry_reader_ops *ops; /* NULL: the reader is not open */
    hy_context *ctx;
    int64_t rows, cols; /* sizes of the matrix. If the file does not tell them, the sizes of
                           the entries read so far; final after the last batch. */
    int64_t nnz;        /* entries that next() will bring; -1 if the file does not tell */
    hybrid_type type;   /* type of the entries' values */
    int64_t base;       /* index of the first row and of the first column in hy_entry: 0
                           or 1; final after the last batch */
    int mirror;         /* 1 or -1: an entry (i, j) off the diagonal also stands for its
                           mirror image (j, i), with the value multiplied by `mirror`; the
                           file must not hold both. 0: all entries are in the file. */
    void *reader;       /* the reader's own state, for ops */
};

/* Closes the reader. A zeroed struct is allowed. */
static inline void hy_entry_reader_close(hy_entry_reader *entries)
{
    if (entries->ops)
        entries->ops->close(entries);
    entries->ops = NULL;
}

#endif /* HY_ENTRY_READER_H */
