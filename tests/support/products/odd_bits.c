/* tests/support/products/odd_bits.c - C = AB with zeros of both signs, infinities and
   NaN. */
#include "support/products/odd_bits.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/schedules/schedule.h"
#include "support/inputs/builder.h"
#include "support/check/plain_rows.h"
#include "support/fake/settings.h"

enum { ROWS = 60, MIDDLE = 256, COLS = 4000, B_ROW = 24, CHUNK = 13, RUNS = 2 };

/* One product C = A*B and the options of its plan. */
typedef struct trial {
    hybrid_engine *engine;
    hybrid_csr A, B, wide_a, wide_b; /* wide_a and wide_b equal A and B, with 64-bit
                                        column indices */
    plain_rows right;
    hybrid_plan_options options;
    int wide, schedule;
} trial;

static int complain(const trial *t, const char *what)
{
    const hybrid_plan_options *o = &t->options;
    const hy_schedule *s         = hy_schedules[t->schedule];

    fprintf(stderr,
            "odd numbers: %s, %s, split %d, f%d, offsets %d and %d, columns %d and %d: "
            "%s\n",
            o->variant ? o->variant : "any variant", s ? s->name : "any schedule",
            (int)o->split, t->A.type == HYBRID_F64 ? 64 : 32, (int)t->A.offset_type,
            (int)o->offsets, t->wide ? 2 : 1, (int)o->columns, what);
    return 1;
}

/* ---- operands ---- */

/* Makes A. Its rows have 0, 1, 2, 3, 20 or all entries. A row of C then has few scalar
   products, or as many as a warp, a block or all blocks of a GPU sort together. */
static hybrid_csr make_a(test_kind kind)
{
    static const int64_t entries[] = {1, 2, 0, 20, 3, MIDDLE};
    builder b                      = build_start(ROWS, MIDDLE);

    for (int64_t i = 0; i < ROWS; i++) {
        const int64_t count = entries[i % 6];
        for (int64_t k = 0; k < count; k++)
            build_add(
                &b, count == MIDDLE ? k : test_below(5, (uint64_t)(i * 64 + k), MIDDLE));
        build_end_row(&b);
    }
    hybrid_csr A = build_finish(&b, 1, kind);
    matrix_set_odd(&A);
    return A;
}

/* Makes B. 40 of its columns occur in many rows, the others in few or none. */
static hybrid_csr make_b(test_kind kind)
{
    builder b = build_start(MIDDLE, COLS);

    for (int64_t i = 0; i < MIDDLE; i++) {
        for (int64_t k = 0; k < i % B_ROW; k++)
            build_add(&b, test_below(6, (uint64_t)(i * 64 + k), k % 3 ? COLS : 40));
        build_end_row(&b);
    }
    hybrid_csr B = build_finish(&b, 2, kind);
    matrix_set_odd(&B);
    return B;
}

static void make(trial *t, test_kind kind)
{
    t->A      = make_a(kind);
    t->B      = make_b(kind);
    t->wide_a = matrix_widen(&t->A);
    t->wide_b = matrix_widen(&t->B);
    plain_rows_make(&t->A, &t->B, &t->right);
}

static void free_all(trial *t)
{
    free(t->wide_a.col);
    free(t->wide_b.col);
    matrix_free(&t->A);
    matrix_free(&t->B);
    plain_rows_free(&t->right);
}

/* ---- runs ---- */

/* Returns NULL if C has the bits of a plain loop, else a description. 64-bit column
   indices of C are narrowed first, because the loop has 32 bits. */
static const char *differs(const trial *t, const hybrid_csr *C)
{
    hybrid_csr narrow = *C;
    int32_t *col      = malloc((size_t)C->nnz * 4 + 1);

    if (!col)
        abort();
    for (int64_t k = 0; k < C->nnz; k++)
        col[k] = C->col_type == HYBRID_I64 ? (int32_t)((const int64_t *)C->col)[k]
                                           : ((const int32_t *)C->col)[k];
    narrow.col        = col;
    narrow.col_type   = HYBRID_I32;
    const char *wrong = plain_rows_differ(&t->right, &narrow);
    free(col);
    return wrong;
}

static int run(trial *t, hybrid_plan *plan, odd_bits *count)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    hybrid_csr C;

    if (hybrid_spgemm_run(plan, t->wide ? &t->wide_a : &t->A,
                          t->wide ? &t->wide_b : &t->B, &C) != HYBRID_OK)
        return complain(t, hybrid_engine_message(t->engine));
    const char *wrong = differs(t, &C);
    hybrid_csr_free(t->engine, &C);
    hybrid_plan_report(plan, &report);
    count->hosts += report.h2d_bytes == 0;
    return wrong ? complain(t, wrong) : 0;
}

/* Makes a plan and runs it twice; in the second run the positions in the result may be
   known. Returns the number of wrong runs. */
static int check_plan(trial *t, odd_bits *count)
{
    int failed = 0;
    hybrid_plan *plan;

    settings_of(t->engine)->schedule = hy_schedules[t->schedule];
    const hybrid_status status =
        hybrid_spgemm_plan(t->engine, &t->A, &t->B, &t->options, &plan);
    if (status == HYBRID_OK) {
        for (int i = 0; i < RUNS; i++)
            failed += run(t, plan, count);
        hybrid_plan_destroy(plan);
        count->schedules[t->schedule]++;
    } else if (status != HYBRID_UNSUPPORTED && status != HYBRID_NO_DEVICE) {
        failed = complain(t, hybrid_engine_message(t->engine));
    }
    settings_of(t->engine)->schedule = NULL;
    return failed;
}

/* Tries the product with each way to split the work between devices and host. Index
   types and chunk sizes alternate from one to the next. Returns the number of
   failures. */
static int check_splits(trial *t, const char *variant, int turn, odd_bits *count)
{
    static const hybrid_index indices[] = {HYBRID_I32, HYBRID_I64, HYBRID_INDEX_AUTO};
    int failed                          = 0;

    for (hybrid_split split = HYBRID_SPLIT_DEFAULT; split <= HYBRID_SPLIT_SHARE;
         split++, turn++) {
        t->wide               = turn % 2;
        t->options            = (hybrid_plan_options)HYBRID_PLAN_OPTIONS_INIT;
        t->options.flags      = HYBRID_DETERMINISTIC | HYBRID_REUSE;
        t->options.variant    = variant;
        t->options.split      = split;
        t->options.host_share = 0.5;
        t->options.chunk_rows = turn % 4 < 2 ? CHUNK : 0;
        t->options.offsets    = indices[turn % 3];
        t->options.columns    = turn % 3 == 2 ? HYBRID_INDEX_AUTO : indices[turn / 3 % 2];
        failed += check_plan(t, count);
    }
    return failed;
}

static int check_variants(trial *t, int turn, odd_bits *count)
{
    int failed = 0;

    for (t->schedule = 0; t->schedule < ODD_SCHEDULES; t->schedule++) {
        failed += check_splits(t, NULL, turn++, count);
        for (const hy_variant *const *v = t->engine->variants; *v; v++)
            if ((*v)->op == HY_SPGEMM)
                failed += check_splits(t, (*v)->name, turn++, count);
    }
    return failed;
}

int odd_bits_check(hybrid_engine *engine, odd_bits *count)
{
    trial t    = {.engine = engine};
    int failed = 0, turn = 0;

    *count = (odd_bits){.hosts = 0};
    for (hybrid_type type = HYBRID_F32; type <= HYBRID_F64; type++)
        for (hybrid_index offsets = HYBRID_I32; offsets <= HYBRID_I64; offsets++) {
            make(&t, (test_kind){type, offsets, 1});
            failed += check_variants(&t, turn++, count);
            free_all(&t);
        }
    return failed;
}
