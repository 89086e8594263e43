/* io/mtx/line_entries.h - entries of a text that has one in each line. A window is the
   part of the text that is in memory, and windows are read one after another.

   Formats fill the fields of a hy_line_entries and open it as a reader of entries
   (io/formats/entry_reader.h). */
#ifndef HY_LINE_ENTRIES_H
#define HY_LINE_ENTRIES_H

#include "io/formats/entry_reader.h"
#include "io/mtx/mtx.h"

typedef struct hy_line_entries hy_line_entries;

struct hy_line_entries {
    hy_mtx_syntax syntax; /* must be the first field: the function that reads a block of
                             lines gets the struct's address as that of its syntax */
    hy_mtx_header header;
    hy_input input; /* text of the file, moved here by hy_input_take() */
    hy_lines lines; /* body, announced, least_bytes and read are set by the caller */
    int64_t shift;  /* number added to row and column indices, which count from 0 when
                       lines have been read */

    /* (optional) Called when all lines have been read: sets the sizes and the index base
       of the reader by `least`, `rows` and `cols`. */
    hybrid_status (*end)(hy_entry_reader *self, hy_line_entries *entries);
    int64_t least, rows, cols; /* set if `end` is not NULL: least row or column index of
                                  all entries so far, and 1 + the greatest row and column
                                  index; updated atomically */

    hy_reused memory;  /* memory that holds the entries of the window */
    int64_t count, at; /* number of entries of the window, and index of the entry to bring
                          next */
    int is_begun;      /* 1: a window has been read */
};

/* Allocates a state of `bytes` bytes, which begins with a hy_line_entries and is zeroed.
   Sets ops, ctx and reader of *out, and syntax.numbers. After that the caller sets the
   other fields, and closes the reader in any case. */
hybrid_status hy_line_entries_open(hy_context *ctx, size_t bytes, hy_entry_reader *out);

#endif /* HY_LINE_ENTRIES_H */
