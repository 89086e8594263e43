/* tests/unit/io/test_mtx_append.c - Matrix Market files that are written row by row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/memory/results.h"
#include "base/threads/pool.h"
#include "io/formats/file_format.h"
#include "io/mtx/mtx_text.h"
#include "support/engines/context.h"
#include "support/engines/io_fixture.h"
#include "support/inputs/cases.h"

enum { ROWS = 700 };

static hybrid_csr A;

static int open_all(void **state)
{
    const test_kind kind = {HYBRID_F64, HYBRID_I64, 1};

    matrix_random(ROWS, 300, 40, 3, kind, &A);
    return io_group_open(state);
}

static int close_all(void **state)
{
    matrix_free(&A);
    return io_group_close(state);
}

static hybrid_status begin(const char *path, int64_t nnz, hy_file_writer *out)
{
    const hy_file_shape shape = {
        .sparse = 1, .rows = A.rows, .cols = A.cols, .nnz = nnz, .type = A.type};
    const hy_file_format *format = hy_format_of_name(hy_file_formats, path);

    assert_ptr_equal(format, &hy_format_mtx);
    assert_int_equal(format->nnz_first, 0);
    hy_message_clear(&io_ctx->message);
    return format->create(io_ctx, path, &shape, out);
}

/* Appends rows [from, to) of A to the file. */
static hybrid_status append(hy_file_writer *writer, int64_t from, int64_t to)
{
    const int64_t first = hy_offset(&A, from);
    int64_t offset[ROWS + 1];
    hybrid_csr part = A;

    for (int64_t i = from; i <= to; i++)
        offset[i - from] = hy_offset(&A, i) - first;
    part.rows        = to - from;
    part.nnz         = hy_offset(&A, to) - first;
    part.row_ptr     = offset;
    part.offset_type = HYBRID_I64;
    part.col         = hy_cols(&A) + first;
    part.val         = (double *)A.val + first;
    return writer->ops->sparse(writer, &part);
}

static hybrid_status write_file(const char *path, int64_t nnz, int64_t each)
{
    hy_file_writer writer;

    HY_TRY(begin(path, nnz, &writer));
    hybrid_status status = HYBRID_OK;
    for (int64_t i = 0; i < ROWS && status == HYBRID_OK; i += each)
        status = append(&writer, i, hy_min(i + each, ROWS));
    if (status == HYBRID_OK)
        status = writer.ops->finish(&writer);
    if (status != HYBRID_OK)
        writer.ops->abort(&writer);
    return status;
}

/* A file that is written panel by panel has the bytes that hybrid_write_mtx() writes, if
   the number of entries is known before. */
static void bytes_do_not_depend_on_panels(void **state)
{
    static const int64_t each[] = {1, 7, 100, ROWS};
    size_t bytes, other;

    (void)state;
    assert_int_equal(hy_write_mtx(io_ctx, io_temp("whole.mtx"), &A), HYBRID_OK);
    char *want = io_load(io_temp("whole.mtx"), &bytes);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        assert_int_equal(write_file(io_temp("rows.mtx"), A.nnz, each[i]), HYBRID_OK);
        char *got = io_load(io_temp("rows.mtx"), &other);
        assert_int_equal(other, bytes);
        assert_memory_equal(got, want, bytes);
        free(got);
    }
    free(want);
}

static void check_file(const char *path)
{
    hybrid_csr B;

    if (hy_read_mtx(io_ctx, path, HYBRID_F64, &B) != HYBRID_OK)
        fail_msg("%s", io_ctx->message.text);
    assert_int_equal(B.nnz, A.nnz);
    assert_memory_equal(B.col, A.col, (size_t)A.nnz * 4);
    assert_memory_equal(B.val, A.val, (size_t)A.nnz * 8);
    hy_csr_free(io_ctx, &B);
}

static void the_number_of_entries_may_be_unknown(void **state)
{
    (void)state;
    assert_int_equal(write_file(io_temp("rows.mtx"), -1, 50), HYBRID_OK);
    check_file(io_temp("rows.mtx"));
}

/* The endings of names select a compression, whose magic numbers the files have. */
static void files_may_be_compressed(void **state)
{
    static const char *const names[]  = {"rows.mtx.gz",
                                        HYBRID_WITH_ZSTD ? "rows.mtx.zst" : NULL};
    static const char *const magics[] = {"\x1f\x8b", "\x28\xb5\x2f\xfd"};

    (void)state;
    for (int i = 0; i < 2 && names[i]; i++) {
        const char *path = io_temp(names[i]);
        size_t bytes;
        for (int how = 0; how < 4; how++) {
            assert_int_equal(write_file(path, how & 1 ? -1 : A.nnz, how & 2 ? ROWS : 7),
                             HYBRID_OK);
            check_file(path);
        }
        assert_int_equal(hy_write_mtx(io_ctx, path, &A), HYBRID_OK);
        check_file(path);
        char *text = io_load(path, &bytes);
        assert_memory_equal(text, magics[i], strlen(magics[i]));
        free(text);
    }
}

static void faults_give_sentences(void **state)
{
    const hy_file_shape dense = {.rows = 1, .cols = 1, .type = HYBRID_F64};
    hy_file_writer writer;

    (void)state;
    hy_message_clear(&io_ctx->message);
    assert_int_equal(hy_format_mtx.create(io_ctx, "x.mtx", &dense, &writer),
                     HYBRID_BAD_ARGUMENT);
    assert_string_equal(
        io_ctx->message.text,
        "x.mtx: a Matrix Market file holds a sparse result; write a dense "
        "one as .npy");
    assert_int_equal(begin("/no/such/folder/x.mtx", -1, &writer), HYBRID_IO_FAILED);
    assert_int_equal(write_file(io_temp("few.mtx"), 5, 100), HYBRID_BAD_ARGUMENT);
    assert_non_null(strstr(io_ctx->message.text, " entries; 700 and 5 were announced"));
}

static void each_allocation_may_fail(void **state)
{
    hybrid_status status;
    int64_t failing = 0;

    (void)state;
    hy_results_trim(io_ctx);
    const int64_t used = hy_meter_used(&io_ctx->memory.meter);
    do {
        io_ctx->memory.failures = ++failing;
        status                  = write_file(io_temp("rows.mtx.gz"), -1, 100);
        io_ctx->memory.failures = 0;
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        assert_int_equal(hy_meter_used(&io_ctx->memory.meter), used);
    } while (status != HYBRID_OK);
    assert_in_range(failing, 5, 1000);
}

/* Workers that compress count against the budget of host memory. */
static void compressors_count_against_the_budget(void **state)
{
    hy_meter *meter = &io_ctx->memory.meter;
    hy_file_writer writer;
    int named = 0, refused = 0, tried = 0;

    (void)state;
    hy_results_trim(io_ctx);
    const int64_t cap = meter->cap, used = hy_meter_used(meter);
    assert_int_equal(begin(io_temp("rows.mtx.gz"), -1, &writer), HYBRID_OK);
    const int64_t needed = hy_meter_used(meter);
    writer.ops->abort(&writer);
    for (meter->cap = needed - 1; meter->cap > used; meter->cap -= 1 << 17, tried++) {
        refused += begin(io_temp("rows.mtx.gz"), -1, &writer) == HYBRID_NO_MEMORY &&
                   hy_meter_used(meter) == used;
        named += strstr(io_ctx->message.text, "the state of a compressor") != NULL;
    }
    meter->cap = cap;
    assert_int_equal(refused, tried);
    assert_true(named > 0);
}

/* ---- workers of the reserve ---- */

enum { MOST_BLOCKS = 64, SPARE = 1 << 20 };

/* Memory that the formatter has allocated; `packs`: begun calls of pack(), atomic. */
static struct {
    char *at[MOST_BLOCKS];
    size_t bytes[MOST_BLOCKS];
    int count, packs, strangers;
} made;

/* Blocks are larger than asked for, so that a write behind a block does no harm. */
static void *record(void *user, size_t bytes)
{
    (void)user;
    assert_true(made.count < MOST_BLOCKS);
    made.bytes[made.count]       = bytes;
    return made.at[made.count++] = malloc(bytes + SPARE);
}

static void unmake(void *user, void *ptr)
{
    (void)user;
    free(ptr);
}

/* Notes a text that is outside of all blocks. The first two calls wait for each other, so
   that both threads take part. */
static size_t pack(const char *text, size_t bytes, char *to)
{
    const int number = __atomic_add_fetch(&made.packs, 1, __ATOMIC_SEQ_CST);
    int found        = 0;

    for (int i = 0; i < made.count; i++)
        found += text >= made.at[i] && text + bytes <= made.at[i] + made.bytes[i];
    __atomic_fetch_add(&made.strangers, found == 0, __ATOMIC_SEQ_CST);
    while (number <= 2 && __atomic_load_n(&made.packs, __ATOMIC_SEQ_CST) < 2)
        sched_yield();
    memcpy(to, text, bytes);
    return bytes;
}

static hybrid_status drop(void *arg, const char *text, size_t bytes)
{
    (void)arg, (void)text, (void)bytes;
    return HYBRID_OK;
}

/* A product may call the reserve while its result is formatted. */
static void the_reserve_has_memory(void **state)
{
    static const hy_encoder encoder = {.ending = ".x", .pack = pack};
    hy_context *ctx                 = test_context(1);
    hy_pool *one                    = ctx->pool;
    hy_mtx_text *text;

    (void)state;
    assert_int_equal(hy_pool_create(ctx, test_topology(ctx), 1, 1, &ctx->pool),
                     HYBRID_OK);
    const hybrid_allocator before = ctx->memory.allocator;
    ctx->memory.allocator         = (hybrid_allocator){.alloc = record, .free = unmake};
    assert_int_equal(hy_mtx_text_open(ctx, &encoder, drop, NULL, &text), HYBRID_OK);
    hy_pool_call_reserve(ctx->pool);
    assert_int_equal(hy_mtx_text_put(text, &A, 0, -1), HYBRID_OK);
    hy_pool_dismiss_reserve(ctx->pool);
    hy_mtx_text_close(text);
    ctx->memory.allocator = before;
    assert_true(made.packs > 2);
    assert_int_equal(made.strangers, 0);
    hy_pool_destroy(ctx, ctx->pool);
    ctx->pool = one;
    test_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_do_not_depend_on_panels),
        cmocka_unit_test(the_number_of_entries_may_be_unknown),
        cmocka_unit_test(files_may_be_compressed),
        cmocka_unit_test(faults_give_sentences),
        cmocka_unit_test(compressors_count_against_the_budget),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(the_reserve_has_memory),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
