/* engine/run/prefetch.c - sends B of a one-shot product to the device while the plan is
   made. */
#include "engine/run/prefetch.h"

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "partition/move/sources.h"

/* Returns 1 if there is a device, and B has at least hy_settings.prefetch_bytes bytes and
   fits the part of the device's budget that leaves memory for slots; `image` is the image
   of B. *room is then the bytes of B on the device. */
static int is_worth_it(const hybrid_engine *engine, const hy_image *image, size_t *room)
{
    hy_rates rates;

    if (!engine->device || !engine->device->ops->copy ||
        hy_image_bytes(image) < hy_settings_of(engine)->prefetch_bytes)
        return 0;
    hy_rates_of(engine->device, &rates);
    *room = hy_align(hy_image_room(image));
    return *room <= hy_allowed(rates.memory, HY_ALLOW_MORE);
}

static hybrid_status open_loader(hy_context *ctx, hy_backend *device, size_t room,
                                 hy_loader **out)
{
    hy_lane_set *lane_set;

    HY_TRY(hy_lane_set_acquire(ctx, device, &lane_set));
    hybrid_status status = hy_loader_open(lane_set, room, out);
    if (status == HYBRID_OK)
        status = hy_loader_pin(*out);
    if (status == HYBRID_OK)
        return HYBRID_OK;
    hy_loader_close(*out);
    *out = NULL;
    hy_lane_set_release(ctx, lane_set, 1);
    return status;
}

enum {
    FIRST_PART = 16, /* the first 1 / FIRST_PART of A's rows stand for the first chunk,
                        and the last 1 / FIRST_PART of B's rows for the end of B */
    FIRST_ROWS = 16  /* maximum number of rows of the first part that are inspected */
};

int64_t hy_prefetch_x_end(const hybrid_csr *A)
{
    const int64_t step = A->rows / (FIRST_PART * FIRST_ROWS) + 1;
    int64_t last       = 0;

    for (int64_t i = 0; i < A->rows && i < step * FIRST_ROWS; i += step) {
        const int64_t end = hy_offset(A, i + 1);
        /* tests the offsets of A, which have not been checked yet */
        if (end > hy_offset(A, i) && end > 0 && end <= A->nnz)
            last = hy_max(last, hy_cols(A)[end - 1]);
    }
    return last + 1;
}

/* Returns 1 if inspected rows of the first chunk touch the last rows of B, so that
   probably no chunk can begin before all of B has arrived. */
static int reads_all(const hybrid_csr *A)
{
    return hy_prefetch_x_end(A) > A->cols - A->cols / FIRST_PART;
}

hybrid_status hy_prefetch_begin(hybrid_engine *engine, const hybrid_csr *A,
                                const hybrid_csr *B, hy_loader **out)
{
    hy_context *ctx        = &engine->ctx;
    const hy_source source = hy_source_csr(ctx, B);
    const hy_image image   = hy_image_of_csr(B->rows, B->cols, B->nnz, B->type);
    size_t room;

    *out = NULL;
    if (!is_worth_it(engine, &image, &room))
        return HYBRID_OK;
    const hybrid_status status = open_loader(ctx, engine->device, room, out);
    if (status == HYBRID_OK)
        hy_loader_begin(*out, &source, &image, reads_all(A));
    if (status != HYBRID_NO_DEVICE_MEMORY && status != HYBRID_NO_MEMORY)
        return status;
    hy_message_clear(&ctx->message); /* no error: the plan may find a layout that needs
                                        less memory */
    return HYBRID_OK;
}

static hybrid_status count(void *prefetcher, const uint32_t **products)
{
    return hy_loader_count(prefetcher, products);
}

/* Returns 1 if B is A, and A has at least hy_settings.counted_bytes bytes: then the
   device counts scalar products sooner than workers do. */
static int has_counts(const hybrid_engine *engine, const hybrid_csr *A,
                      const hybrid_csr *B)
{
    const hy_image image = hy_image_of_csr(B->rows, B->cols, B->nnz, B->type);

    return hy_image_bytes(&image) >= hy_settings_of(engine)->counted_bytes &&
           A->rows == B->rows && A->nnz == B->nnz && A->offset_type == B->offset_type &&
           A->row_ptr == B->row_ptr && A->col == B->col;
}

hy_counter hy_prefetch_counter(const hybrid_engine *engine, hy_loader *prefetcher,
                               const hybrid_csr *A, const hybrid_csr *B)
{
    if (!prefetcher || !prefetcher->first || !has_counts(engine, A, B))
        return (hy_counter){NULL, NULL, 0};
    return (hy_counter){count, prefetcher, HY_COUNTED_ROW};
}

hybrid_status hy_prefetch_end(hy_loader **prefetcher)
{
    hy_loader *loader = *prefetcher;

    *prefetcher = NULL;
    if (!loader)
        return HYBRID_OK;
    const hybrid_status status = hy_loader_finish(loader);
    hy_lane_set_release(loader->backend->ctx, loader->lane_set, status == HYBRID_OK);
    hy_loader_close(loader);
    return status;
}
