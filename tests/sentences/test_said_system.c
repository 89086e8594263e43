/* tests/sentences/test_said_system.c - calls of the system that fail.

   The linker replaces these functions of the C library, hwloc and zlib in this program.
   sentences.py compares what the library says with sentences.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <hwloc.h>
#include <locale.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "support/engines/either.h"
#include "support/engines/io_fixture.h"
#include "support/inputs/cases.h"
#include "support/inputs/stored.h"

/* Functions of the system that can be made to fail, after a number of successful
   calls. */
typedef enum wrapped {
    NONE,
    FSTAT,
    PREAD,
    THREAD,
    LOCALE,
    TOPOLOGY,
    INFLATE,
    DATE
} wrapped;
static wrapped failing;
static int left;

static int fails(wrapped function)
{
    return failing == function && __atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) <= 0;
}

static void fail_after(int calls, wrapped function)
{
    failing = function;
    left    = calls;
}

#define REPLACE(result, name, parameters, arguments, function, failure)                  \
    result __real_##name parameters;                                                     \
    __attribute__((visibility("default"))) result __wrap_##name parameters;              \
    result __wrap_##name parameters                                                      \
    {                                                                                    \
        errno = EIO;                                                                     \
        return fails(function) ? (failure) : __real_##name arguments;                    \
    }

REPLACE(int, fstat, (int fd, struct stat *st), (fd, st), FSTAT, -1)
REPLACE(ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at), PREAD,
        -1)
REPLACE(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg),
        (thread, attr, fn, arg), THREAD, EAGAIN)
REPLACE(locale_t, newlocale, (int mask, const char *name, locale_t base),
        (mask, name, base), LOCALE, (locale_t)0)
REPLACE(int, hwloc_topology_load, (hwloc_topology_t t), (t), TOPOLOGY, -1)
REPLACE(int, inflateInit2_, (z_streamp z, int bits, const char *version, int size),
        (z, bits, version, size), INFLATE, Z_MEM_ERROR)
REPLACE(struct tm *, gmtime_r, (const time_t *now, struct tm *day), (now, day), DATE,
        NULL)

static hybrid_status create(int threads, hybrid_engine **engine)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.backend = HYBRID_HOST;
    options.threads = threads;
    return hybrid_engine_create(&options, engine);
}

static void engines(void **state)
{
    hybrid_engine *engine;

    (void)state;
    fail_after(0, TOPOLOGY);
    assert_int_equal(create(2, &engine), HYBRID_NO_MEMORY);
    fail_after(1, THREAD);
    assert_int_equal(create(4, &engine), HYBRID_NO_MEMORY);
    fail_after(0, NONE);
}

/* Computes a product while the creation of the first, second, third ... thread fails,
   until a product can start all of its threads. */
static void pipelines(void **state)
{
    const test_kind kind  = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_engine *engine = either_open(0, 0);
    hybrid_csr A, C;

    (void)state;
    matrix_random(60, 60, 4, 1, kind, &A);
    hybrid_status status = HYBRID_NO_MEMORY;
    for (int calls = 0; status != HYBRID_OK; calls++) {
        hybrid_engine_trim(engine);
        fail_after(calls, THREAD);
        status = hybrid_spgemm(engine, &A, &A, &C);
        assert_true(status == HYBRID_OK || status == HYBRID_NO_MEMORY);
    }
    hybrid_csr_free(engine, &C);
    fail_after(0, NONE);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
}

static void files(void **state)
{
    const test_kind kind  = {HYBRID_F64, HYBRID_I64, 1};
    hybrid_engine *engine = either_open(1, 0);
    hybrid_trace *trace;
    hybrid_csr A, C;

    (void)state;
    matrix_random(60, 60, 4, 1, kind, &A);
    const hybrid_operand stored = stored_csr(engine, "a", &A, 1);
    fail_after(0, PREAD);
    assert_int_equal(hybrid_spgemm_files(engine, &stored, &stored, NULL, &C),
                     HYBRID_IO_FAILED);
    fail_after(0, NONE);
    hybrid_file_close((hybrid_file *)stored.file);
    for (int calls = 0; calls < 3; calls++) {
        hybrid_file *file;

        fail_after(calls, FSTAT);
        if (hybrid_file_open(engine, io_temp("a.json"), &file) == HYBRID_OK)
            hybrid_file_close(file);
    }
    fail_after(0, LOCALE);
    assert_int_equal(hybrid_read_mtx(engine, io_data("good_general.mtx"), HYBRID_F64, &C),
                     HYBRID_NO_MEMORY);
    assert_int_equal(hybrid_trace_create(engine, &trace), HYBRID_OK);
    assert_int_equal(hybrid_trace_write_json(trace, io_temp("t.json")), HYBRID_NO_MEMORY);
    hybrid_trace_destroy(trace);
    fail_after(0, INFLATE);
    assert_int_equal(hybrid_read_mtx(engine, io_data("good_gzip.mtx.gz"), HYBRID_F64, &C),
                     HYBRID_NO_MEMORY);
    fail_after(0, DATE);
    assert_int_equal(hybrid_engine_calibrate(engine, io_temp("rates"), NULL, NULL, NULL),
                     HYBRID_BAD_STATE);
    fail_after(0, NONE);
    matrix_free(&A);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines),
        cmocka_unit_test(pipelines),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
