/* tests/unit/plan/test_least.c - the least bytes of B that chunks need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/report/least.h"
#include "support/engines/context.h"
#include "support/inputs/builder.h"
#include "support/inputs/cases.h"

static const test_kind f64 = {HYBRID_F64, HYBRID_I64, 1};

enum { MOST = 40, ROW = 8 + 12 /* bytes of a row of B with one entry */ };

static hy_context *ctx;

/* Makes a matrix with one entry in each row. */
static hybrid_csr even_rows(int64_t rows)
{
    builder b = build_start(rows, rows);

    for (int64_t i = 0; i < rows; i++) {
        build_add(&b, i);
        build_end_row(&b);
    }
    return build_finish(&b, 1, f64);
}

/* Makes a chunk of each row of A. Returns their number. */
static int64_t rows_of(const hybrid_csr *A, hy_chunk *chunks)
{
    for (int64_t i = 0; i < A->rows; i++)
        chunks[i] = (hy_chunk){.id = i, .row_begin = i, .row_end = i + 1};
    return A->rows;
}

static int64_t least(const hybrid_csr *A, const hybrid_csr *B, int64_t room)
{
    hy_chunk chunks[MOST];
    int64_t sent;

    assert_int_equal(hy_least_sent(ctx, A, B, chunks, rows_of(A, chunks), room, &sent),
                     HYBRID_OK);
    return sent;
}

/* ---- by hand ---- */

/* Chunks touch rows 0 1, 2, 0, 1. With room for two rows, row 1 makes way for row 2, so
   four rows are sent. With room for three rows, no row is sent twice. */
static void the_row_needed_last_makes_room(void **state)
{
    builder b    = build_start(4, 3);
    hybrid_csr B = even_rows(3);

    (void)state;
    build_add(&b, 0);
    build_add(&b, 1);
    build_end_row(&b);
    build_add(&b, 2);
    build_end_row(&b);
    build_add(&b, 0);
    build_end_row(&b);
    build_add(&b, 1);
    build_end_row(&b);
    hybrid_csr A = build_finish(&b, 1, f64);
    assert_int_equal(least(&A, &B, 2 * ROW), 4 * ROW);
    assert_int_equal(least(&A, &B, 3 * ROW), 3 * ROW);
    assert_int_equal(least(&A, &B, 0), 5 * ROW);
    matrix_free(&A);
    matrix_free(&B);
}

/* ---- against a search ---- */

/* Returns the least number of rows of a B of up to 8 rows that are sent from chunk `c`
   on, if the rows in the set `there` are on the device. Tries every set of rows to keep
   there. */
static int search(const hybrid_csr *A, int64_t c, unsigned there, int room)
{
    unsigned needs = 0;
    int best       = 1 << 20;

    if (c == A->rows)
        return 0;
    for (int64_t k = hy_offset(A, c); k < hy_offset(A, c + 1); k++)
        needs |= 1u << hy_cols(A)[k];
    for (unsigned kept = there;; kept = (kept - 1) & there) {
        const unsigned held = kept | needs;
        if (__builtin_popcount(held) <= room)
            best = (int)hy_min(best, __builtin_popcount(needs & ~kept) +
                                         search(A, c + 1, held, room));
        if (kept == 0)
            break;
    }
    return best;
}

/* If rows of B have equal size, no way to replace rows in the memory sends fewer bytes to
   the device. The memory holds at least the rows of each chunk. */
static void nothing_sends_less(void **state)
{
    hybrid_csr B = even_rows(5);

    (void)state;
    for (unsigned seed = 1; seed < 60; seed++) {
        hybrid_csr A;
        int widest = 0;
        matrix_random(7, 5, 1.8, seed, f64, &A);
        for (int64_t i = 0; i < A.rows; i++)
            widest = (int)hy_max(widest, hy_offset(&A, i + 1) - hy_offset(&A, i));
        for (int room = widest; room <= 5; room++)
            assert_int_equal(least(&A, &B, room * ROW), ROW * search(&A, 0, 0, room));
        matrix_free(&A);
    }
    matrix_free(&B);
}

/* More room costs few bytes at most, and with room for all of B each touched row is sent
   once. */
static void room_saves_bytes(void **state)
{
    hybrid_csr A, B;
    int64_t before = INT64_MAX / 2, once = 0;

    (void)state;
    matrix_random(MOST, 300, 60, 3, f64, &A);
    matrix_random(300, 50, 6, 4, f64, &B);
    char seen[300] = {0};
    for (int64_t k = 0; k < A.nnz; k++) {
        const int32_t row = hy_cols(&A)[k];
        once += seen[row] ? 0 : 8 + 12 * (hy_offset(&B, row + 1) - hy_offset(&B, row));
        seen[row] = 1;
    }
    for (int64_t room = 0; room < 40000; room += 1000) {
        const int64_t sent = least(&A, &B, room);
        /* more room costs at most 2000 bytes here; it may cost some, because rows differ
           in size */
        assert_true(sent <= before + 2000 && sent >= once);
        before = sent;
    }
    assert_int_equal(before, once);
    matrix_free(&A);
    matrix_free(&B);
}

/* ---- pieces ---- */

/* Workers list the uses of a chunk with many entries in pieces, and each of its rows of A
   touches all rows of B. A row of B counts once for each chunk all the same. */
static void pieces_of_a_chunk_share_rows(void **state)
{
    enum { ROWS = 1 << 17, EACH = 4 };
    const hy_chunk chunks[] = {{.id = 0, .row_end = EACH},
                               {.id = 1, .row_begin = EACH, .row_end = 2 * EACH}};
    hybrid_csr A = build_rows(2 * EACH, ROWS, ROWS, -1, f64), B = even_rows(ROWS);
    int64_t sent;

    (void)state;
    assert_int_equal(hy_least_sent(ctx, &A, &B, chunks, 1, 0, &sent), HYBRID_OK);
    assert_int_equal(sent, ROWS * ROW);
    assert_int_equal(hy_least_sent(ctx, &A, &B, chunks, 2, ROWS * ROW, &sent), HYBRID_OK);
    assert_int_equal(sent, ROWS * ROW);
    matrix_free(&A);
    matrix_free(&B);
}

/* ---- samples ---- */

/* Chunks of a large A touch the rows of B in turns, each row twice. With room for all of
   B each row is sent once, and with room for half of B some rows are sent twice. */
static void a_sample_is_near(void **state)
{
    enum { ROWS = 5 << 20, CHUNKS = 20 };
    hybrid_csr A = even_rows(ROWS);
    hy_chunk chunks[CHUNKS];
    int64_t once, twice;

    (void)state;
    for (int64_t c = 0; c < CHUNKS; c++) /* of rows 0 to ROWS - 1, then of these again */
        chunks[c] = (hy_chunk){.id        = c,
                               .row_begin = c % (CHUNKS / 2) * (ROWS / CHUNKS * 2),
                               .row_end   = (c % (CHUNKS / 2) + 1) * (ROWS / CHUNKS * 2)};
    assert_int_equal(hy_least_sent(ctx, &A, &A, chunks, CHUNKS, ROWS * ROW, &once),
                     HYBRID_OK);
    assert_true(once > ROWS * 19LL && once < ROWS * 21LL);
    assert_int_equal(hy_least_sent(ctx, &A, &A, chunks, CHUNKS, ROWS / 2 * ROW, &twice),
                     HYBRID_OK);
    assert_true(twice > ROWS * 28LL && twice < ROWS * 33LL);
    matrix_free(&A);
}

/* A sample of a B of few rows has all rows, however much these differ. */
static void few_rows_are_all_replayed(void **state)
{
    enum { ROWS = 1 << 16, FEW = 70 };
    const hy_chunk all = {.row_end = ROWS};
    hybrid_csr A       = build_rows(ROWS, FEW, FEW, -1, f64);
    hybrid_csr B       = build_rows(FEW, FEW, 1, FEW / 2, f64);
    int64_t sent;

    (void)state;
    assert_int_equal(hy_least_sent(ctx, &A, &B, &all, 1, 0, &sent), HYBRID_OK);
    assert_int_equal(sent, FEW * 8 + B.nnz * 12);
    matrix_free(&A);
    matrix_free(&B);
}

/* ---- failures ---- */

static void each_allocation_may_fail(void **state)
{
    hybrid_csr A = even_rows(MOST);
    hy_chunk chunks[MOST];
    hybrid_status status;
    int64_t sent, failing = 0;

    (void)state;
    rows_of(&A, chunks);
    do {
        ctx->memory.failures = ++failing;
        status               = hy_least_sent(ctx, &A, &A, chunks, MOST, ROW, &sent);
        ctx->memory.failures = 0;
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
        hy_message_clear(&ctx->message);
    } while (status != HYBRID_OK);
    assert_int_equal(sent, MOST * ROW);
    assert_true(failing > 4);
    matrix_free(&A);
}

static int open_all(void **state)
{
    (void)state;
    ctx = test_context(2);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    test_context_free(ctx);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_row_needed_last_makes_room),
        cmocka_unit_test(nothing_sends_less),
        cmocka_unit_test(room_saves_bytes),
        cmocka_unit_test(pieces_of_a_chunk_share_rows),
        cmocka_unit_test(a_sample_is_near),
        cmocka_unit_test(few_rows_are_all_replayed),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
