/* io/sort/transpose_file.c - transposes a sparse matrix, in bounded memory.

   The entries of A, in the order of its rows and with row and column exchanged, are the
   entries of the transpose in some order. */
#include "base/contract/image.h"
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "io/sort/entry_sort.h"

enum { HELD = 1 << 14 }; /* number of offsets, and of entries, that are read at once */

typedef struct reader {
    hy_source A;
    int64_t row;    /* row of A that has the next entry */
    int64_t next;   /* index of the next entry in A */
    int64_t before; /* column of the previous entry of the row */
    int64_t rows;   /* rows of A whose offsets are held, the first of them row `first` */
    int64_t first;
    int64_t offset[HELD + 1];
    int32_t col[HELD];
    double value[HELD]; /* values of the entries in `col`, in the type of A */
} reader;

static hybrid_status read_offsets(reader *r)
{
    const hybrid_csr *A = r->A.csr;

    r->first = r->row;
    r->rows  = hy_min(HELD, A->rows - r->row);
    return hy_source_array(&r->A, HY_CSR_OFFSETS, r->row, r->rows + 1, r->offset);
}

/* Moves to the row that holds the next entry, which exists. */
static hybrid_status find_row(reader *r)
{
    for (;; r->row++) {
        if (r->row == r->first + r->rows)
            HY_TRY(read_offsets(r));
        if (r->offset[r->row - r->first + 1] > r->next)
            return HYBRID_OK;
    }
}

/* Checks the column of the next entry, which is col[k]. */
static hybrid_status check_col(reader *r, int64_t k)
{
    const int64_t entry = r->next - r->offset[r->row - r->first], col = r->col[k];

    if (col < 0 || col >= r->A.csr->cols)
        return hy_fail(r->A.ctx, HYBRID_BAD_MATRIX,
                       "%s: row %lld, entry %lld: column %lld is not in 0..%lld",
                       r->A.name, (long long)r->row, (long long)entry, (long long)col,
                       (long long)r->A.csr->cols - 1);
    if (entry > 0 && col <= r->before)
        return hy_fail(
            r->A.ctx, HYBRID_BAD_MATRIX,
            "%s: row %lld, entry %lld: column %lld does not come after column %lld",
            r->A.name, (long long)r->row, (long long)entry, (long long)col,
            (long long)r->before);
    r->before = col;
    return HYBRID_OK;
}

static hybrid_status next(hy_entry_reader *self, int64_t most, hy_entry *to,
                          int64_t *count)
{
    reader *r           = self->reader;
    const hybrid_csr *A = r->A.csr;
    const int64_t held  = hy_min(hy_min(most, HELD), A->nnz - r->next);

    *count = held;
    HY_TRY(hy_source_array(&r->A, HY_CSR_COLS, r->next, held, r->col));
    HY_TRY(hy_source_array(&r->A, HY_CSR_VALUES, r->next, held, r->value));
    for (int64_t k = 0; k < held; k++, r->next++) {
        HY_TRY(find_row(r));
        HY_TRY(check_col(r, k));
        to[k] = (hy_entry){r->col[k], r->row, hy_value_at(A->type, r->value, k)};
    }
    return HYBRID_OK;
}

static void close_reader(hy_entry_reader *self)
{
    hy_array_free(self->ctx, self->reader);
}

hybrid_status hy_source_transpose(const hy_source *A, hy_matrix_file *out)
{
    static const hy_entry_reader_ops ops = {.next = next, .close = close_reader};
    hy_entry_reader entries              = {.ops  = &ops,
                                            .ctx  = A->ctx,
                                            .rows = A->cols,
                                            .cols = A->rows,
                                            .nnz  = A->csr->nnz,
                                            .type = A->csr->type};

    HY_TRY(hy_array(A->ctx, 1, sizeof(reader), "entries of a matrix", &entries.reader));
    reader *r = entries.reader;
    r->A      = *A;
    r->row = r->next = r->rows = r->first = 0;
    const hybrid_status status            = hy_entry_sort(A->ctx, &entries, out);
    hy_entry_reader_close(&entries);
    return status;
}
