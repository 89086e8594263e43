/* engine/tables/tables.h - the variants and backends that were compiled in. Both tables
   end with NULL. */
#ifndef HY_TABLES_H
#define HY_TABLES_H

#include "base/contract/variant.h"

extern const hy_variant *const hy_variants[];     /* all variants in the order of
                                                     variants.def, ended by NULL; the
                                                     planner takes the first of equally
                                                     fast ones */
extern const hy_backend_ops *const hy_backends[]; /* all backends, ended by NULL; an
                                                     engine takes the first that it can
                                                     use */

#endif /* HY_TABLES_H */
