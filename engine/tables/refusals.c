/* engine/tables/refusals.c - the table of choices that exclude each other. docs/design.md
   lists its pairs and reasons. */
#include "engine/tables/refusals.h"

const hy_refusal hy_refusals[] = {
    {HY_WITH_ROW_RING, HY_WITH_A_ON_DEVICE,
     "A is in device memory, with the original row numbers of X"},
    {HY_WITH_ENTRY_RING, HY_WITH_DENSE_X, "X is dense"},
    {HY_WITH_ENTRY_RING, HY_WITH_SECOND_ON_DEVICE,
     "all of B or X is in device memory already"},
    {HY_WITH_RING, HY_WITH_SECOND_ON_DEVICE, "all of B or X is in device memory already"},
    {HY_WITH_ENTRY_RING, HY_WITH_A_ON_DEVICE, "workers cannot read device memory"},
    {HY_WITH_ENTRY_RING, HY_WITH_ROW_NUMBERS, "packs of this variant contain rows of B"},
    {HY_WITH_RING, HY_WITH_SPARSE_B,
     "B is sparse, so that its rows have different sizes"},
    {HY_WITH_RING, HY_WITH_ROW_NUMBERS,
     "this variant uses the original row numbers of X"},
    {HY_WITH_COLUMN_RING, HY_WITH_HOST_SHARE,
     "X is sent in blocks of columns, for which A stays on the GPU"},
    {HY_WITH_HOST_SHARE, HY_WITH_REDUCED_A,
     "the CPU is busy moving X and Y, because empty rows and columns of A are left out"},
    {HY_WITH_ROW_RING, HY_WITH_HOST_SHARE,
     "rows of X are sent in the order in which the GPU needs them"},
    {HY_WITH_HOST_SHARE, HY_WITH_SAME_BITS,
     "the CPU rounds differently, and HYBRID_DETERMINISTIC (--deterministic) is set"},
    {HY_WITH_GATHER, HY_WITH_A_ON_DEVICE,
     "the CPU cannot collect rows that are in device memory"},
    {HY_WITH_GATHER, HY_WITH_SECOND_ON_DEVICE,
     "the CPU cannot collect rows that are in device memory"},
    {HY_WITH_COLLECT, HY_WITH_DENSE_X, "the device collects rows of a sparse B alone"},
    {HY_WITH_COLLECT, HY_WITH_PACKED_B,
     "packs of this variant contain entries of B in another order"},
    {HY_WITH_PASSES, HY_WITH_DENSE_X, "passes are for a sparse B"},
    {HY_WITH_PASSES, HY_WITH_PACKED_B,
     "packs of this variant contain entries of B in another order"},
    {HY_WITH_IN_PLACE, HY_WITH_DEVICE, "only the CPU computes in place"},
    {HY_WITH_COPIES, HY_WITH_HOST, "only the CPU computes in place"},
    {HY_WITH_REORDERED_A, HY_WITH_A_ON_DEVICE,
     "it rearranges values of A on the CPU, and A is in device memory"},
    {HY_WITH_PACKED_B, HY_WITH_SECOND_ON_DEVICE,
     "it copies values of B on the CPU, and B is in device memory"},
    {HY_WITH_UNORDERED_SUMS, HY_WITH_SAME_BITS,
     "its sums have no fixed order, which HYBRID_DETERMINISTIC (--deterministic) "
     "demands"},
    {HY_WITH_NAME_NEEDED, HY_WITHOUT_NAME, "only on request (--variant)"},
    {.why = NULL}};

const char *hy_refused(unsigned chosen, unsigned given)
{
    const unsigned all = chosen | given;

    for (const hy_refusal *r = hy_refusals; r->why; r++)
        if (r->one & all && r->other & all && (r->one | r->other) & chosen)
            return r->why;
    return NULL;
}

static unsigned if_so(int condition, unsigned value)
{
    return condition ? value : 0;
}

unsigned hy_product_values(const hy_product *product)
{
    const hybrid_plan_options *o = &product->options;

    return if_so(product->op == HY_SPGEMM, HY_WITH_SPARSE_B) |
           if_so(product->op == HY_SPMM, HY_WITH_DENSE_X) |
           if_so(product->a_on != NULL, HY_WITH_A_ON_DEVICE) |
           if_so(product->second_on != NULL, HY_WITH_SECOND_ON_DEVICE) |
           if_so(!hy_product_has_views(product), HY_WITH_REDUCED_A) |
           if_so((o->flags & HYBRID_DETERMINISTIC) != 0, HY_WITH_SAME_BITS) |
           if_so(!o->variant, HY_WITHOUT_NAME) |
           if_so(o->split == HYBRID_SPLIT_SHARE, HY_WITH_HOST_SHARE);
}

unsigned hy_variant_values(const hy_variant *variant)
{
    return if_so(!variant->rings, HY_WITH_ROW_NUMBERS) |
           if_so(!variant->csr, HY_WITH_REORDERED_A) |
           if_so(variant->form == HY_FORM_NONE, HY_WITH_PACKED_B) |
           if_so(variant->unordered, HY_WITH_UNORDERED_SUMS) |
           if_so(variant->by_name, HY_WITH_NAME_NEEDED);
}
