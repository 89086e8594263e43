/* tests/cuda/test_cuda_space.c - operands and results in GPU memory.

   The test is skipped without a GPU. It is plain C without a test framework, as
   test_cuda_variants.c. With an argument the test makes few products: for tools that make
   kernels slow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "support/inputs/cases.h"
#include "support/device/cuda_arrays.h"
#include "support/device/cuda_operands.h"
#include "support/check/expect.h"
#include "support/engines/open_cuda.h"
#include "support/check/oracle.h"

enum { SKIP = 77, FIRST = 1, SECOND = 2, RESULT = 4, PLACES = 8, TRIALS = 400, FEW = 35 };

static int64_t checked;

/* ---- a trial ---- */

typedef struct trial {
    hybrid_engine *engine;
    unsigned seed;
    int places;
    test_kind kind;
    int64_t rows, inner, cols;
    size_t skew; /* bytes between an aligned address and the beginning of each array */
    double alpha, beta;
    hybrid_order x_order, y_order;
    int64_t gap;
    hybrid_plan_options options;
} trial;

static void complain(const trial *t, const char *what)
{
    fprintf(stderr, "trial %u, places %d, %s, f%d: %s\n", t->seed, t->places,
            t->options.variant ? t->options.variant : "any variant",
            t->kind.type == HYBRID_F64 ? 64 : 32, what);
    expect(0, "a trial");
}

static trial trial_of(hybrid_engine *engine, unsigned seed)
{
    static const hybrid_order orders[] = {HYBRID_ROW_MAJOR, HYBRID_COL_MAJOR};
    static const int64_t cols[]        = {1, 2, 7, 16, 32, 33, 64, 100};
    const uint64_t dice                = test_hash(11, seed);
    const hybrid_type type             = dice & 1 ? HYBRID_F32 : HYBRID_F64;

    return (trial){.engine  = engine,
                   .seed    = seed,
                   .kind    = {type, dice & 2 ? HYBRID_I32 : HYBRID_I64, 1},
                   .places  = (int)(dice >> 2) % PLACES,
                   .rows    = 1 + (int64_t)(dice >> 5) % 4000,
                   .inner   = 1 + (int64_t)(dice >> 17) % 4000,
                   .cols    = cols[(dice >> 29) % 8],
                   .skew    = (size_t)((dice >> 32) % 3) * hy_value_size(type),
                   .alpha   = (dice >> 34) % 3 ? 1 : -2,
                   .beta    = (dice >> 36) % 2 ? 0 : 3,
                   .x_order = orders[(dice >> 37) % 2],
                   .y_order = orders[(dice >> 38) % 2],
                   .gap     = (dice >> 39) % 3 == 0,
                   .options = HYBRID_PLAN_OPTIONS_INIT};
}

/* Returns a copy of A in GPU memory, sometimes with 64-bit column indices: only if
   `skew` is a multiple of 8, because 64-bit arrays must begin at one. */
static hybrid_csr either_there(const trial *t, const hybrid_csr *A)
{
    return t->seed % 5 == 0 && t->skew % 8 == 0 ? cuda_wide_csr(A, t->skew)
                                                : cuda_csr(A, t->skew);
}

static int64_t on_the_bus(hybrid_engine *engine)
{
    hybrid_report report = HYBRID_REPORT_INIT;

    return hybrid_engine_report(engine, &report) == HYBRID_OK
               ? report.h2d_bytes + report.d2h_bytes
               : -1;
}

/* ---- SpMM ---- */

typedef struct dense_operands {
    hybrid_csr A, a;
    hybrid_dense X, before, Y, x, y;
} dense_operands;

static void make_dense(const trial *t, dense_operands *o)
{
    matrix_random(t->rows, t->inner, 9, t->seed, t->kind, &o->A);
    dense_make(t->inner, t->cols, t->gap, t->x_order, 1, t->kind, &o->X);
    dense_make(t->rows, t->cols, t->gap, t->y_order, 2, t->kind, &o->before);
    dense_copy(&o->before, &o->Y);
    o->a = t->places & FIRST ? either_there(t, &o->A) : o->A;
    o->x = t->places & SECOND ? cuda_dense(&o->X, t->skew) : o->X;
    o->y = t->places & RESULT ? cuda_dense(&o->before, t->skew) : o->Y;
}

static void free_dense(const trial *t, dense_operands *o)
{
    if (t->places & FIRST)
        cuda_csr_free(&o->a, t->skew);
    if (t->places & SECOND)
        cuda_array_free(o->x.data, t->skew);
    if (t->places & RESULT)
        cuda_array_free(o->y.data, t->skew);
    matrix_free(&o->A);
    dense_free(&o->X);
    dense_free(&o->before);
    dense_free(&o->Y);
}

/* Makes a plan and runs it, twice if beta is 0. The second run reads no pattern. */
static hybrid_status run_dense(const trial *t, dense_operands *o)
{
    hybrid_plan_options options = t->options;
    hybrid_plan *plan;

    options.x_space      = o->x.space;
    options.result_space = o->y.space;
    HY_TRY(hybrid_spmm_plan(t->engine, &o->a, t->cols, &options, &plan));
    hybrid_status status = hybrid_spmm_run(plan, t->alpha, &o->a, &o->x, t->beta, &o->y);
    if (status == HYBRID_OK && t->beta == 0)
        status = hybrid_spmm_run(plan, t->alpha, &o->a, &o->x, t->beta, &o->y);
    hybrid_plan_destroy(plan);
    return status;
}

static void check_dense(const trial *t)
{
    dense_operands o;

    make_dense(t, &o);
    const hybrid_status status = run_dense(t, &o);
    if (t->places & RESULT)
        cuda_array_read(o.Y.data, o.y.data, cuda_dense_bytes(&o.Y));
    if (status == HYBRID_OK) {
        const char *wrong = oracle_check_spmm(t->alpha, &o.A, &o.X, t->beta, &o.before,
                                              &o.Y, t->kind.integers);
        if (wrong || !dense_gaps_intact(&o.Y))
            complain(t, wrong ? wrong : "gaps of Y were written");
        if (t->places == PLACES - 1 && on_the_bus(t->engine) > 24 * o.A.rows + o.A.nnz)
            /* the bound allows for the tile cuts of spmm.cuda.merge, which are sent */
            complain(t, "operands crossed the bus");
        checked++;
    } else if (status != HYBRID_UNSUPPORTED || !t->options.variant) {
        complain(t, hybrid_engine_message(t->engine));
    }
    free_dense(t, &o);
}

static void check_all_dense(hybrid_engine *engine, unsigned trials)
{
    static const char *const variants[] = {NULL,
                                           "spmm.cuda.rows",
                                           "spmm.cuda.merge",
                                           "spmm.cuda.hrpb",
                                           "spmm.cuda.tiled",
                                           "spmv.cuda.bcsr",
                                           "spmv.cuda.bellpack"};

    for (unsigned seed = 0; seed < trials; seed++) {
        trial t           = trial_of(engine, seed);
        t.options.variant = variants[seed % 7];
        t.options.order   = t.x_order;
        check_dense(&t);
    }
}

/* ---- SpGEMM ---- */

static void check_c(const trial *t, const oracle *reference, hybrid_csr *C)
{
    hybrid_csr here = t->places & RESULT ? cuda_csr_fetch(C) : *C;

    const char *wrong = oracle_check(reference, &here, t->kind.integers);
    if (wrong)
        complain(t, wrong);
    if (t->places == PLACES - 1 && on_the_bus(t->engine) != 0)
        complain(t, "operands or the result crossed the bus");
    if (t->places & RESULT)
        matrix_free(&here);
    hybrid_csr_free(t->engine, C);
    checked++;
}

static hybrid_status run_sparse(const trial *t, const hybrid_csr *A, const hybrid_csr *B,
                                const oracle *reference)
{
    hybrid_status status = HYBRID_OK;
    hybrid_plan *plan;
    hybrid_csr C;

    HY_TRY(hybrid_spgemm_plan(t->engine, A, B, &t->options, &plan));
    for (int run = 0; run < 2 && status == HYBRID_OK; run++) {
        status = hybrid_spgemm_run(plan, A, B, &C);
        if (status == HYBRID_OK)
            check_c(t, reference, &C);
    }
    hybrid_plan_destroy(plan);
    return status;
}

static void check_sparse(const trial *t)
{
    oracle reference;
    hybrid_csr A, B;

    matrix_random(t->rows, t->inner, 6, t->seed, t->kind, &A);
    matrix_random(t->inner, t->rows, 6, t->seed + 1, t->kind, &B);
    oracle_spgemm(&A, &B, &reference);
    hybrid_csr a               = t->places & FIRST ? either_there(t, &A) : A;
    hybrid_csr b               = t->places & SECOND ? either_there(t, &B) : B;
    const hybrid_status status = run_sparse(t, &a, &b, &reference);
    if (status != HYBRID_OK && (status != HYBRID_UNSUPPORTED || !t->options.variant))
        complain(t, hybrid_engine_message(t->engine));
    if (t->places & FIRST)
        cuda_csr_free(&a, t->skew);
    if (t->places & SECOND)
        cuda_csr_free(&b, t->skew);
    oracle_free(&reference);
    matrix_free(&A);
    matrix_free(&B);
}

static void check_all_sparse(hybrid_engine *engine, unsigned trials)
{
    static const char *const variants[] = {NULL, "spgemm.cuda.hash", "spgemm.cuda.dense",
                                           "spgemm.cuda.esc", "spgemm.cuda.esc_dup"};
    static const hybrid_index types[]   = {HYBRID_INDEX_DEFAULT, HYBRID_I32, HYBRID_I64,
                                           HYBRID_INDEX_AUTO};

    for (unsigned seed = 0; seed < trials; seed++) {
        trial t              = trial_of(engine, seed);
        t.options.variant    = variants[seed % 5];
        t.options.flags      = seed % 3 == 0 ? HYBRID_REUSE : 0;
        t.options.chunk_rows = seed % 4 == 0 ? 501 : 0;
        t.options.offsets = t.options.columns = types[seed / 2 % 4];
        if (t.places & RESULT)
            t.options.result_space = HYBRID_SPACE_DEVICE;
        check_sparse(&t);
    }
}

/* ---- streams, patterns, managed memory ---- */

static void check_stream(hybrid_engine *engine)
{
    const test_kind kind = {HYBRID_F32, HYBRID_I64, 1};
    void *stream         = cuda_stream();
    hybrid_dense X, other, Y;
    hybrid_csr A;

    matrix_random(500, 500, 5, 1, kind, &A);
    dense_make(500, 32, 0, HYBRID_ROW_MAJOR, 1, kind, &other);
    dense_make(500, 32, 0, HYBRID_ROW_MAJOR, 2, kind, &X);
    dense_make(500, 32, 0, HYBRID_ROW_MAJOR, 3, kind, &Y);
    hybrid_csr a   = cuda_csr(&A, 0);
    hybrid_dense x = cuda_dense(&other, 0), y = cuda_dense(&Y, 0);
    hybrid_engine_stream(engine, stream);
    cuda_write_late(stream, x.data, X.data, cuda_dense_bytes(&X));
    expect(hybrid_spmm(engine, 1, &a, &x, 0, &y) == HYBRID_OK, "a product of a stream");
    cuda_array_read(Y.data, y.data, cuda_dense_bytes(&Y));
    expect(!oracle_check_spmm(1, &A, &X, 0, &Y, &Y, 1), "X was read before it was there");
    hybrid_engine_stream(engine, NULL);
    cuda_csr_free(&a, 0);
    cuda_array_free(x.data, 0);
    cuda_array_free(y.data, 0);
    cuda_stream_free(stream);
    matrix_free(&A);
    dense_free(&X);
    dense_free(&other);
    dense_free(&Y);
}

/* Checks that the hash of a pattern that the device computes equals the host's. */
static void check_hashes(hybrid_engine *engine)
{
    static const int64_t rows[] = {1, 7, 16384, 40000};
    const hybrid_index types[]  = {HYBRID_I32, HYBRID_I64};
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;
    hybrid_csr A, C;

    options.flags = HYBRID_REUSE;
    for (int i = 0; i < 8; i++) {
        const test_kind kind = {HYBRID_F32, types[i % 2], 1};
        matrix_random(rows[i / 2], rows[i / 2], 3, (unsigned)i, kind, &A);
        hybrid_csr a = cuda_csr(&A, 0);
        expect(hybrid_spgemm_plan(engine, &a, &a, &options, &plan) == HYBRID_OK,
               "a plan");
        expect(hybrid_spgemm_run(plan, &a, &a, &C) == HYBRID_OK, "its pattern");
        hybrid_csr_free(engine, &C);
        cuda_csr_free(&a, 0);
        int32_t *col = A.col;
        int64_t k    = A.nnz;
        while (--k >= 0 &&
               (col[k] + 1 >= A.cols || (k + 1 < A.nnz && col[k + 1] == col[k] + 1)))
            continue;
        if (k >= 0) {
            col[k]++;
            a = cuda_csr(&A, 0);
            expect(hybrid_spgemm_run(plan, &a, &a, &C) == HYBRID_BAD_STATE,
                   "another pattern");
            cuda_csr_free(&a, 0);
        }
        hybrid_plan_destroy(plan);
        matrix_free(&A);
    }
}

/* Checks products with operands in managed memory, which host and device may read. */
static void check_managed(hybrid_engine *engine)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_dense X, Y;
    hybrid_csr A;

    matrix_random(300, 300, 5, 1, kind, &A);
    dense_make(300, 8, 0, HYBRID_ROW_MAJOR, 2, kind, &X);
    dense_make(300, 8, 0, HYBRID_ROW_MAJOR, 3, kind, &Y);
    hybrid_csr a   = cuda_csr(&A, 0);
    hybrid_dense x = X;
    x.data         = cuda_managed(cuda_dense_bytes(&X));
    memcpy(x.data, X.data, cuda_dense_bytes(&X));
    for (int space = 0; space < 2; space++) {
        x.space = (hybrid_space)space;
        expect(hybrid_spmm(engine, 1, &a, &x, 0, &Y) == HYBRID_OK, "managed X");
        expect(!oracle_check_spmm(1, &A, &X, 0, &Y, &Y, 1), "its product");
    }
    cuda_array_free(x.data, 0);
    cuda_csr_free(&a, 0);
    matrix_free(&A);
    dense_free(&X);
    dense_free(&Y);
}

static void check_vectors(hybrid_engine *engine)
{
    const test_kind kind = {HYBRID_F32, HYBRID_I32, 1};
    hybrid_dense X, Y;
    hybrid_csr A;

    matrix_random(3000, 3000, 5, 1, kind, &A);
    dense_make(3000, 1, 0, HYBRID_ROW_MAJOR, 2, kind, &X);
    dense_make(3000, 1, 0, HYBRID_ROW_MAJOR, 3, kind, &Y);
    hybrid_csr a   = cuda_csr(&A, 0);
    hybrid_dense x = cuda_dense(&X, 0), y = cuda_dense(&Y, 0);
    expect(hybrid_spmv(engine, 2, &a, x.data, 0, y.data) == HYBRID_OK, "vectors");
    cuda_array_read(Y.data, y.data, cuda_dense_bytes(&Y));
    expect(!oracle_check_spmm(2, &A, &X, 0, &Y, &Y, 1), "their product");
    expect(hybrid_spmv(engine, 0, &a, x.data, 0, y.data) == HYBRID_OK, "alpha 0");
    cuda_array_read(Y.data, y.data, cuda_dense_bytes(&Y));
    expect(dense_at(&Y, 7, 0) == 0, "beta 0");
    cuda_csr_free(&a, 0);
    cuda_array_free(x.data, 0);
    cuda_array_free(y.data, 0);
    matrix_free(&A);
    dense_free(&X);
    dense_free(&Y);
}

int main(int argc, char **argv)
{
    const unsigned trials = argc > 1 ? FEW : TRIALS;
    hybrid_engine *engine;

    (void)argv;
    const hybrid_status status = open_cuda(0, &engine);

    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK)
        return 1;
    check_all_dense(engine, trials);
    check_all_sparse(engine, trials);
    check_stream(engine);
    check_hashes(engine);
    check_managed(engine);
    check_vectors(engine);
    printf("%lld products were checked\n", (long long)checked);
    expect(checked > trials, "too few products");
    hybrid_engine_destroy(engine);
    return expect_failed() > 0;
}
