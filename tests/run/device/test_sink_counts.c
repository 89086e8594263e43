/* tests/run/device/test_sink_counts.c - a sink that needs to know how many entries rows
   have, and takes parts in any order: it keeps the number and the sum of each row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "base/data/csr.h"
#include "engine/plan/plan.h"
#include "partition/move/sources.h"
#include "support/fake/fake_backend.h"
#include "support/inputs/cases.h"
#include "support/products/sharing.h"

enum { ROWS = 300, CHUNK = 23 };

typedef struct sums_sink {
    hy_sink sink;
    int64_t *entries; /* number of entries of each row of C */
    double *sums;
    int64_t rows; /* number of rows reserved so far */
    int ended;
} sums_sink;

static hybrid_status reserve(hy_sink *sink, hy_part *part)
{
    sums_sink *s = (sums_sink *)sink;

    part->nnz    = part->counted;
    part->offset = 0;
    s->rows += part->chunk->row_end - part->chunk->row_begin;
    return HYBRID_OK;
}

static hy_direct direct(const hy_sink *sink, const hy_part *part)
{
    (void)sink;
    (void)part;
    return (hy_direct){.count = 0};
}

/* hy_sink_ops.store: adds the entries of a part to the sums of its rows. A part may
   arrive in several pieces, which bring its entries in order. */
static hybrid_status store(hy_sink *sink, const hy_part *part)
{
    sums_sink *s           = (sums_sink *)sink;
    const hy_chunk *chunk  = part->chunk;
    const int64_t *row_ptr = part->rows.row_ptr;
    const double *val      = part->rows.val;

    for (int64_t i = chunk->row_begin; i < chunk->row_end; i++) {
        const int64_t row = i - chunk->row_begin;
        s->entries[i]     = row_ptr[row + 1] - row_ptr[row];
        for (int64_t k = row_ptr[row]; k < row_ptr[row + 1]; k++)
            if (k >= part->first && k < part->first + part->count)
                s->sums[i] += val[k - part->first];
    }
    return HYBRID_OK;
}

static hybrid_status finish(hy_sink *sink)
{
    ((sums_sink *)sink)->ended++;
    return HYBRID_OK;
}

static void abort_sums(hy_sink *sink)
{
    (void)sink;
}

static const hy_sink_ops ops = {.reserve = reserve,
                                .direct  = direct,
                                .store   = store,
                                .finish  = finish,
                                .abort   = abort_sums};

/* Runs a plan as hybrid_spgemm_run() does, but its results go to `sink`. */
static void run(const hybrid_plan *plan, const hybrid_csr *A, hy_sink *sink)
{
    hybrid_engine *engine      = plan->product.engine;
    const hy_listener listener = {.worker_Bps = 1e9};
    const hy_problem problem   = {.op      = HY_SPGEMM,
                                  .ctx     = &engine->ctx,
                                  .A       = A,
                                  .B       = A,
                                  .source  = hy_source_csr(&engine->ctx, A),
                                  .profile = &plan->product.profile};
    hybrid_report report       = HYBRID_REPORT_INIT;

    for (int i = 0; i < plan->count; i++)
        hy_bind(&plan->portions[i], 0, &problem);
    const hy_sites sites = hy_bind_sites(plan->portions, plan->count, NULL);
    assert_int_equal(hy_run_product(&sites, &problem, sink, &listener, &report),
                     HYBRID_OK);
}

static void check(const sums_sink *s, const hybrid_csr *C)
{
    const int64_t *row_ptr = C->row_ptr;
    const double *val      = C->val;

    assert_int_equal(s->rows, ROWS);
    assert_int_equal(s->ended, 1);
    for (int64_t i = 0; i < ROWS; i++) {
        double sum = 0;
        for (int64_t k = row_ptr[i]; k < row_ptr[i + 1]; k++)
            sum += val[k];
        assert_int_equal(s->entries[i], row_ptr[i + 1] - row_ptr[i]);
        assert_true(s->sums[i] == sum);
    }
}

static void parts_come_in_any_order(void **state)
{
    const test_kind kind        = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_csr A, C;

    (void)state;
    matrix_random(ROWS, ROWS, 6, 1, kind, &A);
    options.chunk_rows = CHUNK;
    for (unsigned seed = 0; seed < 6; seed++) {
        hybrid_engine *engine = sharing_open(seed % 2 ? CARRIED_B : RESIDENT_B, 0, 0);
        sums_sink s           = {.sink    = {.ops = &ops, .ctx = &engine->ctx, .counts = 1},
                                 .entries = calloc(ROWS, sizeof *s.entries),
                                 .sums    = calloc(ROWS, sizeof *s.sums)};
        hybrid_plan *plan;
        fake_delays(seed, 100);
        assert_int_equal(hybrid_spgemm_plan(engine, &A, &A, &options, &plan), HYBRID_OK);
        run(plan, &A, &s.sink);
        assert_int_equal(hybrid_spgemm_run(plan, &A, &A, &C), HYBRID_OK);
        check(&s, &C);
        hybrid_csr_free(engine, &C);
        hybrid_plan_destroy(plan);
        hybrid_engine_destroy(engine);
        free(s.entries);
        free(s.sums);
    }
    matrix_free(&A);
    assert_int_equal(fake_alive(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_come_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
