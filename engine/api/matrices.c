/* engine/api/matrices.c - public functions that make, check, read and write matrices.
   They wrap base/data/csr.c and io/. */
#include <string.h>

#include "base/data/csr.h"
#include "base/memory/results.h"
#include "engine/api/check.h"
#include "engine/api/engine.h"
#include "io/generate/generate.h"
#include "io/text/io.h"

/* Begins a call whose arguments `first` and `second` must not be NULL. */
static hybrid_status begin_with(hybrid_engine *engine, const void *first,
                                const void *second)
{
    HY_TRY(hy_engine_begin(engine));
    if (!first || !second)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "an argument is NULL");
    return HYBRID_OK;
}

/* Begins a call that reads a file to *out as `type`; checks these arguments. */
static hybrid_status begin_read(hybrid_engine *engine, const char *path, hybrid_type type,
                                const void *out)
{
    HY_TRY(begin_with(engine, path, out));
    return hy_check_type(&engine->ctx, HYBRID_BAD_ARGUMENT, path, type);
}

void hybrid_csr_free(hybrid_engine *engine, hybrid_csr *matrix)
{
    if (!engine || !matrix)
        return;
    if (hy_engine_inherited(engine))
        memset(matrix, 0, sizeof *matrix);
    else
        hy_csr_free(&engine->ctx, matrix);
}

hybrid_status hybrid_csr_check(hybrid_engine *engine, const hybrid_csr *A)
{
    HY_TRY(hy_engine_begin(engine));
    return hy_engine_end(engine, hy_check_rules(&engine->ctx, A, "A"));
}

static hybrid_status transpose(hybrid_engine *engine, const hybrid_csr *A, hybrid_csr *T)
{
    hy_context *ctx = &engine->ctx;

    HY_TRY(hy_check_rules(ctx, A, "A"));
    HY_TRY(hy_narrow_add(ctx, &engine->narrow, &A, "A"));
    return hy_csr_transpose(ctx, A, T);
}

hybrid_status hybrid_csr_transpose(hybrid_engine *engine, const hybrid_csr *A,
                                   hybrid_csr *T)
{
    HY_TRY(begin_with(engine, A, T));
    return hy_engine_end(engine, transpose(engine, A, T));
}

hybrid_status hybrid_dense_create(hybrid_engine *engine, int64_t rows, int64_t cols,
                                  hybrid_order order, hybrid_type type, hybrid_dense *out)
{
    HY_TRY(begin_with(engine, out, out));
    hy_context *ctx     = &engine->ctx;
    hybrid_dense matrix = {rows,  cols,    order == HYBRID_ROW_MAJOR ? cols : rows,
                           order, &matrix, type};

    HY_TRY(hy_check_dense(ctx, &matrix, "the matrix"));
    const hybrid_status status = hy_results_array(ctx, rows * cols, hy_value_size(type),
                                                  "a dense matrix", &matrix.data);
    if (status == HYBRID_OK)
        *out = matrix;
    return hy_engine_end(engine, status);
}

void hybrid_dense_free(hybrid_engine *engine, hybrid_dense *matrix)
{
    if (!engine || !matrix)
        return;
    if (!hy_engine_inherited(engine))
        hy_results_release(&engine->ctx, matrix->data);
    memset(matrix, 0, sizeof *matrix);
}

hybrid_status hybrid_dense_random(hybrid_engine *engine, uint64_t seed,
                                  hybrid_dense *matrix)
{
    HY_TRY(hy_engine_begin(engine));
    HY_TRY(hy_check_dense(&engine->ctx, matrix, "the matrix"));
    return hy_engine_end(engine, hy_dense_random(&engine->ctx, seed, matrix));
}

hybrid_status hybrid_generate(hybrid_engine *engine, const char *spec, hybrid_type type,
                              uint64_t seed, hybrid_csr *out)
{
    HY_TRY(begin_with(engine, spec, out));
    return hy_engine_end(
        engine, hy_memory_of(&engine->ctx,
                             hy_generate(&engine->ctx, spec, type, seed, out), spec));
}

hybrid_status hybrid_read_mtx(hybrid_engine *engine, const char *path, hybrid_type type,
                              hybrid_csr *out)
{
    HY_TRY(begin_read(engine, path, type, out));
    const hybrid_status status = hy_read_mtx(&engine->ctx, path, type, out);
    return hy_engine_end(engine, hy_memory_of(&engine->ctx, status, path));
}

static hybrid_status write_mtx(hybrid_engine *engine, const char *path,
                               const hybrid_csr *matrix)
{
    hy_context *ctx = &engine->ctx;

    HY_TRY(hy_check_rules(ctx, matrix, "the matrix"));
    HY_TRY(hy_narrow_add(ctx, &engine->narrow, &matrix, "the matrix"));
    return hy_write_mtx(ctx, path, matrix);
}

hybrid_status hybrid_write_mtx(hybrid_engine *engine, const char *path,
                               const hybrid_csr *matrix)
{
    HY_TRY(begin_with(engine, path, matrix));
    return hy_engine_end(engine, write_mtx(engine, path, matrix));
}

hybrid_status hybrid_read_dense(hybrid_engine *engine, const char *path, hybrid_type type,
                                hybrid_dense *out)
{
    HY_TRY(begin_read(engine, path, type, out));
    const hybrid_status status = hy_read_dense(&engine->ctx, path, type, out);
    return hy_engine_end(engine, hy_memory_of(&engine->ctx, status, path));
}

hybrid_status hybrid_write_npy(hybrid_engine *engine, const char *path,
                               const hybrid_dense *matrix)
{
    HY_TRY(begin_with(engine, path, matrix));
    HY_TRY(hy_check_dense(&engine->ctx, matrix, "the matrix"));
    return hy_engine_end(engine, hy_write_npy(&engine->ctx, path, matrix));
}
