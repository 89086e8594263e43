/* engine/files/file.h - an operand in a file. */
#ifndef HY_FILE_H
#define HY_FILE_H

#include "engine/api/engine.h"
#include "partition/move/matrix_file.h"

struct hybrid_file {
    hybrid_engine *engine;
    hy_matrix_file matrix;
};

/* Checks that the file was opened with this engine and holds a sparse (sparse = 1) or
   dense matrix. Otherwise returns BAD_ARGUMENT with a sentence that names `name`. */
hybrid_status hy_file_check(hybrid_engine *engine, const hybrid_file *file, int sparse,
                            const char *name);

#endif /* HY_FILE_H */
