/* engine/tables/tables.h - what was compiled in. Both tables end with NULL. */
#ifndef HY_TABLES_H
#define HY_TABLES_H

#include "base/contract/variant.h"

extern const hy_variant *const hy_variants[];     /* variants.def; order breaks ties */
extern const hy_backend_ops *const hy_backends[]; /* most wanted first */

#endif /* HY_TABLES_H */
