/* tests/run/files/test_progress_reads.c - operands in files are read in pieces, between
   which the call can be ended.

   The test counts reads and measures no time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/data/min_max.h"
#include "engine/api/engine.h"
#include "support/inputs/builder.h"
#include "support/engines/io_fixture.h"
#include "support/engines/open_host.h"
#include "support/fake/settings.h"

/* ROWS is so large that the offsets of a matrix take PIECES pieces and a part of one. */
enum { PIECE = 8 << 20, PIECES = 5, ROWS = PIECES * (PIECE / 8) + 100, COLS = 8 };

/* ---- reads ---- */

typedef struct reading {
    int64_t bytes, reads; /* bytes read, and number of reads, so far; all members are
                             atomic */
    int64_t stop;         /* bytes after which the function ends the call; 0: never */
    int64_t hold;         /* number of the read that waits until the function has ended
                             the call; 0: none */
    int64_t ended;        /* reads begun when the function ended the call; 0: it has
                             not */
    int64_t told, most;   /* bytes at the last call of the function; maximum between two
                             calls */
    int64_t done, total;  /* arguments of the last call of the function */
    int64_t parts;        /* calls with 0 < done < total */
    int waits;            /* 1: a read waits until the function has been called for the
                             piece before it, because another thread reads */
} reading;

static reading now;

static int64_t get(const int64_t *number)
{
    return __atomic_load_n(number, __ATOMIC_SEQ_CST);
}

/* Replaces the C library's pread() in the library under test. */
ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
    const int64_t number = __atomic_add_fetch(&now.reads, 1, __ATOMIC_SEQ_CST);

    while (number == get(&now.hold) && get(&now.ended) == 0)
        sched_yield();
    while (now.waits && get(&now.bytes) - get(&now.told) >= PIECE)
        sched_yield();
    const ssize_t got = syscall(SYS_pread64, fd, to, bytes, at);
    __atomic_add_fetch(&now.bytes, got, __ATOMIC_SEQ_CST);
    return got;
}

static int look(void *user, int64_t rows_done, int64_t rows)
{
    const int64_t bytes = get(&now.bytes);
    const int holds     = get(&now.hold) > 0 && get(&now.reads) >= get(&now.hold);

    (void)user;
    assert_true(rows_done >= now.done && rows_done <= rows);
    now.done  = rows_done;
    now.total = rows;
    now.parts += rows_done > 0 && rows_done < rows;
    now.most = hy_max(now.most, bytes - get(&now.told));
    __atomic_store_n(&now.told, bytes, __ATOMIC_SEQ_CST);
    if (!holds && (now.stop == 0 || bytes < now.stop))
        return 0;
    __atomic_store_n(&now.ended, get(&now.reads), __ATOMIC_SEQ_CST);
    return 1;
}

/* Opens an engine with one worker, which is the calling thread, and with no delay between
   calls of the function. */
static hybrid_engine *open_looking(reading how)
{
    hybrid_engine *engine = open_host(1, 0);

    engine->ctx.progress.every_ns = 0;
    hybrid_engine_progress(engine, look, NULL);
    now = how;
    return engine;
}

/* ---- offsets ---- */

/* Makes a file with `bytes` zeros, which take no disk space. */
static void store_zeros(const char *name, int64_t bytes, const char *json)
{
    char file[64];

    snprintf(file, sizeof file, "%s.bin", name);
    const int fd = open(io_temp(file), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, bytes), 0);
    assert_int_equal(close(fd), 0);
    snprintf(file, sizeof file, "%s.json", name);
    io_store(io_temp(file), json, strlen(json));
}

/* Opens a file, which look() does not see. */
static hybrid_file *open_file(hybrid_engine *engine, const char *name)
{
    hybrid_file *file;
    char json[64];

    snprintf(json, sizeof json, "%s.json", name);
    hybrid_engine_progress(engine, NULL, NULL);
    if (hybrid_file_open(engine, io_temp(json), &file) != HYBRID_OK)
        fail_msg("%s", hybrid_engine_message(engine));
    hybrid_engine_progress(engine, look, NULL);
    return file;
}

/* Opens a matrix of ROWS empty rows with offsets of `size` bytes. */
static hybrid_file *open_empty(hybrid_engine *engine, int size)
{
    char json[512];

    snprintf(json, sizeof json,
             "{\"format\": \"hybrid-csr\", \"version\": 1, \"rows\": %d, \"cols\": %d,\n"
             " \"nnz\": 0, \"type\": \"f32\",\n"
             " \"row_ptr\": {\"file\": \"a.bin\", \"offset\": 0, \"type\": \"i%d\"},\n"
             " \"col\": {\"file\": \"a.bin\", \"offset\": 0, \"type\": \"i32\"},\n"
             " \"values\": {\"file\": \"a.bin\", \"offset\": 0}}\n",
             ROWS, COLS, 8 * size);
    store_zeros("a", (int64_t)(ROWS + 1) * size, json);
    return open_file(engine, "a");
}

static int nothing(void *user, int64_t row_begin, const hybrid_csr *rows)
{
    (void)user;
    (void)row_begin;
    (void)rows;
    return 0;
}

/* Computes A*B with A in the file and a B without entries. */
static hybrid_status multiply(hybrid_engine *engine, const hybrid_file *A)
{
    builder b              = build_start(COLS, COLS);
    hybrid_csr empty       = build_finish(&b, 1, (test_kind){HYBRID_F32, HYBRID_I64, 1});
    const hybrid_operand a = {.file = A}, none = {.csr = &empty};

    const hybrid_status status =
        hybrid_spgemm_files_each(engine, &a, &none, NULL, nothing, NULL);
    matrix_free(&empty);
    return status;
}

static void offsets_are_read_in_pieces(void **state)
{
    (void)state;
    for (int size = 4; size <= 8; size += 4) {
        hybrid_engine *engine = open_looking((reading){.bytes = 0});
        hybrid_file *A        = open_empty(engine, size);
        assert_int_equal(multiply(engine, A), HYBRID_OK);
        assert_int_equal(now.bytes, (int64_t)(ROWS + 1) * size);
        assert_in_range(now.most, 1, PIECE);
        hybrid_file_close(A);
        hybrid_engine_destroy(engine);
    }
}

/* If the function ends the call while the calling thread reads an operand, no further
   piece is read. */
static void the_call_ends_between_two_pieces(void **state)
{
    (void)state;
    for (int size = 4; size <= 8; size += 4) {
        hybrid_engine *engine = open_looking((reading){.stop = 2 * PIECE});
        hybrid_file *A        = open_empty(engine, size);
        assert_int_equal(multiply(engine, A), HYBRID_CANCELLED);
        assert_in_range(now.bytes, 2 * PIECE, 3 * PIECE);
        assert_int_equal(now.reads, now.ended);
        hybrid_file_close(A);
        hybrid_engine_destroy(engine);
    }
}

/* If the function ends the call while another thread reads the third piece of A, no
   further piece is read. */
static void a_panel_ends_between_two_pieces(void **state)
{
    (void)state;
    for (int size = 4; size <= 8; size += 4) {
        hybrid_engine *engine            = open_looking((reading){.hold = 3});
        hybrid_file *A                   = open_empty(engine, size);
        settings_of(engine)->piece_bytes = (PIECES - 1) * PIECE;
        assert_int_equal(multiply(engine, A), HYBRID_CANCELLED);
        assert_int_equal(now.reads, 3);
        hybrid_file_close(A);
        hybrid_engine_destroy(engine);
    }
}

/* hybrid_read_csr() reports bytes of the arrays. The first report follows the first
   piece, and each later piece ends before the next begins. */
static void reading_a_matrix_tells_bytes(void **state)
{
    (void)state;
    for (int size = 4; size <= 8; size += 4) {
        const int64_t bytes   = (int64_t)(ROWS + 1) * size;
        hybrid_engine *engine = open_looking((reading){.bytes = 0});
        hybrid_csr A;
        hybrid_file_close(open_empty(engine, size));
        now = (reading){.bytes = 0};
        if (hybrid_read_csr(engine, io_temp("a.json"), &A) != HYBRID_OK)
            fail_msg("%s", hybrid_engine_message(engine));
        assert_int_equal(now.total, bytes);
        assert_int_equal(now.done, bytes);
        assert_in_range(now.parts, PIECES, INT32_MAX);
        hybrid_csr_free(engine, &A);
        now = (reading){.stop = 2 * PIECE};
        assert_int_equal(hybrid_read_csr(engine, io_temp("a.json"), &A),
                         HYBRID_CANCELLED);
        assert_true(now.done > 0 && now.done < bytes);
        hybrid_engine_destroy(engine);
    }
}

/* ---- X ---- */

/* X has two rows, each as long as two pieces: progress must be called after at most one
   piece of bytes. */
static void long_rows_of_x_are_read_in_pieces(void **state)
{
    enum { WIDTH = 2 * PIECE / 4 };
    const test_kind kind  = {HYBRID_F32, HYBRID_I64, 1};
    hybrid_engine *engine = open_looking((reading){.waits = 1});
    builder b             = build_start(1, 2);
    hybrid_dense Y;
    char json[256];

    (void)state;
    build_add(&b, 0);
    build_add(&b, 1);
    build_end_row(&b);
    hybrid_csr A = build_finish(&b, 1, kind);
    dense_make(1, WIDTH, 0, HYBRID_ROW_MAJOR, 1, kind, &Y);
    snprintf(
        json, sizeof json,
        "{\"format\": \"hybrid-dense\", \"version\": 1, \"rows\": 2, \"cols\": %d,\n"
        " \"type\": \"f32\", \"order\": \"row\", \"values\": {\"file\": \"x.bin\"}}\n",
        WIDTH);
    store_zeros("x", (int64_t)WIDTH * 2 * 4, json);
    hybrid_file *file      = open_file(engine, "x");
    const hybrid_operand a = {.csr = &A}, x = {.file = file};
    assert_int_equal(hybrid_spmm_files(engine, 1, &a, &x, 0, NULL, &Y), HYBRID_OK);
    assert_int_equal(now.bytes, (int64_t)WIDTH * 2 * 4);
    assert_in_range(now.most, 1, PIECE);
    hybrid_file_close(file);
    hybrid_engine_destroy(engine);
    dense_free(&Y);
    matrix_free(&A);
}

/* Numbers of a compressed file are inflated when the file is opened. */
static void opening_a_file_may_be_cancelled(void **state)
{
    hybrid_engine *engine = open_looking((reading){.stop = 1});
    hybrid_file *file;

    (void)state;
    assert_int_equal(hybrid_file_open(engine, io_data("good_csr_deflated.npz"), &file),
                     HYBRID_CANCELLED);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_read_in_pieces),
        cmocka_unit_test(the_call_ends_between_two_pieces),
        cmocka_unit_test(a_panel_ends_between_two_pieces),
        cmocka_unit_test(reading_a_matrix_tells_bytes),
        cmocka_unit_test(long_rows_of_x_are_read_in_pieces),
        cmocka_unit_test(opening_a_file_may_be_cancelled),
    };
    return cmocka_run_group_tests_name("progress of reading", tests, NULL,
                                       io_group_remove);
}
