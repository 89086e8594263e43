/* tests/cuda/test_cuda_spmv.c - SpMV on the GPU with one matrix for each block shape.

   The test is skipped without a GPU. It is plain C without a test framework, as
   test_cuda_variants.c. With an argument each kernel is tested once: for tools that make
   kernels slow. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "support/inputs/blocked.h"
#include "support/engines/open_cuda.h"
#include "support/check/oracle.h"

enum { SKIP = 77, BUDGETS = 3, CHUNKINGS = 2 };

static const char *const variants[] = {"spmv.cuda.bcsr", "spmv.cuda.bellpack"};

typedef struct trial {
    hybrid_engine *engine;
    hy_block_shape shape;
    test_kind kind;
    hybrid_plan_options options;
    hybrid_csr A;
    hybrid_dense X, Y, before;
} trial;

static int complain(const trial *t, const char *what)
{
    fprintf(stderr, "%s, %d x %d, f%d, %lld rows a chunk: %s\n", t->options.variant,
            t->shape.rows, t->shape.cols, t->kind.type == HYBRID_F64 ? 64 : 32,
            (long long)t->options.chunk_rows, what);
    return 1;
}

/* Checks that the plan was made for blocks of shape t->shape. Returns 1 with a message
   if not. */
static int check_shape(const trial *t, hybrid_plan *plan)
{
    char text[8192] = "", wanted[32];

    snprintf(wanted, sizeof wanted, "blocks %d x %d fill", t->shape.rows, t->shape.cols);
    hybrid_plan_details(plan, text, sizeof text);
    return strstr(text, wanted) ? 0 : complain(t, "other blocks were chosen");
}

static int check_run(trial *t, hybrid_plan *plan)
{
    dense_set(&t->Y, 3);
    if (hybrid_spmm_run(plan, -2, &t->A, &t->X, 3, &t->Y) != HYBRID_OK)
        return complain(t, hybrid_engine_message(t->engine));
    const char *wrong =
        oracle_check_spmm(-2, &t->A, &t->X, 3, &t->before, &t->Y, t->kind.integers);
    return wrong ? complain(t, wrong) : 0;
}

/* Sets a row of x that A does not need to infinity, which must not change y. */
static int check_infinity(trial *t, hybrid_plan *plan)
{
    unsigned char *used = calloc((size_t)t->A.cols + 1, 1);
    int failed          = 0;

    if (!used)
        return complain(t, "no memory");
    for (int64_t k = 0; k < t->A.nnz; k++)
        used[hy_cols(&t->A)[k]] = 1;
    for (int64_t c = 0; c < t->A.cols; c++)
        if (!used[c])
            value_set(t->X.data, t->X.type, c, INFINITY);
    if (hybrid_spmm_run(plan, 1, &t->A, &t->X, 0, &t->Y) != HYBRID_OK)
        failed = complain(t, hybrid_engine_message(t->engine));
    for (int64_t i = 0; i < t->Y.rows && !failed; i++)
        if (!isfinite(dense_at(&t->Y, i, 0)))
            failed = complain(t, "an infinity that is not asked for shows");
    free(used);
    return failed;
}

/* Checks y = A*x with the variant `name`, which may be followed by parameters. */
static int check_variant(trial *t, const char *name, int64_t chunk_rows)
{
    hybrid_plan *plan;

    t->options            = (hybrid_plan_options)HYBRID_PLAN_OPTIONS_INIT;
    t->options.variant    = name;
    t->options.chunk_rows = chunk_rows;
    dense_make(t->A.cols, 1, 0, HYBRID_ROW_MAJOR, 11, t->kind, &t->X);
    dense_make(t->A.rows, 1, 0, HYBRID_ROW_MAJOR, 12, t->kind, &t->Y);
    dense_set(&t->Y, 3);
    dense_copy(&t->Y, &t->before);
    int failed = 0;
    if (hybrid_spmm_plan(t->engine, &t->A, 1, &t->options, &plan) == HYBRID_OK) {
        failed = check_shape(t, plan) + check_run(t, plan) + check_infinity(t, plan);
        hybrid_plan_destroy(plan);
    } else {
        failed = complain(t, hybrid_engine_message(t->engine));
    }
    dense_free(&t->X);
    dense_free(&t->Y);
    dense_free(&t->before);
    return failed;
}

/* Checks matrices of all block shapes. Blocks are full, so that the plan must find the
   shape, and one block row is long. The last block row and block column are incomplete,
   and some columns are unused. chunkings = 1: in one chunk; 2: also in several. */
static int check_shapes(hybrid_engine *engine, int chunkings)
{
    static const int64_t chunks[CHUNKINGS] = {0, 37};
    int failed                             = 0;

    for (int k = 0; k < 128; k++) {
        const int r = k / 16 + 1, c = k / 2 % 8 + 1;
        trial t = {.engine = engine,
                   .shape  = {r, c},
                   .kind   = {k % 2 ? HYBRID_F64 : HYBRID_F32, HYBRID_I64, k % 4 < 2}};
        blocked_matrix(r * 200 - r / 2, (int64_t)c * 900 - c / 2, r, c, 9, 0, 0, t.kind,
                       &t.A);
        for (int v = 0; v < 2 && r * c > 1; v++)
            for (int i = 0; i < chunkings; i++)
                failed += check_variant(&t, variants[v], chunks[i]);
        matrix_free(&t.A);
    }
    return failed;
}

/* ---- forced shapes ---- */

/* Checks both variants with the shape t->shape and R = `lanes` (threads of a block),
   with and without the paper's form. */
static int check_forced(trial *t, int lanes)
{
    char name[96];
    int failed = 0;

    for (int paper = 0; paper < 2; paper++)
        for (int v = 0; v < 2; v++) {
            /* the variant bcsr has the parameter R only in the paper's form */
            const int takes_lanes = paper || v == 1;
            if (!takes_lanes && lanes > 32)
                continue;
            int used = snprintf(name, sizeof name, "%s:r=%d,c=%d%s", variants[v],
                                t->shape.rows, t->shape.cols, paper ? ",paper=1" : "");
            if (takes_lanes)
                snprintf(name + used, sizeof name - (size_t)used, ",R=%d", lanes);
            failed += check_variant(t, name, 0);
        }
    return failed;
}

/* Checks each block shape r x c and each R (threads of a block) from 32 to 256, on a
   matrix that has blocks of another shape. */
static int check_parameters(hybrid_engine *engine)
{
    int failed = 0;

    for (int k = 0; k < 2; k++) {
        trial t = {.engine = engine,
                   .kind   = {k ? HYBRID_F64 : HYBRID_F32, HYBRID_I32, 1}};
        blocked_matrix(1500, 1100, 3, 4, 7, 1, 11, t.kind, &t.A);
        for (int shape = 0; shape < 64; shape++)
            for (int lanes = 32; lanes <= 256; lanes *= 2) {
                t.shape = (hy_block_shape){shape / 8 + 1, shape % 8 + 1};
                failed += check_forced(&t, lanes);
            }
        matrix_free(&t.A);
    }
    return failed;
}

/* Checks which shape is chosen by bytes, in the paper's form and with a given c. */
static int check_rules(hybrid_engine *engine)
{
    trial t    = {.engine = engine, .kind = {HYBRID_F32, HYBRID_I32, 1}, .shape = {3, 3}};
    int failed = 0;

    blocked_matrix(3000, 3000, 3, 3, 20, 0, 0, t.kind, &t.A);
    failed += check_variant(&t, "spmv.cuda.bellpack:paper=1,rule=bytes", 0);
    failed += check_variant(&t, "spmv.cuda.bcsr:paper=1,rule=bytes", 0);
    t.shape = (hy_block_shape){3, 1};
    failed += check_variant(&t, "spmv.cuda.bellpack:c=1,rule=bytes", 0);
    matrix_free(&t.A);
    return failed;
}

/* Checks that no plan with the variant `name` can be made for A, and that the message
   contains `part`. */
static int check_refused(hybrid_engine *engine, const hybrid_csr *A, const char *name,
                         const char *part)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan           = NULL;

    options.variant            = name;
    const hybrid_status status = hybrid_spmm_plan(engine, A, 1, &options, &plan);
    hybrid_plan_destroy(plan);
    if (status == HYBRID_UNSUPPORTED && strstr(hybrid_engine_message(engine), part))
        return 0;
    fprintf(stderr, "%s: %s\n", name, hybrid_engine_message(engine));
    return 1;
}

static int check_refusals(hybrid_engine *engine)
{
    const test_kind kind = {HYBRID_F32, HYBRID_I32, 1};
    hybrid_csr A;
    int failed = 0;

    blocked_matrix(50, 5, 1, 1, 3, 0, 0, kind, &A);
    for (int v = 0; v < 2; v++) {
        char name[64];
        snprintf(name, sizeof name, "%s:r=2,c=6", variants[v]);
        failed += check_refused(engine, &A, name, "more columns than A");
    }
    failed += check_refused(engine, &A, "spmv.cuda.bcsr:R=64", "only paper=1");
    matrix_free(&A);
    return failed;
}

int main(int argc, char **argv)
{
    const int few = argc > 1, tried = few ? 1 : BUDGETS;
    hybrid_engine *engine;
    int failed = 0;

    (void)argv;
    for (int i = 0; i < tried; i++) { /* with GPU memory for all of x, for gathered parts
                                         of x, and for little */
        static const size_t budgets[] = {0, 96 << 10, 32 << 10};
        const hybrid_status status    = open_cuda(budgets[i], &engine);
        if (status == HYBRID_NO_DEVICE)
            return SKIP;
        if (status != HYBRID_OK)
            return 1;
        failed += check_shapes(engine, few ? 1 : CHUNKINGS);
        if (i == 0)
            failed += check_rules(engine) + check_refusals(engine);
        if (i == 0 && !few)
            failed += check_parameters(engine);
        hybrid_engine_destroy(engine);
    }
    printf("%d wrong\n", failed);
    return failed > 0;
}
