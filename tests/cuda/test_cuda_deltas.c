/* tests/cuda/test_cuda_deltas.c - delta coding of columns on the GPU.

   The test is skipped without a GPU. It is plain C without a test framework, because GPU
   machines seldom have one. With an argument only the kernel is tested, on few of the
   longest arrays: for tools that make kernels slow. */
#include <string.h>

#include "base/data/min_max.h"
#include "engine/api/engine.h"
#include "partition/move/deltas.h"
#include "support/inputs/cases.h"
#include "support/check/deltas.h"
#include "support/check/expect.h"
#include "support/engines/open_cuda.h"
#include "support/check/oracle.h"

enum { SKIP = 77, MOST = 1 << 20, RUNS = 5 };

/* ---- the kernel ---- */

typedef struct bench {
    hy_backend *device;
    hy_lane *lane;
    hy_mark *mark;
    hy_buffer numbers, packed; /* in GPU memory: numbers to be coded, followed by their
                                  count; coded numbers */
    hy_buffer here, back;      /* pinned memory: numbers and count; coded numbers that
                                  come back */
    int64_t *units;            /* in pinned memory behind the count: room of the coded
                                  numbers, in units of 16 bytes */
} bench;

static hybrid_status open_bench(hy_backend *device, bench *b)
{
    const hy_backend_ops *ops = device->ops;
    const size_t bytes        = (size_t)MOST * 4 + 16;
    const size_t packed       = hy_deltas_bound(MOST) + HY_DELTA_BEHIND;

    memset(b, 0, sizeof *b);
    b->device = device;
    HY_TRY(ops->alloc(device, HY_DEVICE, bytes, "a test", &b->numbers));
    HY_TRY(ops->alloc(device, HY_DEVICE, packed, "a test", &b->packed));
    HY_TRY(ops->alloc(device, HY_PINNED, bytes, "a test", &b->here));
    HY_TRY(ops->alloc(device, HY_PINNED, packed, "a test", &b->back));
    b->units = (int64_t *)(void *)((char *)b->here.ptr + (size_t)MOST * 4) + 1;
    HY_TRY(ops->lane_open(device, "deltas", 0, &b->lane));
    return ops->mark_new(device, &b->mark);
}

static void close_bench(bench *b)
{
    const hy_backend_ops *ops = b->device->ops;

    ops->lane_close(b->lane);
    ops->mark_free(b->mark);
    ops->free(b->device, &b->numbers);
    ops->free(b->device, &b->packed);
    ops->free(b->device, &b->here);
    ops->free(b->device, &b->back);
}

static hybrid_status wait(const bench *b)
{
    HY_TRY(b->device->ops->mark_set(b->lane, b->mark));
    return b->device->ops->host_wait(b->mark);
}

/* Delta-codes the first `count` numbers on the GPU and copies the result to `back`. */
static hybrid_status pack(const bench *b, int64_t count)
{
    const hy_backend_ops *ops = b->device->ops;
    char *there               = b->numbers.ptr;

    b->units[-1] = count;
    HY_TRY(ops->copy(b->lane, there, b->here.ptr, (size_t)MOST * 4 + 8));
    HY_TRY(ops->code_deltas(b->lane, b->numbers.ptr,
                            (int64_t *)(void *)(there + (size_t)MOST * 4), MOST,
                            b->packed.ptr, b->units));
    HY_TRY(wait(b));
    expect(hy_deltas_bytes(count, *b->units) <= hy_deltas_bound(count), "too many units");
    HY_TRY(ops->copy(b->lane, b->back.ptr, b->packed.ptr,
                     hy_deltas_bytes(count, *b->units)));
    return wait(b);
}

static int is_right(const bench *b, int64_t count)
{
    const int32_t *numbers = b->here.ptr;
    int32_t out[HY_DELTA_FRAME];

    for (int64_t f = 0; f < hy_deltas_frames(count); f++) {
        const int64_t first = f * HY_DELTA_FRAME;
        const int64_t here  = hy_min(HY_DELTA_FRAME, count - first);
        hy_deltas_decode(b->back.ptr, count, f, out);
        if (memcmp(out, numbers + first, (size_t)here * sizeof *out) != 0)
            return 0;
    }
    return 1;
}

static void check_kernel(hy_backend *device, int few)
{
    static const int64_t counts[] = {0, 1, 4, 1023, 1024, 1025, 70001, MOST - 1, MOST};
    bench b;

    expect(open_bench(device, &b) == HYBRID_OK, "no room for numbers");
    for (int bits = 1; bits <= 31 && !expect_failed(); bits += 3)
        for (int rows = 0; rows <= 150; rows += 50) {
            deltas_fill((uint64_t)bits, bits, rows, b.here.ptr, MOST);
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
                if (!few || (rows == 0 && bits == 13) || counts[i] < MOST - 1)
                    expect(pack(&b, counts[i]) == HYBRID_OK && is_right(&b, counts[i]),
                           "numbers that were coded and decoded");
        }
    close_bench(&b);
}

/* ---- products ---- */

/* Computes A*A several times. Once pages of a freed result are used again, columns must
   come delta-coded from the device. C must be right each time. */
static void check_products(hybrid_engine *engine, test_kind kind)
{
    const int64_t size = kind.type == HYBRID_F64 ? 8 : 4;
    int64_t least      = INT64_MAX;
    oracle reference;
    hybrid_csr A, C;

    matrix_random(80000, 80000, 14, 7, kind, &A); /* so large that pages of C are
                                                     pinned */
    oracle_spgemm(&A, &A, &reference);
    for (int run = 0; run < RUNS; run++) {
        hybrid_report r = HYBRID_REPORT_INIT;
        expect(hybrid_spgemm(engine, &A, &A, &C) == HYBRID_OK, "no product");
        expect(!oracle_check(&reference, &C, 1), "a product");
        expect(hybrid_engine_report(engine, &r) == HYBRID_OK, "no report");
        least = hy_min(least, r.d2h_bytes);
        memset(C.col, 0xa5, (size_t)C.nnz * 4);
        hybrid_csr_free(engine, &C);
    }
    expect(least < reference.nnz * (size + 3), "columns never came packed");
    oracle_free(&reference);
    matrix_free(&A);
}

int main(int argc, char **argv)
{
    hybrid_engine *engine;
    const hybrid_status status = open_cuda(0, &engine);

    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    if (status != HYBRID_OK)
        return 1;
    (void)argv;
    check_kernel(engine->device, argc > 1);
    if (argc == 1) {
        check_products(engine, (test_kind){HYBRID_F32, HYBRID_I32, 1});
        check_products(engine, (test_kind){HYBRID_F64, HYBRID_I64, 1});
    }
    hybrid_engine_destroy(engine);
    return expect_failed() > 0;
}
