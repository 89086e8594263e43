/* tests/run/files/test_progress_files.c - progress and cancellation of calls that read or
   write a file.

   Progress is in bytes of the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/api/engine.h"
#include "io/text/io.h"
#include "support/inputs/feed.h"
#include "support/engines/host_engine.h"
#include "support/engines/io_fixture.h"

typedef struct watch {
    int64_t calls, done, total;
    int64_t stop; /* bytes done at which the function ends the call; -1: never */
} watch;

static int look(void *user, int64_t done, int64_t total)
{
    watch *w = user;

    assert_true(done >= w->done);
    assert_true(total == -1 || done <= total);
    w->calls++;
    w->done  = done;
    w->total = total;
    return w->stop >= 0 && done >= w->stop && done != total;
}

static watch w;

static hy_io_sizes small; /* usual sizes, with small windows */

/* Counts calls from now on, with no delay between calls of the function. */
static void watch_from_now(int64_t stop)
{
    w = (watch){.stop = stop};
    hybrid_engine_progress(engine, look, &w);
    engine->ctx.progress.every_ns = 0;
}

static int64_t size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

/* Checks a call that returned `status`: it must have reported all bytes of the file, in
   several steps. */
static void check_told(hybrid_status status, const char *path)
{
    if (status != HYBRID_OK)
        fail_msg("%s", hybrid_engine_message(engine));
    assert_true(w.calls > 4);
    assert_int_equal(w.total, size_of(path));
    assert_int_equal(w.done, w.total);
    assert_false(hy_progress_asked(&engine->ctx.progress));
}

static void check_ended(hybrid_status status, int64_t most)
{
    assert_int_equal(status, HYBRID_CANCELLED);
    assert_true(w.done < most);
    assert_non_null(
        strstr(hybrid_engine_message(engine), "the caller's function returned 1"));
    assert_false(hy_progress_asked(&engine->ctx.progress));
}

static char path[256];

static void name(const char *file)
{
    snprintf(path, sizeof path, "%s", io_temp(file));
}

static void sparse_matrices(void **state)
{
    hybrid_csr A, B;
    (void)state;

    name("a.mtx");
    assert_int_equal(hybrid_generate(engine, "er:20000,20", HYBRID_F64, 1, &A),
                     HYBRID_OK);
    watch_from_now(-1);
    check_told(hybrid_write_mtx(engine, path, &A), path);
    const int64_t bytes = w.total;
    watch_from_now(-1);
    check_told(hybrid_read_mtx(engine, path, HYBRID_F64, &B), path);
    hybrid_csr_free(engine, &B);

    watch_from_now(bytes / 2);
    check_ended(hybrid_read_mtx(engine, path, HYBRID_F64, &B), bytes);
    name("b.mtx");
    watch_from_now(bytes / 4);
    check_ended(hybrid_write_mtx(engine, path, &A), bytes);
    assert_int_equal(size_of(path), -1);
    assert_int_equal(size_of(io_partial("b.mtx")), -1);
    hybrid_csr_free(engine, &A);
}

static void dense_matrices(void **state)
{
    const int64_t bytes = 128 + 100 * 30000 * 8;
    hybrid_dense X, Y;
    (void)state;

    name("x.npy");
    assert_int_equal(
        hybrid_dense_create(engine, 30000, 100, HYBRID_ROW_MAJOR, HYBRID_F64, &X),
        HYBRID_OK);
    memset(X.data, 0, 100 * 30000 * 8);
    watch_from_now(bytes / 4);
    check_ended(hybrid_write_npy(engine, path, &X), bytes);
    assert_int_equal(size_of(path), -1);
    watch_from_now(-1);
    w.calls = 4; /* check_told() requires several calls of the function, but writing has
                    few large pieces: four more are counted */
    check_told(hybrid_write_npy(engine, path, &X), path);
    watch_from_now(-1);
    check_told(hybrid_read_dense(engine, path, HYBRID_F64, &Y), path);
    hybrid_dense_free(engine, &Y);
    watch_from_now(bytes / 2);
    check_ended(hybrid_read_dense(engine, path, HYBRID_F32, &Y), bytes);
    hybrid_dense_free(engine, &X);
}

/* If a file is compressed, progress counts its compressed bytes. */
static void compressed_files(void **state)
{
    char command[600];
    hybrid_csr A;
    (void)state;

    name("a.mtx");
    snprintf(command, sizeof command, "gzip -1kf '%s'", path);
    assert_int_equal(system(command), 0);
    name("a.mtx.gz");
    small                = hy_usual_io_sizes;
    small.window         = 1 << 20;
    engine->ctx.io_sizes = &small;
    watch_from_now(-1);
    check_told(hybrid_read_mtx(engine, path, HYBRID_F64, &A), path);
    hybrid_csr_free(engine, &A);
}

/* Progress of reading a pipe has no total, because the size of a pipe is unknown. */
static void pipes(void **state)
{
    hybrid_csr A;
    size_t bytes;
    char *all;
    (void)state;

    name("a.mtx");
    all    = io_load(path, &bytes);
    feed f = {.head = all, .head_bytes = bytes};
    watch_from_now(-1);
    assert_int_equal(hybrid_read_mtx(engine, feed_begin(&f), HYBRID_F64, &A), HYBRID_OK);
    feed_end(&f);
    assert_true(w.calls > 4);
    assert_int_equal(w.total, -1);
    assert_int_equal(w.done, bytes);
    hybrid_csr_free(engine, &A);
    free(all);
}

/* Progress must also end if a file cannot be read or written. */
static void failures(void **state)
{
    hybrid_csr A;
    (void)state;

    watch_from_now(-1);
    assert_int_equal(hybrid_read_mtx(engine, io_data("bad_banner.mtx"), HYBRID_F64, &A),
                     HYBRID_BAD_FILE);
    assert_false(hy_progress_asked(&engine->ctx.progress));
    hybrid_engine_progress(engine, NULL, NULL);
}

/* With one worker the calling thread does all pieces, and calls the function after
   each. */
static int open_one(void **state)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    (void)state;
    options.backend = HYBRID_HOST;
    options.threads = 1;
    return hybrid_engine_create(&options, &engine) == HYBRID_OK ? 0 : -1;
}

static int remove_files(void **state)
{
    io_remove_temp();
    return close_engine(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_matrices),  cmocka_unit_test(dense_matrices),
        cmocka_unit_test(compressed_files), cmocka_unit_test(pipes),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, open_one, remove_files);
}
