/* tests/support/inputs/windows.c - products of banded matrices with X in a ring of
   rows. */
#include "support/inputs/windows.h"

#include <stdio.h>
#include <string.h>

#include "engine/plan/plan.h"
#include "support/runs/caps.h"
#include "support/inputs/builder.h"
#include "support/check/oracle.h"

enum {
    ROWS    = 500,
    COLUMNS = 17, /* columns of X; with f64, one of the 17 would be a tail column (beyond
                     whole cache lines, stored behind all rows) if X were whole on the
                     device */
    BAND    = 10,
    ENTRIES = 4
};

static const size_t MOST = (size_t)256 << 10, LEAST = 1024;

static const test_kind kinds[] = {{HYBRID_F64, HYBRID_I64, 1},
                                  {HYBRID_F32, HYBRID_I32, 0}};

/* ---- matrices ---- */

typedef enum shape {
    SQUARE,
    WIDE,      /* two columns of A per row of A */
    TALL,      /* three rows of A per column of A */
    WITH_GAPS, /* has empty rows and unused columns; the shapes after this one do not
                  allow a ring of rows */
    BACKWARDS,
    CORNERS, /* a band, and one entry each in the upper right and lower left corner */
    DENSE_ROW,
    SHAPES
} shape;

static int64_t cols_of(shape s)
{
    return s == WIDE ? 2 * ROWS : s == TALL ? ROWS / 3 : ROWS;
}

static int64_t middle_of(shape s, int64_t row)
{
    switch (s) {
    case WIDE:
        return 2 * row;
    case TALL:
        return row / 3;
    case BACKWARDS:
        return ROWS - 1 - row;
    case WITH_GAPS:
        return row + 3 * BAND;
    default:
        return row;
    }
}

static int is_empty(shape s, int64_t row)
{
    return s == WITH_GAPS && (row / 50 % 3 == 1 || row > ROWS - 5 * BAND);
}

static void add_odd(builder *b, shape s)
{
    if (s == CORNERS && (b->row == 2 || b->row == ROWS - 3))
        build_add(b, b->row == 2 ? b->cols - 1 : 0);
    for (int64_t j = 0; s == DENSE_ROW && b->row == ROWS / 2 && j < b->cols; j++)
        build_add(b, j);
}

static hybrid_csr matrix_of(shape s, test_kind kind)
{
    builder b = build_start(ROWS, cols_of(s));

    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t k = 0; k < ENTRIES && !is_empty(s, i); k++) {
            const int64_t away = test_below(s, (uint64_t)(i * ENTRIES + k), 2 * BAND + 1);
            const int64_t col  = middle_of(s, i) + away - BAND;
            if (col >= 0 && col < b.cols)
                build_add(&b, col);
        }
        add_odd(&b, s);
        build_end_row(&b);
    }
    return build_finish(&b, s, kind);
}

/* ---- one plan ---- */

typedef struct trial {
    hybrid_engine *engine;
    hybrid_plan *plan;
    const char *name;
    size_t budget;
    shape shape;
    test_kind kind;
    unsigned flags;
    int64_t rows; /* number of rows of a chunk */
} trial;

static int complain(const trial *t, const char *what)
{
    fprintf(stderr,
            "window %s, shape %d, f%d, budget %zu, flags %u, %lld rows a chunk: %s\n",
            t->name, (int)t->shape, t->kind.type == HYBRID_F64 ? 64 : 32, t->budget,
            t->flags, (long long)t->rows, what);
    return 1;
}

/* Checks the bytes of a run: no more than predicted; with X in a ring of rows no more
   than all of X (rounded up to whole vectors) and A (with alignment); and no A again if
   A is resident. Returns the number of errors. */
static int sends_once(const trial *t, const hybrid_csr *A, int turn)
{
    const int64_t size = A->type == HYBRID_F64 ? 8 : 4;
    hybrid_report r    = HYBRID_REPORT_INIT;
    int failed         = 0;

    if (hybrid_plan_report(t->plan, &r) != HYBRID_OK)
        return complain(t, "no report");
    const int64_t x = t->plan->count * A->cols * (COLUMNS + 4) * size;
    const int64_t a = A->nnz * (4 + size) + A->rows * 8 + r.chunks * 4 * 256;
    if (!caps_kept(t->plan, t->budget))
        failed += complain(t, "more device memory was used");
    if (r.h2d_bytes > r.predicted_h2d_bytes + caps_spare(t->plan, r.chunks))
        failed += complain(t, "more was sent than predicted");
    if (t->plan->portions->layout.image.axis == HY_AXIS_ROWS &&
        strstr(t->name, ".rows") && r.h2d_bytes > x + a)
        failed += complain(t, "X and A were sent more than once");
    if (turn > 0 && r.resident_chunks == r.chunks && r.h2d_bytes > x)
        failed += complain(t, "a later run sends A");
    return failed;
}

static int run(const trial *t, const hybrid_csr *A, int turn)
{
    const hybrid_order order = turn % 2 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR;
    const double beta        = turn % 2 ? 3 : 0;
    hybrid_dense X, Y, before;
    int failed = 0;

    dense_make(A->cols, COLUMNS, turn, order, (unsigned)turn, t->kind, &X);
    dense_make(A->rows, COLUMNS, turn, HYBRID_ROW_MAJOR, 2, t->kind, &Y);
    dense_copy(&Y, &before);
    if (hybrid_spmm_run(t->plan, 2, A, &X, beta, &Y) != HYBRID_OK) {
        failed = complain(t, hybrid_engine_message(t->engine));
    } else {
        const char *wrong =
            oracle_check_spmm(2, A, &X, beta, &before, &Y, t->kind.integers);
        failed = wrong ? complain(t, wrong) : 0;
        failed += dense_gaps_intact(&Y) ? 0 : complain(t, "gaps of Y were written");
        failed += sends_once(t, A, turn);
    }
    dense_free(&X);
    dense_free(&Y);
    dense_free(&before);
    return failed;
}

/* Returns 1 with a message if a plan has only some rows of X at a time on the device (a
   ring) although entries of A lie far from the diagonal, else 0. Counts plans with such
   a ring in *windowed. */
static int check_window(const trial *t, const hybrid_csr *A, int64_t *windowed)
{
    const hy_image *image = &t->plan->portions->layout.image;
    const int64_t window  = image->axis == HY_AXIS_ROWS ? image->held : 0;

    *windowed += window > 0 && window < A->cols;
    if (window > A->cols || (window > 0 && window < A->cols && t->shape > WITH_GAPS &&
                             t->plan->count == 1)) /* with several devices, some portions
                                                      (a device's part of the plan) may
                                                      have a ring and others not */
        return complain(t, "a window where none can be");
    return 0;
}

static int check_plan(trial t, const hybrid_csr *A, int64_t *checked, int64_t *windowed)
{
    hybrid_plan_options o = HYBRID_PLAN_OPTIONS_INIT;

    o.variant                  = t.name;
    o.flags                    = t.flags;
    o.chunk_rows               = t.rows;
    const hybrid_status status = hybrid_spmm_plan(t.engine, A, COLUMNS, &o, &t.plan);
    if (status == HYBRID_NO_DEVICE_MEMORY || status == HYBRID_UNSUPPORTED)
        return 0;
    if (status != HYBRID_OK)
        return complain(&t, hybrid_engine_message(t.engine));
    int failed = check_window(&t, A, windowed);
    for (int turn = 0; turn < 2; turn++)
        failed += run(&t, A, turn);
    hybrid_plan_destroy(t.plan);
    ++*checked;
    return failed;
}

static int check_budget(trial t, hybrid_csr matrices[][2], const char *const *names,
                        int64_t *checked, int64_t *windowed)
{
    const int step = case_step(2);
    int failed     = 0;

    for (; *names; names++)
        for (int s = 0; s < SHAPES && strncmp(*names, "spmm.", 5) == 0; s++)
            for (int k = (int)(test_hash(t.budget, (uint64_t)s) % (unsigned)step); k < 4;
                 k += step) {
                t.name  = *names;
                t.shape = (shape)s;
                t.kind  = kinds[k % 2];
                t.flags = k / 2 ? HYBRID_RESIDENT : 0;
                t.rows  = (s + k) % 3 == 2 ? 37 : 0;
                failed += check_plan(t, &matrices[s][k % 2], checked, windowed);
            }
    return failed;
}

int windows_check(budget_open open, const char *const *names, int64_t *checked,
                  int64_t *windowed)
{
    hybrid_csr matrices[SHAPES][2];
    int failed = 0;

    for (int s = 0; s < 2 * SHAPES; s++)
        matrices[s / 2][s % 2] = matrix_of((shape)(s / 2), kinds[s % 2]);
    for (size_t budget = MOST; budget >= LEAST; budget -= budget / 5) {
        trial t = {.budget = budget};
        if (open(budget, &t.engine) != HYBRID_OK) {
            failed++;
            continue;
        }
        /* seconds; so that launches do not keep chunks from being small */
        t.engine->device->measured.launch_s = 1e-9;
        failed += check_budget(t, matrices, names, checked, windowed);
        hybrid_engine_destroy(t.engine);
    }
    for (int s = 0; s < 2 * SHAPES; s++)
        matrix_free(&matrices[s / 2][s % 2]);
    return failed;
}
