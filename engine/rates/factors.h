/* engine/rates/factors.h - corrects predicted seconds by what was measured.

   A cost function knows how its variant works. The factors know how fast the machine at
   hand is at that work: one for each variant and regime. Each variant has a fixed cost
   per chunk besides. A regime is a kind of product:
   for SpMM the number of columns of X, for SpGEMM whether rows of A are even and whether
   rows have many scalar products, both for each type of values. */
#ifndef HY_FACTORS_H
#define HY_FACTORS_H

#include "base/contract/variant.h"

/* Returns the regime of a product or a chunk, 0 to HY_REGIMES - 1. */
int hy_regime(hy_op op, const hy_features *f);

/* Returns the name of a regime, such as "f32.8" (SpMM) or "f64.even.short" (SpGEMM), a
   static string; NULL if products of this kind have fewer regimes. */
const char *hy_regime_name(hy_op op, int regime);

/* Returns the kind of product that a variant of this name computes. */
hy_op hy_op_named(const char *variant);

/* Returns variant->cost() with corrected seconds; multiply_s includes the fixed cost. */
hy_cost hy_cost_of(const hy_variant *variant, const hy_features *f, const hy_rates *r);

/* Returns the factor of a variant in a regime: 1 if none was measured. */
double hy_factor_seen(const hy_factor_table *factors, const hy_variant *variant,
                      int regime);

/* Returns the measured fixed seconds of a chunk with this variant, in addition to those
   of its cost function: 0 if none were measured. */
double hy_start_seen(const hy_factor_table *factors, const hy_variant *variant);

/* Returns the seconds that a device takes for each chunk but the first, besides the
   seconds of its kernels. */
double hy_gap_s(hy_op op, const hy_rates *r);

/* Returns the factor for the part of the seconds of calls and chunks that is neither work
   nor copies. */
double hy_call_factor(hy_op op, const hy_rates *r);

/* Returns the factors of the variant with this name, which are all 0 if they are new.
   NULL: the name has HY_FACTOR_NAME bytes or more, or there are too many variants. */
hy_factor_row *hy_factors_of(hy_factor_table *factors, const char *variant);

#endif /* HY_FACTORS_H */
