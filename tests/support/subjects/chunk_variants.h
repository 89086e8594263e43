/* tests/support/subjects/chunk_variants.h - variants that compute nothing, for tests of
   cutting. */
#ifndef CHUNK_VARIANTS_H
#define CHUNK_VARIANTS_H

#include "base/contract/variant.h"

extern const hy_variant chunk_spgemm, chunk_spmm;

#endif /* CHUNK_VARIANTS_H */
