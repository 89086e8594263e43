/* cli/operands/operand.h - a matrix that the user names: a file, standard input, or
   gen:KIND:ARGS. */
#ifndef CLI_OPERAND_H
#define CLI_OPERAND_H

#include "cli/output/utf8.h"
#include "hybrid_spmm.h"

/* Whether the name is "-". */
int cli_operand_is_standard_input(const char *name);

/* The path of the file that the library reads. */
const char *cli_operand_path(const char *name);

/* The name as sentences have it. */
cli_title cli_operand_title(const char *name);

/* 1 if `name` is a dense matrix by its first bytes, or by its ending. A pipe with a name of its
   own, which cannot be looked at, is taken to be sparse. */
int cli_operand_is_dense(const char *name);

/* 1 if it is JSON, which describes a matrix that may stay in its file. */
int cli_operand_is_json(const char *name);

/* Sets *type to the type of the numbers in a file of JSON or .npy, or to 0 where the file or
   the generator does not determine a type. Returns 0 or an exit code. */
int cli_operand_type(hybrid_engine *engine, const char *name, hybrid_type *type);

/* 0, or the exit code if a file's numbers are of another type than is wanted. */
int cli_operand_check_type(const char *name, hybrid_type is, hybrid_type wanted);

/* NULL, or the spec after "gen:". */
const char *cli_operand_spec(const char *name);

/* Read or make `name`. Exactly one of the two is filled; *dense tells which. `dense` may
   be NULL when only a sparse matrix will do. 0 or an exit code. */
int cli_operand_read(hybrid_engine *engine, const char *name, hybrid_type type,
                     uint64_t seed, hybrid_csr *sparse, hybrid_dense *dense,
                     int *is_dense);

/* Returns 1 if the JSON operand `name` is sparse and larger than what the library reads as a
   whole. */
int cli_operand_is_large(hybrid_engine *engine, const char *name);

#endif /* CLI_OPERAND_H */
