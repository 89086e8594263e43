/* engine/tables/parameters.h - parameters of variants in a plan option.

   A plan option "spmv.cuda.bcsr:r=4,c=2" is the full name of a variant, a colon, and
   values of parameters (hy_variant.parameters). */
#ifndef HY_PARAMETERS_H
#define HY_PARAMETERS_H

#include "base/contract/context.h"
#include "base/contract/variant.h"

/* Reads the parameters of the plan option `wanted` into `values`, which are those of
   hy_features.parameter. All values are 0 if `wanted` is NULL or has no colon.
   BAD_ARGUMENT, with a sentence, if no variant has the name, or the variant has no such
   parameter, or the parameter has no such value. */
hybrid_status hy_parameters_read(hy_context *ctx, const hy_variant *const *variants,
                                 const char *wanted, int32_t values[HY_PARAMETERS]);

/* Writes the parameters that are not 0 to `text`, as in "R=16,sorted=on". */
void hy_parameters_text(const hy_variant *variant, const int32_t values[HY_PARAMETERS],
                        char *text, size_t room);

/* Returns 1 if a plan option asks for the variant of this name: if the option is NULL, or
   a beginning of the name, or the name followed by parameters. A full name in `variants`
   asks for that variant alone, even if other names begin with it. */
int hy_parameters_want(const hy_variant *const *variants, const char *wanted,
                       const char *name);

#endif /* HY_PARAMETERS_H */
