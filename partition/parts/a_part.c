/* partition/parts/a_part.c - reads an A as parts (ranges of rows). */
#include "partition/parts/a_part.h"

#include "base/contract/image.h"
#include "base/data/csr.h"
#include "base/data/min_max.h"

/* ---- reading one part ------------------------------------------------------------ */

static int64_t aligned(int64_t bytes)
{
    return (int64_t)hy_align((size_t)bytes);
}

/* Returns the bytes of a part with this many rows and entries: its offsets, columns and
   values, each array aligned. */
static int64_t part_bytes(const hybrid_csr *A, int64_t rows, int64_t nnz)
{
    return aligned((rows + 1) * 8) + aligned(nnz * 4) +
           nnz * (int64_t)hy_value_size(A->type);
}

static hybrid_status make_room(const hy_a_parts *p, hy_a_part *part, int64_t bytes)
{
    return hy_array_reuse(p->source->ctx, &part->block, bytes, "a part of A");
}

/* Returns the number of rows, from row `begin` on, that are expected to fill a part: the
   rows are assumed to have the mean length of all rows of A. At least 1, at most
   p->most_rows (unless 0) and the rows that are left. */
static int64_t expected_rows(const hy_a_parts *p, int64_t begin)
{
    const hybrid_csr *A = p->source->csr;
    const double row   = (double)hy_csr_bytes(A->rows, A->nnz, A->type) / (double)A->rows;
    const int64_t rows = (int64_t)((double)p->bytes / row);
    const int64_t most = p->most_rows > 0 ? p->most_rows : INT64_MAX;

    return hy_max(1, hy_min(hy_min(rows, most), p->row_end - begin));
}

/* Returns how many of the `rows` rows that were read are put into the part. If they do
   not all fit, an eighth is taken off until the rest fits, so that some more rows might
   fit, too. At least 1, even if that row does not fit. Row i has the entries [offset[i],
   offset[i + 1]). */
static int64_t rows_that_fit(const hy_a_parts *p, const int64_t *offset, int64_t rows)
{
    while (rows > 1 && part_bytes(p->source->csr, rows, offset[rows]) > p->bytes)
        rows = hy_max(1, rows - rows / 8 - 1);
    return rows;
}

/* Reads the offsets of as many rows from `begin` on as fit into a part, and sets the
   other fields of the part except the columns and values. *first is the offset of row
   `begin` in the file. It is subtracted from all offsets of the part. */
static hybrid_status read_offsets(const hy_a_parts *p, int64_t begin, hy_a_part *part,
                                  int64_t *first)
{
    int64_t rows = expected_rows(p, begin);

    HY_TRY(make_room(p, part, hy_max(p->bytes, aligned((rows + 1) * 8))));
    int64_t *offset = part->block.array;
    HY_TRY(hy_source_array(p->source, HY_CSR_OFFSETS, begin, rows + 1, offset));
    *first = offset[0];
    for (int64_t i = 0; i <= rows; i++)
        offset[i] -= *first;
    rows                = rows_that_fit(p, offset, rows);
    const int64_t nnz   = offset[rows];
    const int64_t bytes = part_bytes(p->source->csr, rows, nnz);
    if (bytes >
        part->block.bytes) { /* a single row that does not fit the bytes of a part */
        HY_TRY(make_room(p, part, bytes));
        offset    = part->block.array;
        offset[0] = 0;
        offset[1] = nnz;
    }
    part->own             = *p->source->csr;
    part->own.rows        = rows;
    part->own.nnz         = nnz;
    part->own.row_ptr     = offset;
    part->own.offset_type = HYBRID_I64;
    part->A               = &part->own;
    part->begin           = begin;
    return HYBRID_OK;
}

static hybrid_status read_part(const hy_a_parts *p, int64_t begin, hy_a_part *part)
{
    hybrid_csr *A = &part->own;
    int64_t first;

    HY_TRY(read_offsets(p, begin, part, &first));
    A->col = (char *)A->row_ptr + aligned((A->rows + 1) * 8);
    A->val = (char *)A->col + aligned(A->nnz * 4);
    HY_TRY(hy_source_array(p->source, HY_CSR_COLS, first, A->nnz, A->col));
    return hy_source_array(p->source, HY_CSR_VALUES, first, A->nnz, A->val);
}

/* ---- the thread ------------------------------------------------------------------ */

static hybrid_status read_in_background(void *arg)
{
    const hy_a_parts *p = arg;

    return read_part(p, p->end, p->reading);
}

/* Starts to read the next part. Its memory is allocated first, so that a plan that is
   made meanwhile does not count it as free. */
static hybrid_status read_next(hy_a_parts *p)
{
    p->reading = p->reading == p->parts ? p->parts + 1 : p->parts;
    HY_TRY(make_room(p, p->reading, p->bytes));
    hy_background_start(&p->background, read_in_background, p);
    return HYBRID_OK;
}

/* ---- parts in order -------------------------------------------------------------- */

void hy_a_parts_open(const hy_source *source, int64_t bytes, hy_a_parts *out)
{
    *out = (hy_a_parts){.source = source, .bytes = bytes, .row_end = source->rows};
    hy_background_open(source->ctx, &out->background);
}

void hy_a_parts_range(hy_a_parts *p, int64_t begin, int64_t end, int64_t most_rows)
{
    p->end       = begin;
    p->row_end   = end;
    p->most_rows = most_rows;
    p->is_range  = 1;
}

hybrid_status hy_a_parts_skip(hy_a_parts *p, int64_t row)
{
    int64_t begin = p->end, first;

    while (begin < row) {
        HY_TRY(read_offsets(p, begin, p->parts, &first));
        p->end = begin;
        begin += p->parts->own.rows;
    }
    if (begin == row)
        p->end = row;
    return HYBRID_OK;
}

void hy_a_parts_close(hy_a_parts *p)
{
    hy_background_close(&p->background);
    for (int i = 0; i < 2; i++)
        hy_array_free_reused(p->source->ctx, &p->parts[i].block);
}

hybrid_status hy_a_parts_read(hy_a_parts *p, const hy_a_part **out)
{
    hy_context *ctx    = p->source->ctx;
    const int64_t rows = p->row_end;

    *out = NULL;
    if (!p->reading && rows > p->end)
        HY_TRY(read_next(p));
    if (!p->reading || p->end == rows)
        return HYBRID_OK;
    HY_TRY(hy_background_wait(&p->background));
    hy_a_part *ready = p->reading;
    ready->begin_ns  = p->background.begin_ns;
    ready->end_ns    = p->background.end_ns;
    p->end += ready->A->rows;
    if (p->end < rows)
        HY_TRY(read_next(p));
    *out = ready;
    return hy_csr_check_rows(ctx, ready->A, p->source->name ? p->source->name : "A",
                             ready->begin, NULL);
}
