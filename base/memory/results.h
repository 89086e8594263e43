/* base/memory/results.h - pages for arrays that the caller will own.

   Touching fresh pages costs more than the PCIe copy that fills them, so results
   live in mappings that are reserved by an upper bound (address space is free),
   use huge pages, are touched ahead by idle workers, and are kept when freed. Those
   that are used again can be pinned, piece by piece, so that a device copies to them
   directly; they stay pinned until they are unmapped. */
#ifndef HY_RESULTS_H
#define HY_RESULTS_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hy_backend;

/* One reserved array. */
typedef struct hy_span {
    char *ptr;      /* page aligned; NULL when bytes is 0 */
    size_t bytes;   /* reserved */
    size_t touched; /* leading bytes whose pages are known to be present */
    size_t counted; /* leading bytes counted on the host meter */
    size_t piece;   /* bytes that are pinned at once; 0 = cannot be pinned */
    unsigned char *pinned; /* of each piece: 1 once it is; atomic */
    const char *what;      /* name in sentences */
    size_t total;          /* bytes of the result of which this is an array, perhaps an
                              estimate; 0 = unknown */
    const char *remedy;    /* what else to do if there is no room, after a comma; or NULL */
    int64_t *reached;      /* bytes beyond which no page is present; atomic */
} hy_span;

hybrid_status hy_results_create(hy_context *ctx, hy_results **out);
/* Unmaps everything, handed out or kept. NULL is fine. */
void hy_results_destroy(hy_context *ctx, hy_results *results);

/* In a child of the process whose results they are: it has the pages no more. Takes no lock
   and frees nothing else, as threads of the parent may have been about to. */
void hy_results_leave(const hy_results *results);

/* Reserve address space for `bytes`: the smallest kept mapping that is large enough and
   not far too large, or a new one. Nothing is counted yet. `what` (static) names the array in
   sentences. */
hybrid_status hy_results_reserve(hy_context *ctx, size_t bytes, const char *what,
                                 hy_span *out);

/* The first `bytes` of the span are about to be written: count the pages that hold them,
   huge ones if the mapping has such, on the host meter. Fails with NO_MEMORY and a sentence when the cap would be exceeded. */
hybrid_status hy_results_use(hy_context *ctx, hy_span *span, size_t bytes);

/* Notes that pages up to byte `end` may be present from now on. Any thread. */
void hy_span_reach(const hy_span *span, size_t end);

/* Touch the pages of [begin, end), clipped to the reservation, from the calling
   thread; pages known to be present are skipped. */
void hy_results_touch(const hy_span *span, size_t begin, size_t end);

/* From now on pages can be pinned for this device; NULL: no longer. Unmaps what is kept;
   nothing else may be mapped. */
void hy_results_pin_for(hy_context *ctx, struct hy_backend *device);

/* Pin piece `k` of the span from the calling thread, if its first page is known to be
   present and it is not pinned. A refusal by the system leaves it as it is. */
void hy_results_pin(hy_context *ctx, const hy_span *span, size_t k);

/* Whether all of [begin, end) is pinned. */
int hy_results_pinned(const hy_span *span, size_t begin, size_t end);

/* The span is complete: only its first `used` bytes hold data. The mapping is
   handed to the caller and found again by its pointer. */
void hy_results_hand_out(hy_context *ctx, hy_span *span, size_t used);

/* Take back a span that was reserved or handed out, to be kept. NULL is fine.
   Pointers the pool never gave are ignored and return 0. */
int hy_results_release(hy_context *ctx, void *ptr);

/* Bytes on the host meter of what is kept: they are free for what needs them. */
int64_t hy_results_kept_bytes(hy_results *results);

/* Unmaps all kept mappings. */
void hy_results_trim(hy_context *ctx);

/* Call number ctx->call failed, and every span that it reserved was released: kept mappings
   become as they were before the call, and mappings that the call made are unmapped. */
void hy_results_undo(hy_context *ctx);

/* Plain array of results: reserved, counted and handed out in one go. */
hybrid_status hy_results_array(hy_context *ctx, int64_t count, size_t size,
                               const char *what, void **out);

#ifdef __cplusplus
}
#endif
#endif /* HY_RESULTS_H */
