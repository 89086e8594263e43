/* engine/files/file.h - an operand in a file. */
#ifndef HY_FILE_H
#define HY_FILE_H

#include "engine/api/engine.h"
#include "io/arrays/raw.h"

struct hybrid_file {
    hybrid_engine *engine;
    hy_raw_matrix matrix;
};

/* It was opened with this engine, and holds a sparse matrix, or a dense one; else
   BAD_ARGUMENT and a sentence that says `name`. */
hybrid_status hy_file_check(hybrid_engine *engine, const hybrid_file *file, int sparse,
                            const char *name);

#endif /* HY_FILE_H */
