/* cli/options/types.h - the table of value types, as the program knows them. */
#ifndef CLI_TYPES_H
#define CLI_TYPES_H

#include "cli/options/parse.h"
#include "hybrid_spmm.h"

/* Type of values that are generated or read from text without --type. */
#define CLI_DEFAULT_TYPE HYBRID_F64

/* Words of --type, with the enumerators of hybrid_type; a NULL text ends the list. */
extern const cli_word cli_types[];

/* Returns the word of a type, such as "f64"; NULL if `type` is none. */
const char *cli_type_name(hybrid_type type);

/* Returns the bytes of a value. */
int64_t cli_type_bytes(hybrid_type type);

/* Returns value k of an array. */
double cli_type_value(hybrid_type type, const void *values, int64_t k);

#endif /* CLI_TYPES_H */
