/* tests/support/subjects/entry_list.h - entries in memory, which are sorted into
   compressed rows, and the oracle for the result.

   The oracle adds the entries one after the other to a list for each row. */
#ifndef ENTRY_LIST_H
#define ENTRY_LIST_H

#include "partition/move/matrix_file.h"
#include "io/formats/entry_reader.h"

typedef struct entry_list {
    hy_entry *entry;
    int64_t count, next;
    int64_t rows, cols; /* sizes of the matrix */
    int grows;          /* 1: the reader learns the sizes from the entries */
    int64_t batch;      /* entries of a call of next(); 0: all that fit */
    int64_t calls_left; /* number of calls of next() that succeed before one fails; -1:
                           none fails */
    int truncates;      /* 1: the last call of next() cuts temporary files */
    int closed;
} entry_list;

typedef enum entry_pattern {
    RANDOM,
    ASCENDING,
    DESCENDING,
    ONE_KEY,
    ONE_ROW,
    NARROW,
    PATTERNS /* number of patterns */
} entry_pattern;

/* Makes `count` entries of a matrix of rows x cols. The caller frees l.entry. */
entry_list entry_list_make(entry_pattern p, int64_t count, int64_t rows, int64_t cols);

/* Sorts the entries into *out, which the caller closes. After a failure *out is
   closed. */
hybrid_status entry_list_sort(entry_list *l, hybrid_type type, hy_matrix_file *out);

/* Reads all of A, which the caller frees, to *out. */
hybrid_status entry_list_read(const hy_matrix_file *A, hybrid_csr *out);

/* Compares A with the oracle. `transposed`: 1 if A has rows and columns exchanged. */
void entry_list_expect(const hy_matrix_file *A, const entry_list *l, int transposed,
                       hybrid_type type);

/* Sorts the entries, compares the matrix with the oracle, and checks that no memory
   remains in use. */
void entry_list_check(entry_list *l, hybrid_type type);

/* Sets the entries of a run that is sorted in memory, of a block and of a piece.
   entry_list_reset() sets the usual ones again; it is a teardown function. */
void entry_list_sizes(int64_t run, int64_t block, int64_t piece);
int entry_list_reset(void **state);

/* Cuts the process's open files without a name, which are temporary files, to 0 bytes. */
void entry_list_cut_files(void);

#endif /* ENTRY_LIST_H */
