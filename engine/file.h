/* engine/file.h - an operand in a file. */
#ifndef HY_FILE_H
#define HY_FILE_H

#include "io/raw.h"

struct hybrid_file {
    hybrid_engine *engine;
    hy_dense_file X;
};

#endif /* HY_FILE_H */
