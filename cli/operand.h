/* cli/operand.h - a matrix that the user names: a file, or gen:KIND:ARGS. */
#ifndef CLI_OPERAND_H
#define CLI_OPERAND_H

#include "hybrid_spmm.h"

/* 1 if `name` is a dense matrix by its name or first line. What is compressed is taken to
   be sparse. */
int cli_operand_is_dense(const char *name);

/* 1 if it is JSON, which describes a matrix that may stay in its file. */
int cli_operand_is_json(const char *name);

/* 0, or the exit code if a file's numbers are of another type than is wanted. */
int cli_operand_check_type(const char *name, hybrid_type is, hybrid_type wanted);

/* NULL, or the spec after "gen:". */
const char *cli_operand_spec(const char *name);

/* Read or make `name`. Exactly one of the two is filled; *dense tells which. `dense` may
   be NULL when only a sparse matrix will do. 0 or an exit code. */
int cli_operand_read(hybrid_engine *engine, const char *name, hybrid_type type,
                     uint64_t seed, hybrid_csr *sparse, hybrid_dense *dense,
                     int *is_dense);

#endif /* CLI_OPERAND_H */
