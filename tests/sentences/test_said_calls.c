/* tests/sentences/test_said_calls.c - calls that say sentences which no other test needs.

   sentences.py compares what the library says, and the lines that this program prints,
   with sentences.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract/variant.h"
#include "engine/api/engine.h"
#include "engine/tables/tables.h"
#include "partition/format/pack.h"
#include "support/engines/host_engine.h"
#include "support/engines/io_fixture.h"
#include "support/inputs/cases.h"

static int64_t ptr[] = {0, 1, 2};
static int32_t col[] = {0, 1};
static double val[]  = {1, 1}, x[2], y[2];

static const hybrid_csr I   = {2, 2, 2, HYBRID_I64, ptr, col, val, HYBRID_F64};
static const hybrid_dense X = {2, 1, 1, HYBRID_ROW_MAJOR, x, HYBRID_F64};

#define REFUSED(call) assert_int_equal(call, HYBRID_BAD_ARGUMENT)

static void options_of_plans(void **state)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_dense Y              = {2, 1, 1, HYBRID_ROW_MAJOR, y, HYBRID_F64};
    hybrid_plan *plan;

    (void)state;
    options.order = (hybrid_order)7;
    REFUSED(hybrid_spmm_plan(engine, &I, 1, &options, &plan));
    options            = (hybrid_plan_options)HYBRID_PLAN_OPTIONS_INIT;
    options.chunk_rows = -1;
    REFUSED(hybrid_spmm_plan(engine, &I, 1, &options, &plan));
    options       = (hybrid_plan_options)HYBRID_PLAN_OPTIONS_INIT;
    options.split = (hybrid_split)9;
    REFUSED(hybrid_spmm_plan(engine, &I, 1, &options, &plan));
    options       = (hybrid_plan_options)HYBRID_PLAN_OPTIONS_INIT;
    options.flags = HYBRID_RESIDENT;
    REFUSED(hybrid_spmm_with(engine, &options, 1, &I, &X, 0, &Y));
    Y.cols = 2, Y.ld = 2;
    assert_int_equal(hybrid_spmm(engine, 1, &I, &X, 0, &Y), HYBRID_BAD_SHAPE);
    Y.cols = Y.ld = INT64_MAX / 8;
    REFUSED(hybrid_spmm(engine, 1, &I, &X, 0, &Y));
}

static void *no_memory(void *user, size_t bytes)
{
    (void)user, (void)bytes;
    return NULL;
}

static void options_of_engines(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *other;

    (void)state;
    options.backend = (hybrid_backend)7;
    REFUSED(hybrid_engine_create(&options, &other));
    options.backend         = HYBRID_HOST;
    options.allocator.alloc = no_memory;
    REFUSED(hybrid_engine_create(&options, &other));
    options            = (hybrid_engine_options)HYBRID_ENGINE_OPTIONS_INIT;
    options.spill_path = "";
    REFUSED(hybrid_engine_create(&options, &other));
}

static void shapes_of_results(void **state)
{
    hybrid_csr C = I;
    int64_t row;

    (void)state;
    C.cols = 3;
    assert_int_equal(hybrid_verify_spgemm(engine, &I, &I, &C, 1, 1, &row),
                     HYBRID_BAD_SHAPE);
}

/* ---- sentences of calls that do not fail ---- */

static void no_engine(void **state)
{
    (void)state;
    puts(hybrid_engine_message(NULL));
    puts(hybrid_engine_device(NULL));
}

static void constants(void **state)
{
    static const int statuses[] = {
#define NUMBER(name, number, text) number,
        HYBRID_STATUS_MAP(NUMBER)
#undef NUMBER
        - 1};

    (void)state;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        puts(hybrid_status_text((hybrid_status)statuses[i]));
    for (int i = 0; i <= HYBRID_RESOURCES; i++)
        puts(hybrid_resource_text((hybrid_resource)i));
    puts(hybrid_origin_text(HYBRID_BUILT_IN));
    puts(hybrid_origin_text((hybrid_origin)-1));
}

static int speak(void *user, int64_t done, int64_t rows)
{
    (void)user, (void)done, (void)rows;
    puts(hybrid_engine_message(engine));
    return 0;
}

static void within_the_callers_function(void **state)
{
    hybrid_csr C;

    (void)state;
    hybrid_engine_progress(engine, speak, NULL);
    assert_int_equal(hybrid_spgemm(engine, &I, &I, &C), HYBRID_OK);
    hybrid_csr_free(engine, &C);
    hybrid_engine_progress(engine, NULL, NULL);
}

static int end(void *user, int64_t done, int64_t rows)
{
    (void)user, (void)done, (void)rows;
    return 7;
}

static void the_callers_function_ends_the_call(void **state)
{
    const int64_t every_ns = engine->ctx.progress.every_ns;
    hybrid_csr A, C;

    (void)state;
    assert_int_equal(hybrid_generate(engine, "er:5000,9", HYBRID_F64, 1, &A), HYBRID_OK);
    engine->ctx.progress.every_ns = 0;
    hybrid_engine_progress(engine, end, NULL);
    assert_int_equal(hybrid_spgemm(engine, &A, &A, &C), HYBRID_CANCELLED);
    hybrid_engine_progress(engine, NULL, NULL);
    engine->ctx.progress.every_ns = every_ns;
    hybrid_csr_free(engine, &A);
}

static void in_a_forked_child(void **state)
{
    int status;

    (void)state;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        hybrid_csr C;
        const hybrid_status bad = hybrid_spgemm(engine, &I, &I, &C);
        puts(hybrid_engine_message(engine));
        fflush(stdout);
        _exit(bad != HYBRID_BAD_STATE);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- why a variant cannot compute a product ---- */

/* Prints why variants of the library refuse products with these features, on a GPU of
   compute capability `sm`. */
static void tell_refusals(const hy_features *f, int sm)
{
    const hy_rates rates = {.sm = sm};

    for (const hy_variant *const *v = hy_variants; *v; v++) {
        const char *why = (*v)->refuse(f, &rates);
        if (why)
            puts(why);
    }
}

static void refusals(void **state)
{
    hy_features f = {.type = HYBRID_F64, .nnz = 1, .out_cols = 1};

    (void)state;
    tell_refusals(&f, 70);
    f.parameter[0] = 1;
    tell_refusals(&f, 90);
    f.parameter[0] = 0;
    f.row_max = f.products_max = (int64_t)1 << 40;
    tell_refusals(&f, 90);
    f.out_cols = (int64_t)1 << 31;
    tell_refusals(&f, 90);
    f.block_rows = f.block_cols = 8;
    f.block_fill                = 0.01;
    puts(hy_block_refuse(&f));
    f.block_fill = 0;
    puts(hy_block_refuse(&f));
    f.out_cols = 1;
    tell_refusals(&f, 90); /* for f, blocks are wider than A, which has no columns */
    f.parameter[HY_BLOCK_LANES] = 64;
    tell_refusals(&f, 90);
}

/* ---- a file of another format ---- */

static void table(void **state)
{
    const char text[] = "gene,a,b\nBRCA1,1,2\n";
    hybrid_dense D;

    (void)state;
    io_store(io_temp("x.csv"), text, sizeof text - 1);
    assert_int_equal(hybrid_read_dense(engine, io_temp("x.csv"), HYBRID_F64, &D),
                     HYBRID_BAD_FILE);
    io_remove_temp();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_plans),
        cmocka_unit_test(options_of_engines),
        cmocka_unit_test(shapes_of_results),
        cmocka_unit_test(no_engine),
        cmocka_unit_test(constants),
        cmocka_unit_test(within_the_callers_function),
        cmocka_unit_test(in_a_forked_child),
        cmocka_unit_test(the_callers_function_ends_the_call),
        cmocka_unit_test(refusals),
        cmocka_unit_test(table),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
