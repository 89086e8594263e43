/* tests/cuda/test_cuda_direct.c - products with operands and result on the GPU.

   They are planned on the GPU, by variants that read A in place, and may return before
   they are complete. The test is skipped without a GPU. It is plain C without a test
   framework, as test_cuda_variants.c. */
#include <stdio.h>
#include <string.h>

#include "base/data/csr.h"
#include "support/inputs/cases.h"
#include "support/device/cuda_arrays.h"
#include "support/device/cuda_operands.h"
#include "support/check/expect.h"
#include "support/engines/open_cuda.h"
#include "support/check/oracle.h"

enum { SKIP = 77, KINDS = 4, FEW_STEP = 9 };

static int64_t checked;

static test_kind kind_of(int i)
{
    return (test_kind){i & 1 ? HYBRID_F32 : HYBRID_F64, i & 2 ? HYBRID_I32 : HYBRID_I64,
                       1};
}

static void complain(const char *name, const char *variant, int64_t cols,
                     const char *what)
{
    fprintf(stderr, "%s, %s, %lld columns: %s\n", name, variant, (long long)cols, what);
    expect(0, "a product");
}

/* ---- A*X ---- */

typedef struct dense {
    hybrid_engine *engine;
    const char *name; /* name of the matrix in messages */
    const hybrid_csr *A;
    hybrid_csr a;
    hybrid_dense X, Y, x, y;
} dense;

static dense dense_of(hybrid_engine *engine, const char *name, const hybrid_csr *A,
                      const hybrid_csr *a, int64_t cols, test_kind kind)
{
    dense d = {.engine = engine, .name = name, .A = A, .a = *a};

    dense_make(A->cols, cols, 0, HYBRID_ROW_MAJOR, 1, kind, &d.X);
    dense_make(A->rows, cols, 0, HYBRID_ROW_MAJOR, 2, kind, &d.Y);
    d.x = cuda_dense(&d.X, 0);
    d.y = cuda_dense(&d.Y, 0);
    return d;
}

static void dense_end(dense *d)
{
    cuda_array_free(d->x.data, 0);
    cuda_array_free(d->y.data, 0);
    dense_free(&d->X);
    dense_free(&d->Y);
}

/* Checks that y, in GPU memory, is alpha*A*X + beta*Y, and sets it to Y again. */
static void check_y(dense *d, const char *variant, double alpha, double beta)
{
    hybrid_dense here;

    dense_copy(&d->Y, &here);
    cuda_array_read(here.data, d->y.data, cuda_dense_bytes(&here));
    const char *wrong = oracle_check_spmm(alpha, d->A, &d->X, beta, &d->Y, &here, 1);
    if (wrong)
        complain(d->name, variant, d->X.cols, wrong);
    checked++;
    dense_free(&here);
    cuda_array_free(d->y.data, 0);
    d->y = cuda_dense(&d->Y, 0);
}

static hybrid_plan_options options_of(const char *variant, unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;

    options.variant = variant;
    options.flags   = flags;
    options.x_space = options.result_space = HYBRID_SPACE_DEVICE;
    return options;
}

/* Runs a plan twice, first with beta != 0, and checks y. */
static void check_planned(dense *d, const char *variant, unsigned flags)
{
    const hybrid_plan_options options = options_of(variant, flags);
    hybrid_plan *plan;

    if (hybrid_spmm_plan(d->engine, &d->a, d->X.cols, &options, &plan) != HYBRID_OK) {
        complain(d->name, variant, d->X.cols, hybrid_engine_message(d->engine));
        return;
    }
    for (int run = 0; run < 2; run++) {
        const double alpha = run ? 1 : 2, beta = run ? 0 : 3;
        if (hybrid_spmm_run(plan, alpha, &d->a, &d->x, beta, &d->y) != HYBRID_OK)
            complain(d->name, variant, d->X.cols, hybrid_engine_message(d->engine));
        check_y(d, variant, alpha, beta);
    }
    hybrid_plan_destroy(plan);
}

static void check_dense(hybrid_engine *engine, const char *name, const hybrid_csr *A,
                        const hybrid_csr *a, test_kind kind)
{
    static const int64_t cols[] = {1, 2, 8, 33, 64, 130};

    for (int i = 0; i < 6; i++) {
        dense d = dense_of(engine, name, A, a, cols[i], kind);
        for (int call = 0; call < 2; call++) { /* the second call follows the plan of the
                                                  first call */
            if (hybrid_spmm(engine, 1, &d.a, &d.x, 0, &d.y) != HYBRID_OK)
                complain(name, "one shot", cols[i], hybrid_engine_message(engine));
            check_y(&d, "one shot", 1, 0);
        }
        if (A->rows > 0 && A->nnz > 0) {
            check_planned(&d, "spmm.cuda.merge", 0);
            check_planned(&d, "spmm.cuda.rows", 0);
        }
        dense_end(&d);
    }
}

/* ---- A*B ---- */

static void check_sparse(hybrid_engine *engine, const char *name, const hybrid_csr *A,
                         const hybrid_csr *B, unsigned flags)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr a = cuda_csr(A, 0), b = cuda_csr(B, 0), C;
    hybrid_report report = HYBRID_REPORT_INIT;
    oracle reference;

    options.result_space = HYBRID_SPACE_DEVICE;
    options.flags        = flags;
    oracle_spgemm(A, B, &reference);
    if (hybrid_spgemm_with(engine, &options, &a, &b, &C) != HYBRID_OK) {
        complain(name, "A*B", B->cols, hybrid_engine_message(engine));
    } else {
        hybrid_csr here   = cuda_csr_fetch(&C);
        const char *wrong = oracle_check(&reference, &here, 1);
        if (wrong)
            complain(name, "A*B", B->cols, wrong);
        (void)hybrid_engine_report(engine, &report);
        expect(report.h2d_bytes + report.d2h_bytes == 0, "nothing passes the bus");
        matrix_free(&here);
        hybrid_csr_free(engine, &C);
        checked++;
    }
    oracle_free(&reference);
    cuda_csr_free(&a, 0);
    cuda_csr_free(&b, 0);
}

static void check_cases(hybrid_engine *engine, int step)
{
    for (int i = 0; i < case_count() * KINDS; i += step) {
        const test_kind kind = kind_of(i % KINDS);
        const char *name     = case_name(i / KINDS);
        test_case c;
        case_make(i / KINDS, kind, &c);
        hybrid_csr a = i % 3 == 0 ? cuda_wide_csr(&c.A, 0) : cuda_csr(&c.A, 0);
        check_dense(engine, name, &c.A, &a, kind);
        check_sparse(engine, name, &c.A, &c.B,
                     i % 2 ? HYBRID_DETERMINISTIC : HYBRID_CHECK);
        cuda_csr_free(&a, 0);
        case_free(&c);
    }
}

/* ---- invalid operands ---- */

static void check_wrong(hybrid_engine *engine)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    const test_kind kind        = {HYBRID_F32, HYBRID_I32, 1};
    hybrid_csr A, C;

    options.result_space = HYBRID_SPACE_DEVICE;
    matrix_random(500, 500, 5, 1, kind, &A);
    ((int32_t *)A.col)[100] = 500;
    hybrid_csr a            = cuda_csr(&A, 0);
    expect(hybrid_spgemm_with(engine, &options, &a, &a, &C) == HYBRID_BAD_MATRIX,
           "a column out of range");
    dense e = dense_of(engine, "wrong", &A, &a, 8, kind);
    expect(hybrid_spmm(engine, 1, &a, &e.x, 0, &e.y) == HYBRID_BAD_MATRIX,
           "a column out of range, and X");
    dense_end(&e);
    cuda_csr_free(&a, 0);
    ((int32_t *)A.col)[100] = ((int32_t *)A.col)[99];
    ((int32_t *)A.col)[101] = ((int32_t *)A.col)[99];
    ((int32_t *)A.col)[102] = ((int32_t *)A.col)[99];
    options.flags           = HYBRID_CHECK;
    a                       = cuda_csr(&A, 0);
    expect(hybrid_spgemm_with(engine, &options, &a, &a, &C) == HYBRID_BAD_MATRIX,
           "columns that repeat");
    cuda_csr_free(&a, 0);
    ((int32_t *)A.col)[100] = 499;
    ((int32_t *)A.row_ptr)[7] += 100;
    a       = cuda_csr(&A, 0);
    dense d = dense_of(engine, "wrong", &A, &a, 8, kind);
    expect(hybrid_spmm(engine, 1, &a, &d.x, 0, &d.y) == HYBRID_BAD_MATRIX,
           "offsets that fall");
    dense_end(&d);
    cuda_csr_free(&a, 0);
    matrix_free(&A);
}

/* ---- patterns that change between calls ---- */

/* Sets entry 100 of `a`, in GPU memory, to column `col`. */
static void set_column(const hybrid_csr *a, int32_t col)
{
    void *stream = cuda_stream();

    cuda_write_late(stream, (int32_t *)a->col + 100, &col, sizeof col);
    cuda_stream_wait(stream);
    cuda_stream_free(stream);
}

/* Makes six calls with the same arrays, each of which follows the plan of the call
   before. In two of them a column is out of range: they must fail and leave Y as it
   was. */
static void check_change(hybrid_engine *engine, const hybrid_csr *A, int64_t cols)
{
    const test_kind kind = {A->type, A->offset_type, 1};
    const int32_t col    = ((const int32_t *)A->col)[100];
    hybrid_csr a         = cuda_csr(A, 0);
    dense d              = dense_of(engine, "a change", A, &a, cols, kind);

    for (int call = 0; call < 6; call++) {
        const int wrong           = call == 2 || call == 4;
        const hybrid_status right = wrong ? HYBRID_BAD_MATRIX : HYBRID_OK;
        set_column(&a, wrong ? 500 : col);
        expect(hybrid_spmm(engine, 1, &d.a, &d.x, 0, &d.y) == right,
               "a column that changes between calls");
        check_y(&d, "a change", wrong ? 0 : 1, wrong ? 1 : 0);
    }
    dense_end(&d);
    cuda_csr_free(&a, 0);
}

/* Calls check_change() for two matrices. In the second, row 0 has all entries of the
   first 100 rows. */
static void check_changes(hybrid_engine *engine)
{
    static const int64_t cols[] = {1, 8, 64};
    const test_kind kind        = {HYBRID_F32, HYBRID_I32, 1};
    hybrid_csr A;

    matrix_random(500, 500, 5, 1, kind, &A);
    for (int i = 0; i < 3; i++)
        check_change(engine, &A, cols[i]);
    for (int row = 1; row < 100; row++)
        ((int32_t *)A.row_ptr)[row] = ((int32_t *)A.row_ptr)[100];
    for (int i = 0; i < 3; i++)
        check_change(engine, &A, cols[i]);
    matrix_free(&A);
}

/* ---- asynchronous runs ---- */

typedef struct async {
    void *stream;
    hybrid_plan *plan;
    dense d;
} async;

static void async_open(hybrid_engine *engine, const hybrid_csr *A, const hybrid_csr *a,
                       const char *variant, async *e)
{
    const hybrid_plan_options options = options_of(variant, HYBRID_ASYNC);

    e->stream = cuda_stream();
    e->d = dense_of(engine, variant, A, a, 8, (test_kind){A->type, A->offset_type, 1});
    expect(hybrid_spmm_plan(engine, a, 8, &options, &e->plan) == HYBRID_OK, "a plan");
}

static void async_run(async *e, double alpha, double beta)
{
    hybrid_engine_stream(e->d.engine, e->stream);
    expect(hybrid_spmm_run(e->plan, alpha, &e->d.a, &e->d.x, beta, &e->d.y) == HYBRID_OK,
           "a run");
}

static void async_check(async *e, double alpha, double beta)
{
    cuda_stream_wait(e->stream);
    check_y(&e->d, "a stream", alpha, beta);
}

/* Runs two plans on two streams. Each stream is held up by a kernel that ends only when
   both calls have returned. */
static void check_two_streams(hybrid_engine *engine, const hybrid_csr *A,
                              const hybrid_csr *a)
{
    async e[2];
    void *hold[2];

    async_open(engine, A, a, "spmm.cuda.rows", &e[0]);
    async_open(engine, A, a, "spmm.cuda.merge", &e[1]);
    for (int i = 0; i < 2; i++) {
        async_run(&e[i], 2, 3);
        async_check(&e[i], 2, 3);
        hold[i] = cuda_hold(e[i].stream);
        cuda_release(hold[i]);
    }
    for (int i = 0; i < 2; i++) {
        hold[i] = cuda_hold(e[i].stream);
        async_run(&e[i], 2, 3);
    }
    expect(cuda_stream_busy(e[0].stream) && cuda_stream_busy(e[1].stream),
           "runs return before the kernel ahead of them ends");
    for (int i = 0; i < 2; i++)
        *(volatile int *)hold[i] = 1;
    for (int i = 0; i < 2; i++) {
        cuda_release(hold[i]);
        async_check(&e[i], 2, 3);
    }
    hybrid_engine_stream(engine, NULL);
    for (int i = 0; i < 2; i++) {
        hybrid_plan_destroy(e[i].plan);
        dense_end(&e[i].d);
        cuda_stream_free(e[i].stream);
    }
}

/* X is freed in stream order when the run has returned, and its memory is used again at
   once. The run must still read the right X. */
static void check_freed(hybrid_engine *engine, const hybrid_csr *A, const hybrid_csr *a)
{
    async e;

    async_open(engine, A, a, "spmm.cuda.merge", &e);
    const hybrid_dense kept = e.d.x;
    const size_t bytes      = cuda_dense_bytes(&e.d.X);
    for (int run = 0; run < 50; run++) {
        e.d.x.data = cuda_array_in(e.stream, e.d.X.data, bytes);
        async_run(&e, 1, run == 0 ? 3 : 1);
        cuda_array_free_in(e.stream, e.d.x.data);
        void *other = cuda_array_in(e.stream, e.d.Y.data, bytes);
        cuda_array_free_in(e.stream, other);
        if (run == 0)
            async_check(&e, 1, 3);
    }
    e.d.x = kept;
    cuda_stream_wait(e.stream);
    check_y(&e.d, "49 runs", 49, 1);
    hybrid_engine_stream(engine, NULL);
    async_run(&e, 1, 0);
    hybrid_plan_destroy(e.plan); /* must wait until the runs of the plan have ended */
    expect(!cuda_stream_busy(e.stream), "a plan is destroyed when its runs are over");
    check_y(&e.d, "a plan that is gone", 1, 0);
    dense_end(&e.d);
    hybrid_engine_stream(engine, NULL);
    cuda_stream_free(e.stream);
}

static void check_async(hybrid_engine *engine, int few)
{
    const test_kind kind = {HYBRID_F32, HYBRID_I32, 1};
    hybrid_csr A;

    matrix_random(3000, 3000, 6, 1, kind, &A);
    hybrid_csr a = cuda_csr(&A, 0);
    if (!few)
        check_two_streams(engine, &A, &a);
    check_freed(engine, &A, &a);
    cuda_csr_free(&a, 0);
    matrix_free(&A);
}

int main(int argc, char **argv)
{
    const int few = argc > 1;
    hybrid_engine *engine;

    (void)argv;

    const hybrid_status status = open_cuda(0, &engine);
    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK)
        return 1;
    check_cases(engine, few ? FEW_STEP : 1);
    check_wrong(engine);
    check_changes(engine);
    check_async(engine, few);
    printf("%lld products were checked\n", (long long)checked);
    expect(checked > (few ? 100 : 1000), "too few products");
    hybrid_engine_destroy(engine);
    return expect_failed() > 0;
}
