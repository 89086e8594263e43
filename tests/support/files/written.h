/* tests/support/files/written.h - results in files, for several programs. */
#ifndef WRITTEN_H
#define WRITTEN_H

#include "support/engines/places.h"

enum { FILES_ROWS = 300, FILES_WIDTH = 3 };

/* Made by files_group_open(): an engine that reads and writes at most 3000 bytes at a
   time (hy_settings.piece_bytes) and knows the formats of listed_format.h, a matrix A,
   also in the file that files_operand() opens, and C = A*A. */
extern hybrid_engine *files_engine;
extern hybrid_csr files_a, files_c;

/* Path of the result, and of the folder of its panels. */
extern char files_path[128], files_parts[160];

/* Set-up and tear-down functions of a cmocka group, which make and free the variables
   above. */
int files_group_open(void **state);
int files_group_close(void **state);

/* Sets files_engine to a new engine that computes at `where`. The caller has destroyed or
   saved the previous one. */
void files_open(place where);

/* Sets files_path to the file `name` in a temporary folder, and files_parts to the folder
   of its panels. */
void files_name(const char *name);

int files_exist(const char *name);
void files_ok(hybrid_status status); /* checks that a call succeeded */

/* Checks that the result has this text, and that nothing else is left of a run. */
void files_expect(const char *wanted);

/* Returns A: in memory, or in a file that the caller closes. */
hybrid_operand files_operand(int in_file);

/* Writes A*A, or alpha*A*X, to files_path. */
hybrid_status files_square(int in_file, const hybrid_file_options *options);
hybrid_status files_multiply_dense(double alpha, const hybrid_dense *X, int resume);

#endif /* WRITTEN_H */
