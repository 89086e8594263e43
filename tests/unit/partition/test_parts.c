/* tests/unit/partition/test_parts.c - parts of operands that the host reads.

   The same calls read an operand in memory and one in a file. Memory is given as it is; a
   file is read in pieces of the size that the caller asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/files/file.h"
#include "partition/move/sources.h"
#include "partition/parts/a_part.h"
#include "partition/parts/b_rows.h"
#include "partition/parts/listed_rows.h"
#include "partition/parts/x_block.h"
#include "support/engines/io_fixture.h"
#include "support/engines/open_host.h"
#include "support/inputs/stored.h"

static const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

static void is_ok(const hybrid_engine *engine, hybrid_status status)
{
    if (status != HYBRID_OK)
        fail_msg("status %d: %s", (int)status, hybrid_engine_message(engine));
}

/* ---- memory ---- */

static void a_matrix_in_memory_is_one_part(void **state)
{
    hybrid_engine *engine  = open_host(2, 0);
    hybrid_csr A           = stored_matrix(0, kind);
    const hy_source source = hy_source_csr(&engine->ctx, &A);
    const int64_t used     = hy_meter_used(&engine->ctx.memory.meter);
    const hy_a_part *part;
    const hybrid_csr *whole;
    hybrid_csr own;
    hy_a_parts parts;
    hy_b_rows rows;
    int64_t end;

    (void)state;
    hy_a_parts_open(&source, 1, &parts);
    is_ok(engine, hy_a_parts_next(&parts, &part));
    assert_ptr_equal(part->A, &A);
    assert_int_equal(part->begin, 0);
    hy_b_rows_open(&source, 1, 1, &rows);
    is_ok(engine, hy_b_rows_next(&rows, part->A, 0, 0, &end));
    assert_ptr_equal(rows.A, &A);
    assert_ptr_equal(rows.B, &A);
    assert_int_equal(end, A.rows);
    is_ok(engine, hy_a_parts_next(&parts, &part));
    assert_null(part);
    is_ok(engine, source.ops->whole(&source, &own, &whole));
    assert_ptr_equal(whole, &A);
    assert_int_equal(hy_meter_used(&engine->ctx.memory.meter), used);
    hy_b_rows_close(&rows);
    hy_a_parts_close(&parts);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
}

/* ---- files ---- */

/* Checks that `part` has the offsets (from 0), columns and values of A's rows from
   part->begin on. */
static void check_part(const hybrid_csr *A, const hy_a_part *part)
{
    const hybrid_csr *p = part->A;
    const int64_t first = hy_offset(A, part->begin);

    for (int64_t i = 0; i <= p->rows; i++)
        assert_int_equal(hy_offset(p, i), hy_offset(A, part->begin + i) - first);
    assert_memory_equal(p->col, hy_cols(A) + first, (size_t)p->nnz * 4);
    assert_memory_equal(p->val, (const double *)A->val + first, (size_t)p->nnz * 8);
}

static void a_matrix_in_a_file_is_read_in_parts(void **state)
{
    enum { BYTES = 2000 };
    hybrid_engine *engine  = open_host(2, 0);
    hybrid_csr A           = stored_matrix(0, kind);
    hybrid_operand operand = stored_csr(engine, "a", &A, 1);
    const hy_source source = hy_source_csr_file(&operand.file->matrix);
    const hy_a_part *part;
    hy_a_parts parts;
    int64_t rows = 0, count = 0;

    (void)state;
    hy_a_parts_open(&source, BYTES, &parts);
    for (;; count++) {
        is_ok(engine, hy_a_parts_next(&parts, &part));
        if (!part)
            break;
        assert_int_equal(part->begin, rows);
        check_part(&A, part);
        rows += part->A->rows;
    }
    assert_int_equal(rows, A.rows);
    assert_true(count >= hy_csr_bytes(A.rows, A.nnz, A.type) / BYTES);
    hy_a_parts_close(&parts);
    hybrid_file_close((hybrid_file *)operand.file);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
}

/* Parts that begin after the first one are the same as those of a reader that began with
   row 0. */
static void parts_after_a_skip_begin_as_always(void **state)
{
    enum { BYTES = 2000 };
    hybrid_engine *engine  = open_host(2, 0);
    hybrid_csr A           = stored_matrix(0, kind);
    const hy_source source = hy_source_csr(&engine->ctx, &A);
    const hy_a_part *all, *rest;
    hy_a_parts parts, later;

    (void)state;
    hy_a_parts_open(&source, BYTES, &parts);
    hy_a_parts_range(&parts, 0, A.rows, 0);
    for (;;) {
        is_ok(engine, hy_a_parts_next(&parts, &all));
        if (!all)
            break;
        for (int64_t row = all->begin; row < all->begin + all->A->rows; row += 3) {
            hy_a_parts_open(&source, BYTES, &later);
            hy_a_parts_range(&later, 0, A.rows, 0);
            is_ok(engine, hy_a_parts_skip(&later, row));
            is_ok(engine, hy_a_parts_next(&later, &rest));
            assert_int_equal(rest->begin, all->begin);
            assert_int_equal(rest->A->rows, all->A->rows);
            hy_a_parts_close(&later);
        }
    }
    hy_a_parts_close(&parts);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
}

/* Checks that A and B of a range have the entries that rows [begin, end) of the square of
   A need. */
static void check_range(const hybrid_csr *A, const hy_b_rows *rows, int64_t begin)
{
    for (int64_t i = 0; i < rows->A->rows; i++) {
        const int64_t first = hy_offset(A, begin + i);
        for (int64_t k = hy_offset(rows->A, i); k < hy_offset(rows->A, i + 1); k++) {
            const int64_t at  = first + k - hy_offset(rows->A, i);
            const int64_t row = hy_cols(A)[at], own = hy_cols(rows->A)[k];
            const int64_t from = hy_offset(A, row), to = hy_offset(rows->B, own);
            const int64_t count = hy_offset(A, row + 1) - from;
            assert_int_equal(hy_offset(rows->B, own + 1) - to, count);
            assert_memory_equal(hy_cols(rows->B) + to, hy_cols(A) + from,
                                (size_t)count * 4);
            assert_memory_equal((const double *)rows->B->val + to,
                                (const double *)A->val + from, (size_t)count * 8);
        }
    }
}

/* Takes all ranges of rows of A, for which at most `bytes` bytes of B are in memory, or
   row_bytes for a single row of A, and checks them. Returns the number of ranges after
   which the next one was begun. */
static int count_ahead(hybrid_engine *engine, int64_t bytes, int64_t row_bytes)
{
    int64_t begin = 0, end = 0;
    hybrid_csr A;
    hy_b_rows rows;
    int count = 0;

    matrix_random(200, 200, 6, 5, kind, &A);
    hybrid_operand operand = stored_csr(engine, "b", &A, 1);
    const hy_source source = hy_source_csr_file(&operand.file->matrix);
    hy_b_rows_open(&source, bytes, row_bytes, &rows);
    for (; begin < A.rows; begin = end) {
        is_ok(engine, hy_b_rows_next(&rows, &A, 0, begin, &end));
        assert_int_equal(rows.A->rows, end - begin);
        check_range(&A, &rows, begin);
        if (rows.has_next) /* rows of B that exceed the limit are alone in memory */
            assert_true(rows.B->nnz * 12 <= (end - begin == 1 ? row_bytes : bytes));
        count += rows.has_next;
    }
    hy_b_rows_close(&rows);
    hybrid_file_close((hybrid_file *)operand.file);
    matrix_free(&A);
    return count;
}

static void rows_of_b_are_gathered_ahead(void **state)
{
    hybrid_engine *engine = open_host(2, 0);

    (void)state;
    assert_true(count_ahead(engine, 4000, 4000) > 2);
    assert_int_equal(count_ahead(engine, 1 << 30, 1 << 30), 0); /* a single range */
    assert_true(count_ahead(engine, 1, 1) < 20); /* only empty rows of A are not alone */
    assert_true(count_ahead(engine, 1, 4000) > 150); /* each row of A is a range */
    hybrid_engine_destroy(engine);
}

/* Adds the product of a block, all of whose values are small integers, to Y by rows. */
static void add_product(const hybrid_csr *A, const hybrid_dense *X, double *Y)
{
    const int in_rows = X->order == HYBRID_ROW_MAJOR;

    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = hy_offset(A, i); k < hy_offset(A, i + 1); k++)
            for (int64_t j = 0, c = hy_cols(A)[k]; j < X->cols; j++) {
                double x;
                memcpy(&x, hy_dense_at(X, in_rows ? c * X->ld + j : j * X->ld + c), 8);
                Y[i * X->cols + j] += ((const double *)A->val)[k] * x;
            }
}

/* Reads X, which is in a file, in blocks of at most `bytes` bytes, and checks that their
   products are together that of X. Returns the number of blocks. Bits of `orders`: 1, X
   is row-major; 2, Y is. */
static int count_blocks(hybrid_engine *engine, int orders, int64_t bytes)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    stored_trial t       = {.engine = engine};
    hybrid_csr A         = stored_matrix(0, kind);
    int64_t end = 0, entries = 0;
    hybrid_file *file;
    hy_x_block block;
    int count = 0;

    stored_make(&t, A, 5, orders, 3, kind);
    const size_t size = (size_t)(A.rows * t.X.cols);
    double *sum = calloc(size, 8), *whole = calloc(size, 8);
    is_ok(engine, hybrid_file_open(engine, io_temp("x.json"), &file));
    const hy_source source = hy_source_file(&file->matrix);
    assert_false(hy_source_at_hand(&source));
    hy_x_block_open(&source, &t.A, bytes, &block);
    do {
        is_ok(engine, hy_x_block_next(&block, &report));
        assert_int_equal(block.begin, end);
        assert_int_equal(block.A.cols, block.X.rows);
        end = block.end;
        entries += block.A.nnz;
        add_product(&block.A, &block.X, sum);
        count++;
    } while (end < t.X.rows);
    add_product(&t.A, &t.X, whole);
    assert_memory_equal(sum, whole, size * 8);
    assert_int_equal(entries, t.A.nnz);
    assert_true(report.host_bytes <= t.X.rows * t.X.cols * 8);
    hy_x_block_close(&block);
    hybrid_file_close(file);
    stored_free(&t);
    free(sum);
    free(whole);
    return count;
}

static void an_x_in_a_file_is_read_once_in_blocks_of_rows(void **state)
{
    hybrid_engine *engine = open_host(2, 0);

    (void)state;
    for (int orders = 0; orders < 2; orders++) {
        assert_int_equal(count_blocks(engine, orders, 1 << 30), 1);
        assert_true(count_blocks(engine, orders, 1 << 10) > 2);
        assert_true(count_blocks(engine, orders, 1) > 2); /* single rows */
    }
    hybrid_engine_destroy(engine);
}

/* ---- the last row ---- */

static hybrid_status fill_last_row(const hy_source *self, const hy_rect *rect,
                                   const hy_grid *to)
{
    const int64_t offsets[] = {5, 9};

    (void)self;
    assert_true(rect->row == INT32_MAX - 1 && rect->rows == 2);
    memcpy(to->at, offsets, sizeof offsets);
    return HYBRID_OK;
}

/* A matrix may have 2^31 - 1 rows, so that the number after its last row's exceeds 32
   bits. */
static void the_last_of_all_rows_is_found(void **state)
{
    static const hy_source_ops ops = {.fill = fill_last_row};
    static const int32_t row       = INT32_MAX - 1;
    hybrid_engine *engine          = open_host(1, 0);
    const hy_source source         = {.ops = &ops, .ctx = &engine->ctx};
    int64_t at, offsets[2];
    hy_listed_rows list = {&source, &row, 1, &at, offsets};

    (void)state;
    is_ok(engine, hy_listed_rows_find(&list));
    assert_true(at == 5 && offsets[0] == 0 && offsets[1] == 4);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matrix_in_memory_is_one_part),
        cmocka_unit_test(a_matrix_in_a_file_is_read_in_parts),
        cmocka_unit_test(parts_after_a_skip_begin_as_always),
        cmocka_unit_test(rows_of_b_are_gathered_ahead),
        cmocka_unit_test(an_x_in_a_file_is_read_once_in_blocks_of_rows),
        cmocka_unit_test(the_last_of_all_rows_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
