/* tests/unit/partition/test_parts.c - parts of operands that the host reads.

   The same calls read an operand in memory and one in a file. Memory is given as it is; a
   file is read in pieces of the size that the caller asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/data/csr.h"
#include "engine/files/file.h"
#include "partition/move/sources.h"
#include "partition/parts/a_part.h"
#include "partition/parts/b_rows.h"
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
    hy_b_rows_open(&source, 1, &rows);
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

static void an_x_in_memory_is_one_block(void **state)
{
    hybrid_engine *engine = open_host(2, 0);
    hybrid_report report  = HYBRID_REPORT_INIT;
    stored_trial t        = {.engine = engine};
    hy_x_block block;

    (void)state;
    stored_make(&t, stored_matrix(0, kind), 5, 1, 3, kind);
    const hy_source source = hy_source_dense(&engine->ctx, &t.X);
    assert_true(hy_x_is_at_hand(&source));
    hy_x_block_open(&source, 0, &block);
    is_ok(engine, hy_x_block_next(&block, &report));
    assert_memory_equal(&block.X, &t.X, sizeof t.X);
    assert_int_equal(block.end, t.X.cols);
    assert_null(block.own.array);
    assert_int_equal(report.host_bytes, 0);
    hy_x_block_close(&block);
    stored_free(&t);
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

/* Reads X, which has five columns and is in a file, in blocks of two columns, and checks
   them. Bits of `orders`: 1, X is row-major; 2, Y is. */
static void check_blocks(hybrid_engine *engine, int orders)
{
    enum { WIDTH = 2 };
    hybrid_report report = HYBRID_REPORT_INIT;
    stored_trial t       = {.engine = engine};
    hybrid_file *file;
    hy_x_block block;

    stored_make(&t, stored_matrix(0, kind), 5, orders, 3, kind);
    is_ok(engine, hybrid_file_open(engine, io_temp("x.json"), &file));
    const hy_source source = hy_source_file(&file->matrix);
    const int in_rows      = t.X.order == HYBRID_ROW_MAJOR;
    assert_false(hy_x_is_at_hand(&source));
    hy_x_block_open(&source, WIDTH * t.X.rows * 8 + 7, &block);
    for (int64_t begin = 0; begin < t.X.cols; begin += WIDTH) {
        is_ok(engine, hy_x_block_next(&block, &report));
        assert_int_equal(block.begin, begin);
        assert_int_equal(block.end, begin + WIDTH < t.X.cols ? begin + WIDTH : t.X.cols);
        for (int64_t i = 0; i < t.X.rows; i++)
            for (int64_t j = 0; j < block.X.cols; j++)
                assert_memory_equal(hy_dense_at(&block.X, in_rows ? i * block.X.ld + j
                                                                  : j * block.X.ld + i),
                                    hy_dense_at(&t.X, in_rows ? i * t.X.ld + begin + j
                                                              : (begin + j) * t.X.ld + i),
                                    8);
    }
    assert_int_equal(report.host_bytes, t.X.rows * t.X.cols * 8);
    hy_x_block_close(&block);
    hybrid_file_close(file);
    stored_free(&t);
}

static void an_x_in_a_file_is_read_in_blocks(void **state)
{
    hybrid_engine *engine = open_host(2, 0);

    (void)state;
    check_blocks(engine, 0);
    check_blocks(engine, 1);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matrix_in_memory_is_one_part),
        cmocka_unit_test(an_x_in_memory_is_one_block),
        cmocka_unit_test(a_matrix_in_a_file_is_read_in_parts),
        cmocka_unit_test(an_x_in_a_file_is_read_in_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
