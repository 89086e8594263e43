/* tests/cuda/test_cuda_trap.c - a kernel of other code in the process traps while engines
   multiply.

   CUDA then refuses all calls of the process. This cannot be undone, so that the test is
   a program of its own. The test is skipped without a GPU. It is plain C without a test
   framework, as test_cuda_variants.c. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/api/engine.h"
#include "support/inputs/cases.h"
#include "support/device/cuda_misuse.h"
#include "support/check/expect.h"
#include "support/engines/open_cuda.h"
#include "support/check/oracle.h"
#include "support/fake/settings.h"

enum {
    SKIP      = 77,
    ROWS      = 3000,
    WIDE_ROWS = 200000,
    COLUMNS   = 64,
    BEFORE    = 5,
    LIMIT_S   = 120
};

static const test_kind kind = {HYBRID_F32, HYBRID_I32, 1};

typedef struct world {
    hybrid_engine *engine;
    hybrid_csr A, wide;       /* wide: many rows with few entries each */
    hybrid_dense X, Y, right; /* Y = wide * X; `right` is the Y that a correct product
                                 gives */
    oracle square;
    hybrid_plan *squares, *dense, *resident; /* plans that are made before the trap */
} world;

/* ---- memory ---- */

/* Number of blocks of host memory that an engine holds now, which its allocator
   counts. */
static _Atomic int64_t blocks;

static void *take(void *user, size_t bytes)
{
    void *ptr = malloc(bytes);

    (void)user;
    atomic_fetch_add(&blocks, ptr != NULL);
    return ptr;
}

static void give(void *user, void *ptr)
{
    (void)user;
    atomic_fetch_sub(&blocks, ptr != NULL);
    free(ptr);
}

/* Returns the bytes of the process's address space. */
static int64_t address_bytes(void)
{
    FILE *file    = fopen("/proc/self/statm", "r");
    long long all = 0;

    if (!file || fscanf(file, "%lld", &all) != 1)
        expect(0, "the system does not say how much memory there is");
    if (file)
        fclose(file);
    return all * sysconf(_SC_PAGESIZE);
}

/* ---- calls ---- */

static hybrid_status open_engine(hybrid_backend backend, char *why, size_t size,
                                 hybrid_engine **engine)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;

    options.backend      = backend;
    options.allocator    = (hybrid_allocator){take, give, NULL};
    options.message      = why;
    options.message_size = size;
    return hybrid_engine_create(&options, engine);
}

/* Checks and frees the C of a call that returned `status`. A product that succeeds after
   the trap must be right, whoever computed it. */
static hybrid_status judge_square(world *w, hybrid_status status, hybrid_csr *C)
{
    if (status == HYBRID_OK) {
        expect(!oracle_check(&w->square, C, 1), "a wrong A*A was handed out");
        hybrid_csr_free(w->engine, C);
    }
    return status;
}

static hybrid_status judge_dense(const world *w, hybrid_status status)
{
    const size_t bytes = (size_t)WIDE_ROWS * COLUMNS * sizeof(float);

    if (status == HYBRID_OK)
        expect(memcmp(w->Y.data, w->right.data, bytes) == 0, "a wrong Y was handed out");
    return status;
}

static hybrid_status spgemm(world *w)
{
    hybrid_csr C;
    return judge_square(w, hybrid_spgemm(w->engine, &w->A, &w->A, &C), &C);
}

static hybrid_status spmm(world *w)
{
    return judge_dense(w, hybrid_spmm(w->engine, 1, &w->wide, &w->X, 0, &w->Y));
}

static hybrid_status spmv(world *w)
{
    return hybrid_spmv(w->engine, 1, &w->wide, w->X.data, 0, w->Y.data);
}

static hybrid_status run_squares(world *w)
{
    hybrid_csr C;
    return judge_square(w, hybrid_spgemm_run(w->squares, &w->A, &w->A, &C), &C);
}

static hybrid_status run_dense(world *w)
{
    return judge_dense(w, hybrid_spmm_run(w->dense, 1, &w->wide, &w->X, 0, &w->Y));
}

static hybrid_status run_resident(world *w)
{
    return judge_dense(w, hybrid_spmm_run(w->resident, 1, &w->wide, &w->X, 0, &w->Y));
}

static hybrid_status plan_squares(world *w)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan           = NULL;

    options.split              = HYBRID_SPLIT_GPU;
    const hybrid_status status = hybrid_spgemm_plan(w->engine, &w->A, &w->A, &options,
                                                    w->squares ? &plan : &w->squares);
    hybrid_plan_destroy(plan);
    return status;
}

static hybrid_status plan_spmm(world *w, unsigned flags, hybrid_plan **kept)
{
    hybrid_plan_options options = HYBRID_PLAN_OPTIONS_INIT;
    hybrid_plan *plan           = NULL;

    options.flags = flags;
    options.split = HYBRID_SPLIT_GPU;
    const hybrid_status status =
        hybrid_spmm_plan(w->engine, &w->wide, COLUMNS, &options, *kept ? &plan : kept);
    hybrid_plan_destroy(plan);
    return status;
}

static hybrid_status plan_dense(world *w)
{
    return plan_spmm(w, 0, &w->dense);
}

static hybrid_status plan_resident(world *w)
{
    return plan_spmm(w, HYBRID_RESIDENT, &w->resident);
}

static hybrid_status pin(world *w)
{
    const hybrid_status status = hybrid_pin(w->engine, w->A.col, (size_t)w->A.nnz * 4);

    if (status == HYBRID_OK)
        expect(hybrid_unpin(w->engine, w->A.col) == HYBRID_OK, "it cannot be unpinned");
    return status;
}

static hybrid_status calibrate(world *w)
{
    return hybrid_engine_calibrate(w->engine, "trap.rates", NULL, NULL, NULL);
}

typedef struct call {
    const char *name;
    hybrid_status (*make)(world *w);
} call;

/* Calls that are made before the trap and again after it. Plans come first, because the
   runs use those that were made before. */
static const call calls[] = {{"plan of A*A", plan_squares},
                             {"plan of A*X", plan_dense},
                             {"plan of A*X, A resident", plan_resident},
                             {"run of A*A", run_squares},
                             {"run of A*X", run_dense},
                             {"run of A*X, A resident", run_resident},
                             {"hybrid_spgemm", spgemm},
                             {"hybrid_spmm", spmm},
                             {"hybrid_spmv", spmv},
                             {"hybrid_pin", pin}};

enum { CALLS = sizeof calls / sizeof *calls };

/* ---- before and after ---- */

static void open_world(world *w)
{
    char why[256] = "";

    *w = (world){.engine = NULL};
    expect(open_engine(HYBRID_CUDA, why, sizeof why, &w->engine) == HYBRID_OK, why);
    settings_of(w->engine)->device_first = 1; /* makes the device compute all products */
    matrix_random(ROWS, ROWS, 12, 3, kind, &w->A);
    matrix_random(WIDE_ROWS, WIDE_ROWS, 3, 4, kind, &w->wide);
    dense_make(WIDE_ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, kind, &w->X);
    dense_make(WIDE_ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, kind, &w->Y);
    oracle_spgemm(&w->A, &w->A, &w->square);
}

/* Computes `right` from whole numbers, so that every right Y has the same bits. */
static void make_right(world *w)
{
    hybrid_dense before;

    dense_copy(&w->Y, &before);
    expect(hybrid_spmm(w->engine, 1, &w->wide, &w->X, 0, &w->Y) == HYBRID_OK, "no Y");
    expect(!oracle_check_spmm(1, &w->wide, &w->X, 0, &before, &w->Y, 1), "Y is wrong");
    dense_free(&before);
    dense_copy(&w->Y, &w->right);
}

static void check_calls(world *w, hybrid_status expected)
{
    for (int i = 0; i < CALLS; i++) {
        const hybrid_status status = calls[i].make(w);
        const char *message        = hybrid_engine_message(w->engine);
        if (status != expected)
            fprintf(stderr, "%s: %s. %s\n", calls[i].name, hybrid_status_text(status),
                    message);
        expect(status == expected, calls[i].name);
        expect(expected == HYBRID_OK || strlen(message) > 20, "nothing was said");
    }
}

/* Checks that calls which need no device succeed after the trap. */
static void check_the_rest(world *w)
{
    hybrid_report report = HYBRID_REPORT_INIT;
    hybrid_csr T;

    expect(hybrid_csr_check(w->engine, &w->A) == HYBRID_OK, "checking A");
    expect(hybrid_csr_transpose(w->engine, &w->A, &T) == HYBRID_OK, "transposing A");
    hybrid_csr_free(w->engine, &T);
    expect(hybrid_plan_report(w->dense, &report) == HYBRID_OK, "reporting");
    hybrid_plan_refresh(w->resident);
}

static void close_world(world *w)
{
    hybrid_plan_destroy(w->squares);
    hybrid_plan_destroy(w->dense);
    hybrid_plan_destroy(w->resident);
    hybrid_engine_destroy(w->engine);
    oracle_free(&w->square);
    dense_free(&w->X);
    dense_free(&w->Y);
    dense_free(&w->right);
    matrix_free(&w->A);
    matrix_free(&w->wide);
}

/* Checks that an engine on the host, opened before the trap, still works. */
static void check_host(hybrid_engine *host, const world *w)
{
    hybrid_csr C;

    if (hybrid_spgemm(host, &w->A, &w->A, &C) != HYBRID_OK) {
        expect(0, hybrid_engine_message(host));
        return;
    }
    expect(!oracle_check(&w->square, &C, 1), "A*A of the host is wrong");
    hybrid_csr_free(host, &C);
}

/* Checks that after the trap a new engine on the GPU fails, and a new one on the host
   works. */
static void check_new_engines(const world *w)
{
    static const hybrid_backend backends[] = {HYBRID_CUDA, HYBRID_AUTO};
    char why[256];

    for (int i = 0; i < 2; i++) {
        hybrid_engine *engine = NULL;
        why[0]                = '\0';
        expect(open_engine(backends[i], why, sizeof why, &engine) == HYBRID_DEVICE_FAILED,
               "an engine on what failed");
        expect(!engine && strlen(why) > 20, why);
        fprintf(stderr, "a new engine: %s\n", why);
    }
    hybrid_engine *host = NULL;
    expect(open_engine(HYBRID_HOST, why, sizeof why, &host) == HYBRID_OK, why);
    check_host(host, w);
    hybrid_engine_destroy(host);
}

/* ---- an engine at work during the trap ---- */

typedef struct working {
    world w;
    atomic_int products;
    hybrid_status last;
    pthread_t thread;
} working;

static void *work(void *arg)
{
    working *at_work = arg;

    do {
        at_work->last = at_work->products % 2 ? spgemm(&at_work->w) : spmm(&at_work->w);
        atomic_fetch_add(&at_work->products, 1);
    } while (at_work->last == HYBRID_OK);
    return NULL;
}

static void trap_under(working *at_work)
{
    expect(pthread_create(&at_work->thread, NULL, work, at_work) == 0, "no thread");
    while (atomic_load(&at_work->products) < BEFORE)
        usleep(1000);
    expect(cuda_trap(), "the kernel could not be started");
    pthread_join(at_work->thread, NULL);
    expect(at_work->last == HYBRID_DEVICE_FAILED, "the engine at work");
    fprintf(stderr, "the engine at work, after %d products: %s\n", at_work->products,
            hybrid_engine_message(at_work->w.engine));
}

/* Checks that the destruction of an engine after the trap frees all memory, including
   pinned memory. */
static void check_closing(world *w)
{
    hybrid_report report = HYBRID_REPORT_INIT;

    expect(hybrid_engine_report(w->engine, &report) == HYBRID_OK, "no report");
    const int64_t before = address_bytes();
    close_world(w);
    expect(before - address_bytes() >= report.peak_pinned_bytes, "memory stays");
    expect(report.peak_pinned_bytes > 0, "there was no pinned memory");
}

int main(void)
{
    static working at_work;
    hybrid_engine *probe, *host = NULL;
    char why[256] = "";
    world w;

    const hybrid_status status = open_cuda(0, &probe);
    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK)
        return 1;
    hybrid_engine_destroy(probe);
    alarm(LIMIT_S); /* kills a test that hangs */
    open_world(&w);
    make_right(&w);
    check_calls(&w, HYBRID_OK);
    expect(open_engine(HYBRID_HOST, why, sizeof why, &host) == HYBRID_OK, why);
    check_host(host, &w);
    open_world(&at_work.w);
    make_right(&at_work.w);
    trap_under(&at_work);
    check_calls(&w, HYBRID_DEVICE_FAILED);
    expect(calibrate(&w) == HYBRID_DEVICE_FAILED, "calibrating");
    check_the_rest(&w);
    check_host(host, &w);
    check_new_engines(&w);
    check_closing(&w);
    hybrid_engine_destroy(host);
    close_world(&at_work.w);
    expect(atomic_load(&blocks) == 0, "blocks of memory are left");
    return expect_failed() > 0;
}
