/* cli/options/types.c - the table of value types, as the program knows them. */
#include "cli/options/types.h"

const cli_word cli_types[] = {{"f32", HYBRID_F32}, {"f64", HYBRID_F64}, {0}};

const char *cli_type_name(hybrid_type type)
{
    const cli_word *word = cli_types;

    while (word->text && word->value != (int)type)
        word++;
    return word->text;
}

int64_t cli_type_bytes(hybrid_type type)
{
    return type == HYBRID_F64 ? 8 : 4;
}

double cli_type_value(hybrid_type type, const void *values, int64_t k)
{
    return type == HYBRID_F64 ? ((const double *)values)[k]
                              : (double)((const float *)values)[k];
}
