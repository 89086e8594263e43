/* engine/tables/tables.h - the variants and backends that were compiled in. Both tables
   end with NULL. */
#ifndef HY_TABLES_H
#define HY_TABLES_H

#include "base/contract/variant.h"

extern const hy_variant *const hy_variants[];     /* in the order of variants.def; the
                                                     planner takes the first of equally
                                                     fast variants */
extern const hy_backend_ops *const hy_backends[]; /* an engine takes the first backend
                                                     that it can use */

#endif /* HY_TABLES_H */
