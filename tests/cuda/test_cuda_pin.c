/* tests/cuda/test_cuda_pin.c - which memory counts as pinned on a GPU.

   The test is skipped without a GPU. It is plain C without a test framework, because GPU
   machines seldom have one. */
#include <stdlib.h>
#include <string.h>

#include "base/memory/pinned.h"
#include "engine/api/engine.h"
#include "support/inputs/cases.h"
#include "support/check/expect.h"
#include "support/engines/open_cuda.h"
#include "support/check/oracle.h"

enum {
    SKIP    = 77,
    BYTES   = 80 << 20,
    ALIGNED = 128 << 20, /* bytes; memory that begins at a multiple of this is pinned in
                            one piece, so that another engine finds all of it */
    ROWS    = 20000,
    COLUMNS = 64
};

static void check_ranges(hybrid_engine *engine, char *memory)
{
    hy_context *ctx = &engine->ctx;
    char *at        = memory + 1001;

    expect(!hy_pinned(ctx, memory, BYTES), "fresh memory is pinned");
    expect(hybrid_pin(engine, at, BYTES / 2) == HYBRID_OK, "it cannot be pinned");
    expect(hy_pinned(ctx, at, BYTES / 2), "it is not pinned");
    expect(!hy_pinned(ctx, at - 1, 2), "what is before it is pinned");
    expect(!hy_pinned(ctx, at, BYTES / 2 + 1), "what is behind it is pinned");
    expect(hybrid_pin(engine, at + 5, 10) == HYBRID_BAD_ARGUMENT, "pinned twice");
    expect(hybrid_pin(engine, at + BYTES / 2, 99) == HYBRID_OK, "no neighbour in a page");
    expect(hybrid_unpin(engine, at + BYTES / 2) == HYBRID_OK, "neighbour stays");
    expect(hybrid_unpin(engine, at) == HYBRID_OK, "it cannot be unpinned");
    expect(!hy_pinned(ctx, at, 1), "it is still pinned");
}

/* Memory that other code pinned counts as pinned exactly up to its ends. Two such ranges
   side by side do not count as one. */
static void check_foreign(hybrid_engine *engine, char *memory)
{
    hy_backend *device = engine->device;
    hy_context *ctx    = &engine->ctx;
    const size_t half  = BYTES / 2;
    hy_buffer block;

    expect(device->ops->pin(device, memory, half) == HYBRID_OK, "first half");
    expect(device->ops->pin(device, memory + half, half) == HYBRID_OK, "second half");
    expect(hy_pinned(ctx, memory, half) && hy_pinned(ctx, memory + half, half),
           "registered memory is not found");
    expect(hy_pinned(ctx, memory + 77, half - 77), "nor the end of it");
    expect(!hy_pinned(ctx, memory + half - 8, 16), "two pieces are taken for one");
    device->ops->unpin(device, memory);
    device->ops->unpin(device, memory + half);
    expect(!hy_pinned(ctx, memory, 1) && !hy_pinned(ctx, memory + half, 1),
           "unregistered memory is found");
    if (device->ops->alloc(device, HY_PINNED, half, "a test", &block) != HYBRID_OK) {
        expect(0, "no pinned block");
        return;
    }
    expect(hy_pinned(ctx, block.ptr, half), "cudaHostAlloc's memory is not found");
    expect(!hy_pinned(ctx, block.ptr, half + 1), "more than it has");
    device->ops->free(device, &block);
}

/* Memory that one engine has pinned is pinned for the whole process. Another engine
   cannot pin it again, and copies directly from it. Other ranges in the same page can be
   pinned. */
static void check_two(hybrid_engine *engine, char *memory)
{
    char *at = memory + 1001;
    hybrid_engine *other;

    if (open_cuda(0, &other) != HYBRID_OK) {
        expect(0, "no second engine");
        return;
    }
    expect(hybrid_pin(engine, at, BYTES / 2) == HYBRID_OK, "it cannot be pinned");
    expect(hy_pinned(&other->ctx, at, BYTES / 2), "the other engine does not see it");
    expect(hybrid_pin(other, at, BYTES / 2) == HYBRID_NO_MEMORY, "pinned by both");
    expect(hybrid_pin(other, at + BYTES / 2, 99) == HYBRID_OK, "no neighbour by another");
    expect(hybrid_unpin(engine, at) == HYBRID_OK, "it cannot be unpinned");
    expect(!hy_pinned(&other->ctx, at, 1), "it is pinned for the other");
    expect(hy_pinned(&other->ctx, at + BYTES / 2, 99), "the neighbour went with it");
    expect(hybrid_pin(other, at, BYTES / 2) == HYBRID_OK, "still taken");
    hybrid_engine_destroy(other);
    expect(!hy_pinned(&engine->ctx, at, 1), "its engine is gone, it is not");
}

static void count(void *user, const hybrid_event *event)
{
    *(int *)user += event->part == 0 && strcmp(event->stage, "place") == 0;
}

/* If Y is in memory of cudaHostAlloc(), the device writes it directly, and no worker
   stores it. */
static void check_product(hybrid_engine *engine)
{
    const test_kind kind = {HYBRID_F32, HYBRID_I32, 1};
    const size_t bytes   = (size_t)ROWS * COLUMNS * 4;
    hybrid_dense X, before, Y;
    int places = 0;
    hy_buffer block;
    hybrid_csr A;

    matrix_random(ROWS, ROWS, 8, 3, kind, &A);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 1, kind, &X);
    dense_make(ROWS, COLUMNS, 0, HYBRID_ROW_MAJOR, 2, kind, &before);
    hy_backend *device = engine->device;
    if (device->ops->alloc(device, HY_PINNED, bytes, "a test", &block) == HYBRID_OK) {
        Y      = before;
        Y.data = block.ptr;
        hybrid_engine_trace(engine, count, &places);
        expect(hybrid_spmm(engine, 1, &A, &X, 0, &Y) == HYBRID_OK, "no product");
        expect(!oracle_check_spmm(1, &A, &X, 0, &before, &Y, 1), "the product");
        expect(places == 0, "workers placed rows of Y");
        device->ops->free(device, &block);
    } else {
        expect(0, "no pinned block for Y");
    }
    matrix_free(&A);
    dense_free(&X);
    dense_free(&before);
}

int main(void)
{
    hybrid_engine *engine;
    const hybrid_status status = open_cuda(0, &engine);

    if (status == HYBRID_NO_DEVICE)
        return SKIP;
    char *memory = aligned_alloc(ALIGNED, ALIGNED);
    if (status != HYBRID_OK || !memory)
        return 1;
    check_ranges(engine, memory);
    check_foreign(engine, memory);
    check_two(engine, memory);
    check_product(engine);
    hybrid_engine_destroy(engine);
    free(memory);
    return expect_failed() > 0;
}
