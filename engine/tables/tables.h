/* engine/tables/tables.h - what was compiled in. Both tables end with NULL. */
#ifndef HY_TABLES_H
#define HY_TABLES_H

#include "base/contract/variant.h"

extern const hy_variant *const hy_variants[];     /* as in variants.def; of equally fast
                                                     variants the first wins */
extern const hy_backend_ops *const hy_backends[]; /* an engine prefers the first ones */

#endif /* HY_TABLES_H */
