/* engine/tables/variants.c - the table of variants; edit variants.def, not this. */
#include "engine/tables/tables.h"

#define HY_VARIANT(name) extern const hy_variant name;
#include "engine/tables/variants.def"
#undef HY_VARIANT

const hy_variant *const hy_variants[] = {
#define HY_VARIANT(name) &name,
#include "engine/tables/variants.def"
#undef HY_VARIANT
    NULL,
};
