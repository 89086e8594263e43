/* tests/run/files/test_file_format.c - a format that the library does not know, as an
   operand.

   The format is this file's own: a line of text gives the shape, and numbers are computed
   when they are read. Products with such operands must be right on the host and on a
   device, whatever the size of parts, and every failure must close what was opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "io/formats/file_format.h"
#include "support/engines/io_fixture.h"
#include "support/engines/places.h"
#include "support/check/oracle.h"
#include "support/fake/fake_backend.h"
#include "support/fake/settings.h"
#include "support/inputs/stored.h"

enum { SIZE = 700, EACH = 3, WIDTH = 5 };

static int64_t arrays_open; /* number of arrays that are open now */
static int64_t reads_left;  /* number of reads that succeed before one fails; -1: none
                               fails */
static int64_t opens_left;  /* number of openings that succeed before one fails; -1: none
                               fails */

/* ---- the numbers ---- */

static int64_t offset_of(int64_t row)
{
    return row * EACH;
}

static int32_t col_of(int64_t entry)
{
    const int64_t part = SIZE / EACH, row = entry / EACH;

    return (int32_t)(entry % EACH * part + row % part);
}

static double value_of(int64_t k)
{
    return (double)(k % 7 + 1);
}

/* ---- the format ---- */

typedef enum array { OFFSETS, COLS, VALUES } array;

static hybrid_status read_computed(const hy_stored *self, int64_t first, int64_t count,
                                   void *to)
{
    const array which = *(const array *)self->reader;

    assert_true(first >= 0 && count >= 0 && first + count <= self->count);
    if (__atomic_fetch_sub(&reads_left, 1, __ATOMIC_SEQ_CST) == 0)
        return hy_fail(self->ctx, HYBRID_IO_FAILED, "number %lld is lost",
                       (long long)first);
    for (int64_t i = 0; i < count; i++)
        if (which == OFFSETS)
            ((int64_t *)to)[i] = offset_of(first + i);
        else if (which == COLS)
            ((int32_t *)to)[i] = col_of(first + i);
        else
            ((double *)to)[i] = value_of(first + i);
    return HYBRID_OK;
}

static void close_computed(hy_stored *self)
{
    free(self->reader);
    arrays_open--;
}

static hybrid_status open_computed(hy_context *ctx, array which, int64_t count,
                                   hy_stored *out)
{
    static const hy_stored_ops ops = {.read = read_computed, .close = close_computed};

    if (opens_left-- == 0)
        return hy_fail(ctx, HYBRID_IO_FAILED, "array %d is lost", (int)which);
    array *reader = malloc(sizeof *reader);
    assert_non_null(reader);
    *reader = which;
    *out    = (hy_stored){.ops    = &ops,
                          .ctx    = ctx,
                          .size   = which == COLS ? 4 : 8,
                          .count  = count,
                          .reader = reader};
    arrays_open++;
    return HYBRID_OK;
}

static int is_computed(const hy_input *input)
{
    return strncmp(input->text, "computed ", 9) == 0;
}

static hybrid_status open_matrix(hy_context *ctx, const hy_opening *opening,
                                 hy_matrix_file *out, hy_entry_reader *entries)
{
    (void)entries;
    out->sparse = strcmp(opening->input->text, "computed sparse") == 0;
    if (!out->sparse) {
        out->dense = (hybrid_dense){.rows  = SIZE,
                                    .cols  = WIDTH,
                                    .ld    = WIDTH,
                                    .order = HYBRID_ROW_MAJOR,
                                    .type  = HYBRID_F64};
        return open_computed(ctx, VALUES, SIZE * WIDTH, &out->values);
    }
    out->csr = (hybrid_csr){.rows        = SIZE,
                            .cols        = SIZE,
                            .nnz         = SIZE * EACH,
                            .offset_type = HYBRID_I64,
                            .type        = HYBRID_F64,
                            .col_type    = HYBRID_I32};
    HY_TRY(open_computed(ctx, OFFSETS, SIZE + 1, &out->row_ptr));
    HY_TRY(open_computed(ctx, COLS, SIZE * EACH, &out->col));
    return open_computed(ctx, VALUES, SIZE * EACH, &out->values);
}

static const hy_file_format computed = {
    .name = "computed", .is = is_computed, .open = open_matrix};
static const hy_file_format *const known_formats[] = {&computed, &hy_format_raw, NULL};

/* ---- operands ---- */

typedef struct world {
    hybrid_engine *engine;
    hybrid_csr A; /* the matrices that the format computes, in memory */
    hybrid_dense X, Y, before;
    oracle square;
    hybrid_file *a, *x; /* the same matrices in files of this format */
} world;

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

static void make_matrices(world *w)
{
    int64_t k = 0;

    w->A = (hybrid_csr){.rows        = SIZE,
                        .cols        = SIZE,
                        .nnz         = SIZE * EACH,
                        .row_ptr     = malloc((SIZE + 1) * sizeof(int64_t)),
                        .col         = malloc(SIZE * EACH * sizeof(int32_t)),
                        .val         = malloc(SIZE * EACH * sizeof(double)),
                        .offset_type = HYBRID_I64,
                        .type        = HYBRID_F64};
    assert_true(w->A.row_ptr && w->A.col && w->A.val);
    for (int64_t i = 0; i < SIZE; i++) {
        ((int64_t *)w->A.row_ptr)[i] = k;
        for (int j = 0; j < EACH; j++, k++) {
            hy_cols(&w->A)[k] = (int32_t)(j * (SIZE / EACH) + i % (SIZE / EACH));
            value_set(w->A.val, HYBRID_F64, k, (double)(k % 7 + 1));
        }
    }
    ((int64_t *)w->A.row_ptr)[SIZE] = k;
    dense_make(SIZE, WIDTH, 0, HYBRID_ROW_MAJOR, 1, kind, &w->X);
    for (k = 0; k < SIZE * WIDTH; k++)
        value_set(w->X.data, HYBRID_F64, k, (double)(k % 7 + 1));
    dense_make(SIZE, WIDTH, 2, HYBRID_ROW_MAJOR, 2, kind, &w->Y);
    dense_copy(&w->Y, &w->before);
    oracle_spgemm(&w->A, &w->A, &w->square);
}

static hybrid_status open_files(world *w)
{
    HY_TRY(hybrid_file_open(w->engine, io_temp("sparse"), &w->a));
    return hybrid_file_open(w->engine, io_temp("dense"), &w->x);
}

static world open_world(place where)
{
    world w = {.engine = place_open(where, 0)};

    fake_delays(1, 0);
    settings_of(w.engine)->formats = known_formats;
    make_matrices(&w);
    io_store(io_temp("sparse"), "computed sparse", 15);
    io_store(io_temp("dense"), "computed dense", 14);
    reads_left = opens_left = -1;
    return w;
}

static void close_files(world *w)
{
    hybrid_file_close(w->a);
    hybrid_file_close(w->x);
    w->a = w->x = NULL;
    assert_int_equal(arrays_open, 0);
}

static void close_world(world *w)
{
    close_files(w);
    oracle_free(&w->square);
    matrix_free(&w->A);
    dense_free(&w->X);
    dense_free(&w->Y);
    dense_free(&w->before);
    hybrid_engine_destroy(w->engine);
}

/* ---- products ---- */

/* Computes A*A, and A*X both by hybrid_spmm_files() and by a plan. */
static hybrid_status multiply(world *w)
{
    const hybrid_operand A = {.file = w->a}, X = {.file = w->x};
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan;
    hybrid_csr C;

    HY_TRY(hybrid_spgemm_files(w->engine, &A, &A, NULL, &C));
    assert_null(oracle_check(&w->square, &C, 1));
    hybrid_csr_free(w->engine, &C);
    memcpy(w->Y.data, w->before.data, stored_bytes(&w->Y));
    HY_TRY(hybrid_spmm_files(w->engine, 2, &A, &X, -1, NULL, &w->Y));
    assert_null(oracle_check_spmm(2, &w->A, &w->X, -1, &w->before, &w->Y, 1));
    HY_TRY(hybrid_spmm_plan(w->engine, &w->A, WIDTH, &options, &plan));
    const hybrid_status status = hybrid_spmm_run_file(plan, 1, &w->A, w->x, 0, &w->Y);
    hybrid_plan_destroy(plan);
    if (status == HYBRID_OK)
        assert_null(oracle_check_spmm(1, &w->A, &w->X, 0, &w->before, &w->Y, 1));
    return status;
}

static void products_are_right(void **state)
{
    /* bytes of a part of A, and of rows of B */
    static const int64_t pieces[] = {1, 2000, 1 << 30};

    (void)state;
    for (place where = 0; where < CARRIED; where++)
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
            world w                            = open_world(where);
            settings_of(w.engine)->piece_bytes = pieces[p];
            assert_int_equal(open_files(&w), HYBRID_OK);
            assert_int_equal(hybrid_file_csr(w.a).nnz, SIZE * EACH);
            assert_int_equal(hybrid_file_dense(w.x).cols, WIDTH);
            if (multiply(&w) != HYBRID_OK)
                fail_msg("%s", hybrid_engine_message(w.engine));
            close_world(&w);
        }
}

/* Reads files of formats that the library has and that this test adds. */
static void a_file_of_each_format_is_read(void **state)
{
    world w = open_world(ON_HOST);
    hybrid_csr read;

    (void)state;
    stored_write_csr("a", &w.A);
    for (int i = 0; i < 2; i++) {
        const char *path = io_temp(i == 0 ? "a.json" : "sparse");
        assert_int_equal(hybrid_read_csr(w.engine, path, &read), HYBRID_OK);
        assert_int_equal(read.nnz, w.A.nnz);
        assert_memory_equal(read.col, w.A.col, (size_t)w.A.nnz * 4);
        assert_memory_equal(read.val, w.A.val, (size_t)w.A.nnz * 8);
        hybrid_csr_free(w.engine, &read);
    }
    assert_int_equal(hybrid_read_csr(w.engine, io_temp("dense"), &read), HYBRID_BAD_FILE);
    close_world(&w);
}

/* ---- failures ---- */

static void each_opening_may_fail(void **state)
{
    world w = open_world(ON_HOST);
    int64_t failed;

    (void)state;
    for (failed = 0;; failed++) {
        opens_left                 = failed;
        const hybrid_status status = open_files(&w);
        if (status == HYBRID_OK)
            break;
        assert_int_equal(status, HYBRID_IO_FAILED);
        assert_non_null(strstr(hybrid_engine_message(w.engine), "is lost"));
        close_files(&w);
    }
    assert_int_equal(failed, 4); /* openings of arrays: three of A and one of X */
    close_world(&w);
}

static void each_read_may_fail(void **state)
{
    (void)state;
    for (place where = 0; where < CARRIED; where++) {
        world w      = open_world(where);
        int64_t left = 0;
        hybrid_status status;
        settings_of(w.engine)->piece_bytes = 20000;
        assert_int_equal(open_files(&w), HYBRID_OK);
        do {
            reads_left = left++;
            status     = multiply(&w);
            assert_true(status == HYBRID_OK || status == HYBRID_IO_FAILED);
            assert_true(status == HYBRID_OK ||
                        strstr(hybrid_engine_message(w.engine), "is lost"));
        } while (status != HYBRID_OK);
        assert_true(left > 10);
        close_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_right),
        cmocka_unit_test(a_file_of_each_format_is_read),
        cmocka_unit_test(each_opening_may_fail),
        cmocka_unit_test(each_read_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
