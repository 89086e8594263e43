/* tests/run/device/test_sink_csr.c - the contract of a sink for CSR results.

   Parts of a matrix in plain arrays are reserved and stored in every way and in any
   permitted order by two threads at once. The result must equal those arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "base/data/csr.h"
#include "base/threads/spin.h"
#include "base/memory/results.h"
#include "engine/api/engine.h"
#include "pipeline/sink/sink_csr.h"
#include "support/inputs/cases.h"
#include "support/inputs/csr_parts.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"
#include "support/runs/prefault_await.h"

enum {
    PATIENCE         = 100, /* maximum number of passes until a direct copy happens */
    MOST_ALLOCATIONS = 100
};

static const hybrid_type types[] = {HYBRID_F32, HYBRID_F64};

/* Requested types of offsets and columns, and the types that C must have. `spare`: by
   how many entries the limit of 32-bit offsets exceeds the number of entries; the upper
   bound of entries exceeds that number by MORE. */
enum { MORE = 1000 };

typedef struct widths {
    hybrid_index offsets, columns;
    int64_t spare;
    hybrid_index offset_type, col_type;
} widths;

static const widths usual   = {HYBRID_I64, HYBRID_I32, 0, HYBRID_I64, HYBRID_I32};
static const widths asked[] = {
    {HYBRID_I64, HYBRID_I32, -1, HYBRID_I64, HYBRID_I32},
    {HYBRID_I32, HYBRID_I32, 0, HYBRID_I32, HYBRID_I32},
    {HYBRID_I32, HYBRID_I64, 0, HYBRID_I32, HYBRID_I64},
    {HYBRID_I64, HYBRID_I64, MORE, HYBRID_I64, HYBRID_I64},
    {HYBRID_INDEX_AUTO, HYBRID_INDEX_AUTO, MORE, HYBRID_I32, HYBRID_I32},
    {HYBRID_INDEX_AUTO, HYBRID_INDEX_AUTO, 0, HYBRID_I32, HYBRID_I32},
    {HYBRID_INDEX_AUTO, HYBRID_INDEX_AUTO, -1, HYBRID_I64, HYBRID_I64}};

static int64_t landed; /* number of parts that were copied directly to the sink's
                          memory */

static void store(hy_sink *sink, piece *p)
{
    __atomic_add_fetch(&landed, piece_store(sink, p), __ATOMIC_RELAXED);
}

/* ---- all parts ---- */

typedef struct work {
    hy_sink *sink;
    piece pieces[PARTS];
    int begin, step; /* in the order of shuffled(), the thread stores pieces begin, begin
                        + step, ... */
} work;

/* Returns part number k of an order in which neighbouring parts are far apart. */
static int shuffled(int k)
{
    return k * 5 % PARTS;
}

_Static_assert(PARTS % 5 != 0, "the order has all parts");

static void *store_some(void *arg)
{
    work *w = arg;

    for (int k = w->begin; k < PARTS; k += w->step)
        store(w->sink, &w->pieces[shuffled(k)]);
    return NULL;
}

static void store_by_two(work *w)
{
    work other = *w;
    pthread_t thread;

    w->begin = 0, other.begin = 1;
    w->step = other.step = 2;
    assert_int_equal(pthread_create(&thread, NULL, store_some, &other), 0);
    store_some(w);
    pthread_join(thread, NULL);
}

static hybrid_status reserve(hy_sink *sink, piece *p)
{
    p->part.chunk = &p->chunk;
    return sink->ops->reserve(sink, &p->part);
}

static void work_open(work *w, hy_sink *sink, const plain_csr *plain, how way)
{
    w->sink = sink;
    for (int k = 0; k < PARTS; k++)
        w->pieces[k] = piece_of(plain, way, k);
}

static void work_close(work *w)
{
    for (int k = 0; k < PARTS; k++)
        piece_free(&w->pieces[k]);
}

/* Reserves all parts: in the order of rows if the sink asks for that, else in another
   order. */
static void reserve_all(work *w)
{
    for (int k = 0; k < PARTS; k++)
        assert_int_equal(
            reserve(w->sink, &w->pieces[w->sink->in_order ? k : shuffled(k)]), HYBRID_OK);
}

static void check_result(const plain_csr *p, const widths *wide, const hybrid_csr *C)
{
    const int64_t nnz = p->row_ptr[ROWS];

    assert_int_equal(C->rows, ROWS);
    assert_int_equal(C->cols, COLS);
    assert_int_equal(C->nnz, nnz);
    assert_int_equal(C->type, p->type);
    assert_int_equal(C->offset_type, wide->offset_type);
    assert_int_equal(C->col_type, wide->col_type);
    for (int64_t i = 0; i <= ROWS; i++)
        assert_true(hy_offset(C, i) == p->row_ptr[i]);
    for (int64_t k = 0; k < nnz; k++)
        assert_true(hy_col(C, k) == p->col[k] &&
                    value_at(C->val, C->type, k) == p->val[k]);
}

static hy_csr_shape shape_of(const plain_csr *p, const widths *wide, int known)
{
    return (hy_csr_shape){.rows      = ROWS,
                          .cols      = COLS,
                          .type      = p->type,
                          .bound     = p->row_ptr[ROWS] + MORE,
                          .expected  = p->row_ptr[ROWS],
                          .known     = known ? p->row_ptr : NULL,
                          .offsets   = wide->offsets,
                          .columns   = wide->columns,
                          .index_max = p->row_ptr[ROWS] + wide->spare};
}

/* Returns when workers have pinned all pages, so that direct copies do not depend on
   timing. */
static void await_pages(const hy_sink *sink)
{
    prefault_await(&((const hy_csr_sink *)sink)->prefault);
}

static void pass(hy_context *ctx, const plain_csr *p, const widths *wide, how way,
                 int known)
{
    const hy_csr_shape shape = shape_of(p, wide, known);
    hybrid_csr C             = {.rows = -1};
    hy_csr_sink csr;
    work w;

    assert_int_equal(hy_csr_sink_open(ctx, &shape, &C, &csr), HYBRID_OK);
    assert_int_equal(csr.sink.in_order, !known);
    if (known)
        assert_true(csr.sink.own_bytes ==
                    ROWS * (wide->offset_type == HYBRID_I64 ? 8 : 4));
    else
        assert_true(csr.sink.own_bytes == 0);
    work_open(&w, &csr.sink, p, way);
    await_pages(&csr.sink);
    reserve_all(&w);
    store_by_two(&w);
    assert_int_equal(C.rows, -1); /* C is handed out by finish() only */
    assert_int_equal(csr.sink.ops->finish(&csr.sink), HYBRID_OK);
    check_result(p, wide, &C);
    memset(C.col, 0xa5, (size_t)C.nnz * 4);
    memset(C.val, 0xa5, (size_t)C.nnz * (p->type == HYBRID_F64 ? 8 : 4));
    hy_results_release(ctx, C.row_ptr);
    hy_results_release(ctx, C.col);
    hy_results_release(ctx, C.val);
    work_close(&w);
}

/* Makes passes until at least one part is copied directly. This needs pages that an
   earlier result used and that workers have pinned. */
static void pass_until_landed(hy_context *ctx, const plain_csr *p, const widths *wide,
                              how way, int known)
{
    landed = 0;
    for (int i = 0; landed == 0 && i < PATIENCE; i++)
        pass(ctx, p, wide, way, known);
    assert_true(landed > 0);
}

/* Makes passes in which parts arrive in every way. Direct copies are possible only if
   the sink's columns have 32 bits, at least until they are widened at the end. */
static void every_way(hy_context *ctx, const plain_csr *p, const widths *wide, int known)
{
    const int lands =
        wide->col_type == HYBRID_I32 || (wide->columns == HYBRID_INDEX_AUTO && !known);

    pass(ctx, p, wide, AT_ONCE, known);
    pass(ctx, p, wide, IN_TURNS, known);
    pass(ctx, p, wide, WITH_GAPS, known);
    if (lands) {
        pass_until_landed(ctx, p, wide, DIRECT, known);
        pass_until_landed(ctx, p, wide, DELTAS, known);
    } else {
        landed = 0;
        pass(ctx, p, wide, DIRECT, known);
        assert_true(landed == 0);
    }
}

static void in_every_way(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        hybrid_engine *engine = fake_spmm(0);
        plain_csr p           = plain_make(types[t]);
        for (int known = 0; known < 2; known++)
            for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
                every_way(&engine->ctx, &p, &asked[i], known);
        plain_free(&p);
        hybrid_engine_destroy(engine);
        assert_int_equal(fake_alive(), 0);
    }
}

/* ---- errors ---- */

static void expect_error(hy_context *ctx, hybrid_status status, const char *said)
{
    assert_int_equal(status, HYBRID_BAD_STATE);
    assert_string_equal(ctx->message.text, said);
    hy_message_clear(&ctx->message);
}

/* Aborts the sink and checks that all memory is freed and the caller's C unchanged. */
static void abort_and_check(hy_csr_sink *csr, const hybrid_csr *C, int64_t before)
{
    hy_context *ctx = csr->sink.ctx;

    csr->sink.ops->abort(&csr->sink);
    hy_results_trim(ctx);
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    assert_int_equal(C->rows, -1);
}

static void order_and_counts_are_checked(void **state)
{
    hybrid_engine *engine = fake_spmm(0);
    hy_context *ctx       = &engine->ctx;
    plain_csr p           = plain_make(HYBRID_F64);

    (void)state;
    for (int known = 0; known < 2; known++) {
        const hy_csr_shape shape = shape_of(&p, &usual, known);
        const int64_t before     = hy_meter_used(&ctx->memory.meter);
        hybrid_csr C             = {.rows = -1};
        hy_csr_sink csr;
        work w;

        assert_int_equal(hy_csr_sink_open(ctx, &shape, &C, &csr), HYBRID_OK);
        work_open(&w, &csr.sink, &p, AT_ONCE);
        if (!known)
            expect_error(ctx, reserve(&csr.sink, &w.pieces[3]),
                         "internal error, please report it: chunk 3 ends out of order");
        assert_int_equal(reserve(&csr.sink, &w.pieces[0]), HYBRID_OK);
        w.pieces[0].part.count = w.pieces[0].part.nnz;
        w.pieces[0].part.counted++;
        assert_int_equal(csr.sink.ops->store(&csr.sink, &w.pieces[0].part),
                         HYBRID_BAD_STATE);
        assert_non_null(strstr(ctx->message.text, "rows 0 to 249 of C"));
        hy_message_clear(&ctx->message);
        expect_error(ctx, csr.sink.ops->finish(&csr.sink),
                     "internal error, please report it: 250 of 3000 rows were computed");
        abort_and_check(&csr, &C, before);
        work_close(&w);
    }
    plain_free(&p);
    hybrid_engine_destroy(engine);
}

/* The limit of 32-bit offsets is one entry less than needed. The sink must fail when the
   last part is reserved or, if positions in C are known, when it is opened. */
static void too_many_entries(void **state)
{
    static const widths less = {HYBRID_I32, HYBRID_I32, -1, HYBRID_I32, HYBRID_I32};
    hybrid_engine *engine    = fake_spmm(0);
    hy_context *ctx          = &engine->ctx;
    plain_csr p              = plain_make(HYBRID_F32);

    (void)state;
    for (int known = 0; known < 2; known++) {
        const hy_csr_shape shape = shape_of(&p, &less, known);
        const int64_t before     = hy_meter_used(&ctx->memory.meter);
        hybrid_csr C             = {.rows = -1};
        hybrid_status status;
        hy_csr_sink csr;
        work w;

        work_open(&w, &csr.sink, &p, AT_ONCE);
        status         = hy_csr_sink_open(ctx, &shape, &C, &csr);
        const int open = status == HYBRID_OK;
        assert_int_equal(open, !known);
        for (int k = 0; open && k < PARTS; k++) {
            assert_int_equal(status, HYBRID_OK);
            status = reserve(&csr.sink, &w.pieces[k]);
        }
        assert_int_equal(status, HYBRID_UNSUPPORTED);
        assert_non_null(strstr(ctx->message.text, "rows 0 to 2999 of C have"));
        hy_message_clear(&ctx->message);
        if (open)
            csr.sink.ops->abort(&csr.sink);
        hy_results_trim(ctx);
        assert_true(hy_meter_used(&ctx->memory.meter) == before);
        assert_int_equal(C.rows, -1);
        work_close(&w);
    }
    plain_free(&p);
    hybrid_engine_destroy(engine);
}

/* Stores all parts while allocation number `nth` fails, and checks the failure. Returns
   1, or 0 if there are fewer allocations. */
static int fails(hy_context *ctx, const plain_csr *p, const widths *wide, int known,
                 int64_t nth)
{
    const hy_csr_shape shape = shape_of(p, wide, known);
    const int64_t before     = hy_meter_used(&ctx->memory.meter);
    hybrid_csr C             = {.rows = -1};
    hybrid_status status;
    hy_csr_sink csr;
    work w;

    work_open(&w, &csr.sink, p, AT_ONCE);
    ctx->memory.failures = nth;
    status               = hy_csr_sink_open(ctx, &shape, &C, &csr);
    const int open       = status == HYBRID_OK;
    for (int k = 0; k < PARTS && status == HYBRID_OK; k++)
        status = reserve(&csr.sink, &w.pieces[k]);
    if (status == HYBRID_OK)
        status = csr.sink.ops->finish(&csr.sink);
    const int armed      = ctx->memory.failures > 0;
    ctx->memory.failures = 0;
    assert_int_equal(status, armed ? HYBRID_OK : HYBRID_NO_MEMORY);
    assert_true(armed || ctx->message.text[0] != 0);
    hy_message_clear(&ctx->message);
    if (status == HYBRID_OK)
        C.rows = -1; /* finish() had handed C out; the test takes it back before the
                        abort */
    if (open)
        abort_and_check(&csr, &C, before);
    hy_results_trim(ctx);
    assert_int_equal(hy_meter_used(&ctx->memory.meter), before);
    work_close(&w);
    return !armed;
}

static void each_allocation_fails_once(void **state)
{
    hybrid_engine *engine = fake_spmm(0);
    plain_csr p           = plain_make(HYBRID_F32);

    (void)state;
    for (int known = 0; known < 2; known++)
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
            int64_t nth = 1;
            while (nth < MOST_ALLOCATIONS &&
                   fails(&engine->ctx, &p, &asked[i], known, nth))
                nth++;
            /* at least three allocations, for the three arrays of C */
            assert_in_range(nth, 4, MOST_ALLOCATIONS - 1);
        }
    plain_free(&p);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_every_way),
        cmocka_unit_test(order_and_counts_are_checked),
        cmocka_unit_test(too_many_entries),
        cmocka_unit_test(each_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
