/* io/numbers/row_order.c - rows whose columns do not ascend. */
#include "io/numbers/row_order.h"

#include "base/data/min_max.h"
#include "io/numbers/converted.h"
#include "io/numbers/entry_arrays.h"

enum { SAMPLE = 1 << 18, PIECE = 4096 };

typedef struct sample {
    int32_t *col; /* columns of the first entries of the file */
    int64_t count;
} sample;

static int64_t offset_at(const hy_stored *row_ptr, const void *piece, int64_t i)
{
    return row_ptr->size == 4 ? ((const int32_t *)piece)[i] : ((const int64_t *)piece)[i];
}

/* Returns 1 if the columns of entries [begin, end) ascend, as far as the sample holds
   them. Invalid offsets are left to the reader of the matrix. */
static int ascends(const sample *s, int64_t begin, int64_t end)
{
    for (int64_t k = begin + 1; k < hy_min(end, s->count); k++)
        if (s->col[k] <= s->col[k - 1])
            return 0;
    return 1;
}

/* Sets *result to 1 if all rows of the sample ascend, else to 0. */
static hybrid_status examine(const hy_matrix_file *file, const sample *s, int *result)
{
    int64_t piece[PIECE + 1];
    int64_t last = 0;

    *result = 1;
    for (int64_t row = 0, n; row < file->csr.rows && last < s->count; row += n) {
        n = hy_min(PIECE, file->csr.rows - row);
        HY_TRY(hy_stored_read(&file->row_ptr, row, n + 1, piece));
        for (int64_t i = 0; i < n && *result; i++) {
            const int64_t begin = offset_at(&file->row_ptr, piece, i);
            last                = offset_at(&file->row_ptr, piece, i + 1);
            *result             = begin < 0 || ascends(s, begin, last);
        }
        if (!*result || last < 0)
            return HYBRID_OK;
    }
    return HYBRID_OK;
}

static hybrid_status read_sample(const hy_matrix_file *file, int *result)
{
    sample s = {.count = hy_min(SAMPLE, file->csr.nnz)};
    void *memory;

    HY_TRY(hy_array(file->ctx, s.count + 1, 4, "columns of the first rows", &memory));
    s.col                = memory;
    hybrid_status status = hy_stored_read(&file->col, 0, s.count, s.col);
    if (status == HYBRID_OK)
        status = examine(file, &s, result);
    hy_array_free(file->ctx, memory);
    return status;
}

static hybrid_status to_entries(hy_matrix_file *file, hy_entry_reader *entries)
{
    const hybrid_csr *A    = &file->csr;
    hy_entry_arrays arrays = {.name   = file->name,
                              .rows   = A->rows,
                              .cols   = A->cols,
                              .type   = A->type,
                              .row    = file->row_ptr,
                              .col    = file->col,
                              .values = file->values};

    HY_TRY(hy_stored_to_indices(&arrays.row, hy_kind_of_index(A->offset_type), HYBRID_I64,
                                file->name));
    file->row_ptr = arrays.row;
    HY_TRY(hy_stored_to_indices(&arrays.col, hy_kind_of_index(HYBRID_I32), HYBRID_I64,
                                file->name));
    arrays.values.count = A->nnz;
    file->row_ptr = file->col = file->values = (hy_stored){.ops = NULL};
    return hy_entry_reader_csr(file->ctx, &arrays, entries);
}

hybrid_status hy_row_order_check(hy_matrix_file *file, hy_entry_reader *entries)
{
    int is_sorted;

    HY_TRY(read_sample(file, &is_sorted));
    return is_sorted ? HYBRID_OK : to_entries(file, entries);
}
