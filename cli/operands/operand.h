/* cli/operands/operand.h - a matrix that the user names: a file, standard input, or
   gen:KIND:ARGS. */
#ifndef CLI_OPERAND_H
#define CLI_OPERAND_H

#include "cli/output/utf8.h"
#include "hybrid_spmm.h"

/* Returns 1 if the name is "-". */
int cli_operand_is_standard_input(const char *name);

/* Returns the path of the operand `name` for the library: /dev/stdin for "-", else
   `name`. */
const char *cli_operand_path(const char *name);

/* Returns the operand's name in printable form, for messages. */
cli_title cli_operand_title(const char *name);

/* Returns 1 if `name` is a dense matrix, by its first bytes or its ending. A named pipe
   cannot be examined and counts as sparse. */
int cli_operand_is_dense(const char *name);

/* Returns 1 if `name` is a JSON file, whose matrix may stay in its file. */
int cli_operand_is_json(const char *name);

/* Returns 1 if the library opens the operand as a file whose numbers stay there: a JSON
   file, a file with a member or options after "::", or a regular file whose contents are
   neither Matrix Market nor .npy. */
int cli_operand_is_stored(hybrid_engine *engine, const char *name);

/* Returns 1 if the operand is such a file and its values have a type. The values of text
   have none, unless an option after "::" names it. */
int cli_operand_has_type(hybrid_engine *engine, const char *name);

/* Opens the operand as hybrid_file_open() does. The values of text that names no type are
   read in `type`. */
hybrid_status cli_operand_open(hybrid_engine *engine, const char *name, hybrid_type type,
                               hybrid_file **file);

/* Returns 1 if the operand is a Matrix Market array file, which is always read as a
   whole. */
int cli_operand_is_array_text(const char *name);

/* Returns 1 if the operand is a regular file of more than a quarter of the engine's free
   host memory that need not be read as a whole; 0 if host memory is not limited. */
int cli_operand_is_big_file(hybrid_engine *engine, const char *name);

/* Sets *type to the type of the values of the .npy file `name`. Sets it to 0 if the
   operand is not such a file. */
void cli_operand_type(const char *name, hybrid_type *type);

/* Returns 0 if `is` equals `wanted`. Otherwise prints an error and returns an exit
   code. */
int cli_operand_check_type(const char *name, hybrid_type is, hybrid_type wanted);

/* Returns the text after "gen:" if `name` begins so, else NULL. */
const char *cli_operand_spec(const char *name);

/* Reads or generates the operand `name`, with values of `type` (0: that of its file, or
   f64), and fills `sparse` or `dense`; *is_dense says
   which. `dense` may be NULL if only a sparse matrix is accepted. Returns 0 or an exit
   code. */
int cli_operand_read(hybrid_engine *engine, const char *name, hybrid_type type,
                     uint64_t seed, hybrid_csr *sparse, hybrid_dense *dense,
                     int *is_dense);

/* Returns 1 if the JSON operand `name` is sparse and so large that the library would not
   read it completely; 0 if host memory is not limited. */
int cli_operand_is_large(hybrid_engine *engine, const char *name);

#endif /* CLI_OPERAND_H */
