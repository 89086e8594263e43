/* io/numbers/row_order.c - rows whose columns do not ascend. */
#include "io/numbers/row_order.h"

#include "base/data/min_max.h"
#include "io/numbers/converted.h"
#include "io/numbers/entry_arrays.h"

enum {
    FIRST = 1 << 18, /* entries that are examined from the first row on, */
    FURTHER =
        1 << 14, /* and from each of the rows at 1/PLACES, 2/PLACES ... of all rows */
    PLACES = 16,
    ROWS   = 1 << 20, /* maximum rows that are examined at each place */
    PIECE  = 4096     /* offsets that are read at once */
};

/* Successive entries of the file. */
typedef struct sample {
    int64_t first, count;
    int32_t *col; /* their columns */
} sample;

static int64_t offset_at(const hy_stored *row_ptr, const void *piece, int64_t i)
{
    return row_ptr->size == 4 ? ((const int32_t *)piece)[i] : ((const int64_t *)piece)[i];
}

/* Returns 1 if the columns of entries [begin, end) ascend, as far as the sample holds
   them. Invalid offsets are left to the reader of the matrix. */
static int ascends(const sample *s, int64_t begin, int64_t end)
{
    const int64_t last = hy_min(end, s->first + s->count) - s->first;

    for (int64_t k = begin - s->first + 1; k < last; k++)
        if (s->col[k] <= s->col[k - 1])
            return 0;
    return 1;
}

/* Examines the rows from *row on, as far as the sample holds their entries. Sets *result
   to 0 if one of them does not ascend, and *row to the first row that was not examined.
 */
static hybrid_status examine(const hy_matrix_file *file, const sample *s, int64_t *row,
                             int *result)
{
    const int64_t end = hy_min(file->csr.rows, *row + ROWS);
    int64_t piece[PIECE + 1], last = s->first;

    for (int64_t n; *row < end && last < s->first + s->count; *row += n) {
        n = hy_min(PIECE, end - *row);
        HY_TRY(hy_stored_read(&file->row_ptr, *row, n + 1, piece));
        for (int64_t i = 0; i < n && *result; i++) {
            const int64_t begin = offset_at(&file->row_ptr, piece, i);
            last                = offset_at(&file->row_ptr, piece, i + 1);
            *result             = begin < s->first || ascends(s, begin, last);
        }
        if (!*result || last < s->first)
            return HYBRID_OK;
    }
    return HYBRID_OK;
}

/* Reads up to `most` entries from *row on and examines their rows. */
static hybrid_status examine_from(const hy_matrix_file *file, int64_t most, int32_t *col,
                                  int64_t *row, int *result)
{
    int64_t offset;
    sample s = {.col = col};

    HY_TRY(hy_stored_read(&file->row_ptr, *row, 1, &offset));
    s.first = offset_at(&file->row_ptr, &offset, 0);
    if (s.first < 0 || s.first > file->csr.nnz)
        return HYBRID_OK;
    s.count = hy_min(most, file->csr.nnz - s.first);
    HY_TRY(hy_stored_read(&file->col, s.first, s.count, col));
    return examine(file, &s, row, result);
}

static hybrid_status examine_places(const hy_matrix_file *file, int32_t *col, int *result)
{
    int64_t row = 0;

    *result = 1;
    HY_TRY(examine_from(file, FIRST, col, &row, result));
    for (int64_t place = 1; place < PLACES && *result; place++) {
        row = hy_max(row, file->csr.rows / PLACES * place);
        HY_TRY(examine_from(file, FURTHER, col, &row, result));
    }
    return HYBRID_OK;
}

static hybrid_status read_sample(const hy_matrix_file *file, int *result)
{
    void *memory;

    HY_TRY(hy_array(file->ctx, hy_min(FIRST, file->csr.nnz) + 1, 4,
                    "columns of some rows", &memory));
    const hybrid_status status = examine_places(file, memory, result);
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
