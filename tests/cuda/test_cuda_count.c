/* tests/cuda/test_cuda_count.c - scalar products of rows counted on the GPU.

   The test is skipped without a GPU. It is plain C without a test framework, because GPU
   machines seldom have one. */
#include <stdlib.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/run/prefetch.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"
#include "support/check/expect.h"
#include "support/engines/open_cuda.h"
#include "support/fake/settings.h"

enum { SKIP = 77 };

/* Makes a matrix of which one row has `longest` entries and the others 0 to 12. */
static hybrid_csr make(int64_t rows, int64_t longest, test_kind kind)
{
    builder b = build_start(rows, rows);

    for (int64_t i = 0; i < rows; i++) {
        const int64_t count = i == rows / 2 ? longest : i * i % 13;
        for (int64_t j = 0; j < count; j++)
            build_add(&b, (i * 7919 + j * (rows / count)) % rows);
        build_end_row(&b);
    }
    return build_finish(&b, 5, kind);
}

static int64_t products_of(const hybrid_csr *A, int64_t i)
{
    int64_t sum = 0;

    for (int64_t k = hy_offset(A, i); k < hy_offset(A, i + 1); k++)
        sum += hy_offset(A, hy_cols(A)[k] + 1) - hy_offset(A, hy_cols(A)[k]);
    return sum;
}

static void check(hybrid_engine *engine, const hybrid_csr *A)
{
    const uint32_t *products = NULL;
    hy_loader *early;

    settings_of(engine)->prefetch_bytes = 1;
    expect(hy_prefetch_begin(engine, A, A, &early) == HYBRID_OK && early, "B under way");
    expect(hy_loader_count(early, &products) == HYBRID_OK && products, "no counts");
    for (int64_t i = 0; products && i < A->rows; i++)
        if (products[i] != products_of(A, i)) {
            expect(0, "the products of a row");
            break;
        }
    expect(hy_prefetch_end(&early) == HYBRID_OK, "an end");
}

int main(void)
{
    static const int64_t rows[] = {1, 255, 256, 257, 5000, 100003};
    hybrid_engine *engine;
    const hybrid_status status = open_cuda(0, &engine);

    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK)
        return 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const test_kind kind  = {HYBRID_F32, i % 2 ? HYBRID_I32 : HYBRID_I64, 1};
        const int64_t longest = hy_min(rows[i], HY_COUNTED_ROW);
        hybrid_csr A          = make(rows[i], longest, kind);
        check(engine, &A);
        matrix_free(&A);
    }
    hybrid_engine_destroy(engine);
    return expect_failed() > 0;
}
