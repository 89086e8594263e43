/* host/backend/host_measure.c - measures the CPU: memory, clock, parallel loops. */
#include <string.h>

#include "base/threads/clock.h"
#include "base/data/median.h"
#include "host/backend/host_lane.h"

enum {
    COPY_LEAST = 64 << 20, /* a copy has twice the bytes of the last-level cache, but at
                              least COPY_LEAST and at most COPY_MOST */
    COPY_MOST = 512 << 20,
    COPIES    = 5,
    PIECES    = 8,       /* pieces of a copy for each worker */
    ADDS      = 4 << 20, /* additions that a core makes in one measurement, which takes
                            some milliseconds */
    LOOPS = 101
};

static double since(int64_t begin_ns)
{
    return (double)(hy_now_ns() - begin_ns) * 1e-9;
}

/* ---- memory: all workers copy -------------------------------------------------- */

typedef struct copying {
    char *to, *from;
    int64_t bytes, grain;
} copying;

static hybrid_status touch(void *arg, int part, int64_t begin, int64_t end)
{
    const copying *c = arg;

    (void)part;
    memset(c->from + begin, 1, (size_t)(end - begin));
    memset(c->to + begin, 2, (size_t)(end - begin));
    return HYBRID_OK;
}

static hybrid_status copy(void *arg, int part, int64_t begin, int64_t end)
{
    const copying *c = arg;

    (void)part;
    hy_copy_past(c->to + begin, c->from + begin, (size_t)(end - begin));
    return HYBRID_OK;
}

static hybrid_status open_copy(hy_context *ctx, copying *c)
{
    const int64_t cache = (int64_t)hy_topology_llc_bytes(hy_pool_topology(ctx->pool));
    const int64_t want  = 2 * cache;
    void *array;

    c->bytes = want < COPY_LEAST ? COPY_LEAST : want < COPY_MOST ? want : COPY_MOST;
    c->grain = c->bytes / (PIECES * hy_pool_threads(ctx->pool)) + 1;
    HY_TRY(hy_array(ctx, c->bytes, 1, "memory to measure", &array));
    c->from = array;
    HY_TRY(hy_array(ctx, c->bytes, 1, "memory to measure", &array));
    c->to = array;
    return hy_pool_for(ctx->pool, HY_COMPUTE, 0, c->bytes, c->grain, touch, c);
}

static hybrid_status measure_memory(hy_context *ctx, double *Bps)
{
    copying c = {0};
    double seconds[COPIES];
    hybrid_status status;

    HY_TRY_ELSE_DONE(open_copy(ctx, &c));
    for (int i = 0; i < COPIES; i++) {
        const int64_t begin = hy_now_ns();
        HY_TRY_ELSE_DONE(
            hy_pool_for(ctx->pool, HY_COMPUTE, 0, c.bytes, c.grain, copy, &c));
        seconds[i] = since(begin);
    }
    *Bps = 2 * (double)c.bytes / hy_median(seconds, COPIES);
done:
    hy_array_free(ctx, c.from);
    hy_array_free(ctx, c.to);
    return status;
}

/* ---- clock: dependent additions take one cycle each -------------------------------- */

static hybrid_status add_up(void *arg, int part, int64_t begin, int64_t end)
{
    double *seconds = arg;

    (void)part;
    for (int64_t piece = begin; piece < end; piece++) {
        const int64_t start = hy_now_ns();
        int64_t x           = piece;
        for (int64_t i = 0; i < ADDS; i += 4)
            for (int k = 0; k < 4; k++) {
                x += i;
                __asm__ volatile(""
                                 : "+r"(x)); /* keeps the compiler from merging the
                                                additions */
            }
        seconds[piece] = since(start);
    }
    return HYBRID_OK;
}

/* Sets *hz to the cycles per second of a core while all cores work. */
static hybrid_status measure_clock(hy_context *ctx, double *hz)
{
    const int pieces = 4 * hy_pool_threads(ctx->pool);
    void *seconds;

    HY_TRY(hy_array(ctx, pieces, sizeof(double), "times to measure", &seconds));
    const hybrid_status status =
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, pieces, 1, add_up, seconds);
    if (status == HYBRID_OK)
        *hz = ADDS / hy_median(seconds, pieces);
    hy_array_free(ctx, seconds);
    return status;
}

/* ---- loops ------------------------------------------------------------------------ */

static hybrid_status nothing(void *arg, int part, int64_t begin, int64_t end)
{
    (void)arg, (void)part, (void)begin, (void)end;
    return HYBRID_OK;
}

static hybrid_status measure_loop(hy_context *ctx, double *seconds)
{
    const int threads = hy_pool_threads(ctx->pool);
    double each[LOOPS];

    for (int i = 0; i < LOOPS; i++) {
        const int64_t begin = hy_now_ns();
        HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, threads, 1, nothing, NULL));
        each[i] = since(begin);
    }
    *seconds = hy_median(each, LOOPS);
    return HYBRID_OK;
}

hybrid_status hy_host_measure(hy_backend *self, hy_measured *out)
{
    hy_context *ctx = self->ctx;
    double hz       = 0;

    HY_TRY(measure_memory(ctx, &out->mem_Bps));
    HY_TRY(measure_clock(ctx, &hz));
    out->flops = HY_HOST_CYCLE_FLOPS * hz * hy_pool_threads(ctx->pool);
    return measure_loop(ctx, &out->launch_s);
}
