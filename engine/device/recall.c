/* engine/device/recall.c - how recent one-shot calls of SpMM on a device were planned. */
#include "engine/device/recall.h"

#include <stddef.h>

static int same_pattern(const hybrid_csr *a, const hybrid_csr *b)
{
    return a->row_ptr == b->row_ptr && a->col == b->col && a->rows == b->rows &&
           a->cols == b->cols && a->nnz == b->nnz && a->offset_type == b->offset_type &&
           a->col_type == b->col_type && a->type == b->type;
}

hy_recalled *hy_recall_find(hy_recall *recall, const hy_backend *device,
                            const hybrid_csr *A, int64_t cols, unsigned flags)
{
    for (hy_recalled *r = recall->of; r < recall->of + HY_RECALLED; r++)
        if (r->device == device && r->cols == cols && r->flags == flags &&
            same_pattern(&r->A, A))
            return r;
    return NULL;
}

void hy_recall_add(hy_recall *recall, const hy_recalled *call)
{
    recall->of[recall->next] = *call;
    recall->next             = (recall->next + 1) % HY_RECALLED;
}
