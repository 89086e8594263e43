/* tests/support/products/indices.c - products with offsets and column indices of 32 or 64
   bits. */
#include "support/products/indices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/runs/each.h"
#include "support/engines/either.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fault.h"
#include "support/fake/settings.h"

static const hybrid_type types[] = {HYBRID_F32, HYBRID_F64};

enum { CHUNK = 37, MOST = 20000 };

hybrid_csr indices_widened(const hybrid_csr *A)
{
    int64_t *col   = malloc((size_t)A->nnz * sizeof *col);
    hybrid_csr out = *A;

    assert_non_null(col);
    for (int64_t k = 0; k < A->nnz; k++)
        col[k] = ((const int32_t *)A->col)[k];
    out.col      = col;
    out.col_type = HYBRID_I64;
    return out;
}

void indices_open(world *w, int on_host, hybrid_type type, hybrid_index offsets)
{
    *w = (world){.engine  = either_open(on_host, 0),
                 .on_host = on_host,
                 .kind    = {type, offsets, 1}};
    matrix_random(ROWS, MIDDLE, 6, 1, w->kind, &w->A);
    matrix_random(MIDDLE, COLS, 5, 2, w->kind, &w->B);
    w->wide_a = indices_widened(&w->A);
    w->wide_b = indices_widened(&w->B);
    oracle_spgemm(&w->A, &w->B, &w->product);
    dense_make(MIDDLE, WIDTH, 0, HYBRID_ROW_MAJOR, 3, w->kind, &w->X);
    dense_make(ROWS, WIDTH, 0, HYBRID_ROW_MAJOR, 4, w->kind, &w->Y);
    dense_copy(&w->Y, &w->before);
}

void indices_close(world *w)
{
    hybrid_engine_destroy(w->engine);
    free(w->wide_a.col);
    free(w->wide_b.col);
    matrix_free(&w->A);
    matrix_free(&w->B);
    oracle_free(&w->product);
    dense_free(&w->X);
    dense_free(&w->Y);
    dense_free(&w->before);
    assert_int_equal(fake_alive(), 0);
}

void indices_each(void (*check)(world *))
{
    world w;

    for (int on_host = 0; on_host < 2; on_host++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (int offsets = HYBRID_I32; offsets <= HYBRID_I64; offsets++) {
                indices_open(&w, on_host, types[t], (hybrid_index)offsets);
                check(&w);
                indices_close(&w);
            }
}

/* ---- C ---- */

static const hybrid_index asked[ASKED][2] = {{HYBRID_INDEX_DEFAULT, HYBRID_INDEX_DEFAULT},
                                             {HYBRID_I32, HYBRID_INDEX_DEFAULT},
                                             {HYBRID_I32, HYBRID_I64},
                                             {HYBRID_I64, HYBRID_I32},
                                             {HYBRID_INDEX_DEFAULT, HYBRID_I64},
                                             {HYBRID_INDEX_AUTO, HYBRID_INDEX_AUTO}};

void indices_ask(world *w, int i)
{
    w->offsets = asked[i][0];
    w->columns = asked[i][1];
}

hybrid_plan_options indices_options(const world *w, unsigned flags)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;

    o.flags      = flags;
    o.chunk_rows = CHUNK;
    o.offsets    = w->offsets;
    o.columns    = w->columns;
    return o;
}

static int is_auto(const world *w)
{
    return w->offsets == HYBRID_INDEX_AUTO;
}

static int is_small(const world *w)
{
    return w->product.nnz <= settings_of(w->engine)->index_max;
}

int indices_refused(const world *w)
{
    return w->offsets == HYBRID_I32 && !is_small(w);
}

hybrid_status indices_check(const world *w, hybrid_status status, hybrid_csr *C)
{
    const hybrid_index both = is_small(w) ? HYBRID_I32 : HYBRID_I64;
    hybrid_csr untouched;

    if (status != HYBRID_OK) {
        memset(&untouched, 0x5a, sizeof untouched);
        assert_memory_equal(C, &untouched, sizeof untouched);
        return status;
    }
    assert_false(indices_refused(w));
    assert_int_equal(C->offset_type, is_auto(w)   ? both
                                     : w->offsets ? w->offsets
                                                  : HYBRID_I64);
    assert_int_equal(C->col_type, is_auto(w)   ? both
                                  : w->columns ? w->columns
                                               : HYBRID_I32);
    assert_null(oracle_check(&w->product, C, 1));
    hybrid_csr_free(w->engine, C);
    return HYBRID_OK;
}

hybrid_status indices_once(const world *w, const hybrid_csr *A, const hybrid_csr *B)
{
    const hybrid_plan_options o = indices_options(w, 0);
    hybrid_csr C;

    memset(&C, 0x5a, sizeof C);
    return indices_check(w, hybrid_spgemm_with(w->engine, &o, A, B, &C), &C);
}

hybrid_status indices_run(const world *w, hybrid_plan *plan, const hybrid_csr *A,
                          const hybrid_csr *B)
{
    hybrid_csr C;

    memset(&C, 0x5a, sizeof C);
    return indices_check(w, hybrid_spgemm_run(plan, A, B, &C), &C);
}

hybrid_status indices_planned(const world *w, unsigned flags, const hybrid_csr *A,
                              const hybrid_csr *B)
{
    hybrid_plan_options o = indices_options(w, flags);
    hybrid_status status;
    hybrid_plan *plan;
    collected rows;

    status = hybrid_spgemm_plan(w->engine, A, B, &o, &plan);
    if (status != HYBRID_OK)
        return status;
    for (int i = 0; i < 3 && status == HYBRID_OK; i++)
        status = indices_run(w, plan, A, B);
    if (status == HYBRID_OK || status == HYBRID_UNSUPPORTED) {
        const hybrid_status each = collect(plan, A, B, -1, &rows);
        if (each == HYBRID_OK)
            assert_null(oracle_check(&w->product, &rows.C, 1));
        matrix_free(&rows.C);
        status = each == HYBRID_OK ? status : each;
    }
    hybrid_plan_destroy(plan);
    return status;
}

/* ---- memory ---- */

/* Returns the bytes of host memory that the engine uses between calls. Waits, for at
   most 5 s, until they are at most `most`, because lanes may still free memory after a
   call has returned. */
static int64_t held(world *w, int64_t most)
{
    int64_t now = INT64_MAX;

    for (int i = 0; i < 5000 && now > most; i++) {
        if (i > 0)
            usleep(1000);
        hybrid_engine_trim(w->engine);
        now = hy_meter_used(&w->engine->ctx.memory.meter);
    }
    return now;
}

void indices_fail_each(world *w, hybrid_status (*call)(world *), int64_t least)
{
    int struck = 1;
    int64_t n  = 1;

    assert_int_equal(call(w), HYBRID_OK);
    int64_t before = held(w, INT64_MAX);
    for (; struck && n < MOST; n += 1 + n / 16) {
        fault_allocation.arm(w->engine, n);
        const hybrid_status status = call(w);
        struck                     = fault_struck(&fault_allocation, w->engine, status);
        assert_true(status == HYBRID_OK || strlen(hybrid_engine_message(w->engine)) > 10);
        const int64_t after = held(w, before);
        assert_true(after <= before);
        before = after;
        assert_int_equal(call(w), HYBRID_OK);
    }
    assert_in_range(n, least, MOST - 1);
}
