/* tests/support/subjects/regimes.h - a simulated machine with three variants for each
   kind of product, and products of every regime.

   Products are computed by a fake device, whose clock goes on only while a kernel
   computes, by as much as the test says. On the host, they are computed as usual. */
#ifndef REGIMES_H
#define REGIMES_H

#include "engine/plan/plan.h"
#include "engine/rates/factors.h"

enum {
    REGIME_KINDS    = 3,             /* variants of each kind of product */
    REGIME_PRODUCTS = HY_REGIMES + 8 /* number of products */
};

extern hy_variant regime_spmm[REGIME_KINDS];
extern const hy_variant *const regime_variants[]; /* those of the device and of the host,
                                                     ended by NULL */

/* Seconds by which each chunk takes longer than its variant's model says
   (regimes_start_s), and each chunk but the first in addition (regimes_gap_s). */
extern double regimes_start_s, regimes_gap_s;

typedef struct regime_product {
    hy_op op;
    const char *problem;
    int64_t columns; /* columns of X, for SpMM only */
    hybrid_type type;
    unsigned flags;
} regime_product;

/* Makes the variants, and starts the clock of the device; a setup function. */
int regimes_set_up(void **state);

/* Opens an engine with the machine. The caller destroys it. */
hybrid_engine *regimes_open(void);

/* Returns the number of the variant among those of its kind of product. */
int regimes_kind_of(const hy_variant *variant);

/* Returns the seconds that variant `kind` takes on this machine, up to 1 % from what its
   model with the right factor predicts. */
double regimes_true_s(hy_op op, int kind, const hy_features *f);

/* Returns product number i. The products of each kind have different regimes (kinds of
   products that have a factor of their own, factors.h). */
regime_product regimes_product(int i);

/* Plans the product. The caller destroys the plan. */
hybrid_plan *regimes_plan(hybrid_engine *engine, const regime_product *p,
                          hybrid_split split, const char *variant, int64_t chunk_rows);

/* Returns the predicted seconds: in several chunks, which use both directions of the bus
   at once, or with a named variant in one. */
double regimes_predicted_s(hybrid_engine *engine, const regime_product *p,
                           hybrid_split split, const char *variant);

#endif /* REGIMES_H */
