/* engine/results/file_write.c - copies a matrix, or rows of it, to a file of any format.
 */
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/files/files.h"
#include "engine/results/result_file.h"
#include "io/results/durable.h"
#include "io/sort/entry_sort.h"
#include "partition/move/sources.h"

/* State of one call of hybrid_file_write(). */
typedef struct copying {
    hy_files call;
    const hybrid_operand *M;
    hy_source source;       /* matrix that is copied */
    hy_sparse sparse;       /* the operand, if it is sparse */
    hybrid_csr transpose;   /* transpose of a matrix in memory; else zero */
    hy_matrix_file of_file; /* transpose of a matrix in a file; else zero */
    hy_result_file result;
    int64_t begin, end; /* rows [begin, end) are copied */
} copying;

/* ---- the matrix ---------------------------------------------------------------------
 */

static hybrid_status find_sparse(copying *c)
{
    HY_TRY(hy_sparse_find(&c->call, c->M, "M", &c->sparse));
    c->call.options.flags |= HYBRID_CHECK; /* a file must not receive a bad matrix */
    HY_TRY(hy_sparse_check(&c->call, &c->sparse, "M"));
    c->source = c->sparse.source;
    return HYBRID_OK;
}

static hybrid_status transpose(copying *c)
{
    hy_context *ctx = &c->call.engine->ctx;

    if (!c->source.csr)
        return hy_fail(ctx, HYBRID_UNSUPPORTED,
                       "M is dense, and only sparse matrices are transposed");
    if (hy_source_at_hand(&c->source)) {
        HY_TRY(hy_csr_transpose(ctx, c->source.csr, &c->transpose));
        c->source = hy_source_csr(ctx, &c->transpose);
    } else {
        c->of_file.ctx = ctx;
        HY_TRY(hy_join(ctx, c->source.name, "", &c->of_file.name));
        HY_TRY(hy_source_transpose(&c->source, &c->of_file));
        c->source = hy_source_csr_file(&c->of_file);
    }
    return HYBRID_OK;
}

static hybrid_status find(copying *c)
{
    const hybrid_file_options *o = &c->result.options;
    hy_context *ctx              = &c->call.engine->ctx;

    HY_TRY(hy_operand_check(&c->call, c->M, "M"));
    const int sparse = c->M->csr || (c->M->file && c->M->file->matrix.sparse);
    HY_TRY(sparse ? find_sparse(c) : hy_dense_find(&c->call, c->M, "M", &c->source));
    if (o->transpose)
        HY_TRY(transpose(c));
    c->begin = o->row_begin;
    c->end   = o->row_end ? o->row_end : c->source.rows;
    if (c->begin >= 0 && c->begin <= c->end && c->end <= c->source.rows)
        return HYBRID_OK;
    return hy_fail(
        ctx, HYBRID_BAD_ARGUMENT,
        "file options: rows %lld:%lld are not within the %lld rows of the matrix",
        (long long)c->begin, (long long)c->end, (long long)c->source.rows);
}

/* ---- rows -----------------------------------------------------------------------------
 */

static hybrid_status copy_sparse(copying *c)
{
    const int64_t bytes = hy_row_writer_bytes(c->call.engine);
    hybrid_status status;
    hy_a_parts parts;
    const hy_a_part *part;

    hy_a_parts_open(&c->source, bytes, &parts);
    hy_a_parts_range(&parts, c->begin, c->end, 0);
    do {
        status = hy_a_parts_next(&parts, &part);
        if (part)
            hy_files_read(&c->call, part);
        if (status == HYBRID_OK && part)
            status = hy_row_writer_sparse(&c->result.rows, part->A);
        if (status == HYBRID_OK && part)
            hy_progress_add(&c->call.engine->ctx.progress, part->A->rows);
    } while (status == HYBRID_OK && part);
    hy_a_parts_close(&parts);
    return status;
}

static hybrid_status copy_block(copying *c, int64_t row, hybrid_dense *block)
{
    const hy_rect rect = {row, block->rows, 0, block->cols};
    const hy_grid to   = {block->data, block->cols, 1};

    HY_TRY(hy_progress_check(&c->call.engine->ctx.progress));
    HY_TRY(c->source.ops->fill(&c->source, &rect, &to));
    hy_progress_add(&c->call.engine->ctx.progress, block->rows);
    return hy_row_writer_dense(&c->result.rows, block);
}

static hybrid_status copy_dense(copying *c)
{
    hy_context *ctx    = &c->call.engine->ctx;
    hybrid_dense block = *c->source.dense;
    const int64_t row  = block.cols * (int64_t)hy_value_size(block.type);
    const int64_t most = hy_max(1, hy_row_writer_bytes(c->call.engine) / hy_max(1, row));
    hybrid_status status = HYBRID_OK;

    block.order = HYBRID_ROW_MAJOR;
    block.ld    = block.cols;
    HY_TRY(hy_array(ctx, most * hy_max(1, row), 1, "rows of a matrix", &block.data));
    for (int64_t i = c->begin; i < c->end && status == HYBRID_OK; i += block.rows) {
        block.rows = hy_min(most, c->end - i);
        status     = copy_block(c, i, &block);
    }
    hy_array_free(ctx, block.data);
    return status;
}

/* Returns the number of entries in the rows, or -1 if an offset cannot be read; reading
   the rows then tells why. */
static int64_t count_entries(const copying *c)
{
    const int64_t rows = c->source.rows;
    int64_t offset[2][2];

    if (c->begin == 0 && c->end == rows)
        return c->source.csr->nnz;
    for (int i = 0; i < 2; i++) {
        const int64_t at = hy_min(i == 0 ? c->begin : c->end, rows - 1);
        if (hy_source_array(&c->source, HY_CSR_OFFSETS, at, 2, offset[i]) != HYBRID_OK)
            return -1;
    }
    return offset[1][c->end == rows] - offset[0][0];
}

static hybrid_status describe(const copying *c, hy_facts *facts)
{
    hy_facts_add(facts, "hybrid_spmm panels 1");
    hy_facts_add(facts, "rows %lld to %lld of M, type %d, transpose %d",
                 (long long)c->begin, (long long)c->end, (int)c->result.options.type,
                 c->result.options.transpose);
    return c->source.ops->describe(&c->source, "M", facts);
}

static hybrid_status copy(copying *c)
{
    const hybrid_csr *A       = c->source.csr;
    const hy_file_shape shape = {.sparse = A != NULL,
                                 .rows   = c->end - c->begin,
                                 .cols   = c->source.cols,
                                 .nnz    = A ? count_entries(c) : -1,
                                 .type   = A ? A->type : c->source.dense->type};
    hy_facts facts            = {.bytes = 0};

    if (c->result.options.resume)
        HY_TRY(describe(c, &facts));
    HY_TRY(
        hy_result_open(&c->result, &shape, &facts, hy_row_writer_bytes(c->call.engine)));
    c->begin += c->result.first;
    return A ? copy_sparse(c) : copy_dense(c);
}

/* ---- the call -------------------------------------------------------------------------
 */

static hybrid_status compute(copying *c, hybrid_engine *engine, const char *path,
                             const hybrid_file_options *options)
{
    HY_TRY(hy_result_check(engine, path, options, &c->result));
    HY_TRY(hy_files_begin(&c->call, engine, NULL));
    HY_TRY(find(c));
    hy_progress_begin(&engine->ctx.progress, c->end - c->begin);
    hy_progress_expect(&engine->ctx.progress, c->end - c->begin);
    HY_TRY(hy_result_close(&c->result, copy(c)));
    const int64_t bytes = hybrid_engine_written(engine);
    hy_files_end(&c->call, bytes, bytes);
    engine->report.rows = c->result.shape.rows;
    hy_result_report(&c->result);
    return HYBRID_OK;
}

static void release(copying *c)
{
    hy_csr_free(&c->call.engine->ctx, &c->transpose);
    hy_matrix_file_close(&c->of_file);
}

hybrid_status hybrid_file_write(hybrid_engine *engine, const hybrid_operand *M,
                                const char *path, const hybrid_file_options *options)
{
    copying c = {.M = M};

    HY_TRY(hy_engine_begin(engine));
    const hybrid_status status = compute(&c, engine, path, options);
    if (c.call.engine)
        release(&c);
    return hy_engine_end(engine, status);
}
