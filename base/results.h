/* base/results.h - pages for arrays that the caller will own.

   Touching fresh pages costs more than the PCIe copy that fills them, so results
   live in mappings that are reserved by an upper bound (address space is free),
   use huge pages, are touched ahead by idle workers, and are kept when freed. */
#ifndef HY_RESULTS_H
#define HY_RESULTS_H

#include "base/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One reserved array. */
typedef struct hy_span {
    char *ptr;      /* page aligned; NULL when bytes is 0 */
    size_t bytes;   /* reserved */
    size_t touched; /* leading bytes whose pages are known to be present */
    size_t counted; /* leading bytes counted on the host meter */
} hy_span;

hybrid_status hy_results_create(hy_context *ctx, hy_results **out);
/* Unmaps everything, handed out or kept. NULL is fine. */
void hy_results_destroy(hy_context *ctx, hy_results *results);

/* Reserve address space for `bytes`: a kept mapping with the most touched pages
   that is large enough, or a new one. Nothing is counted yet. */
hybrid_status hy_results_reserve(hy_context *ctx, size_t bytes, hy_span *out);

/* The first `bytes` of the span are about to be written: count them on the host
   meter. Fails with NO_MEMORY and a sentence when the cap would be exceeded. */
hybrid_status hy_results_use(hy_context *ctx, hy_span *span, size_t bytes);

/* Touch the pages of [begin, end), clipped to the reservation, from the calling
   thread; pages known to be present are skipped. */
void hy_results_touch(const hy_span *span, size_t begin, size_t end);

/* The span is complete: only its first `used` bytes hold data. The mapping is
   handed to the caller and found again by its pointer. */
void hy_results_hand_out(hy_context *ctx, hy_span *span, size_t used);

/* Take back a span that was reserved or handed out, to be kept. NULL is fine.
   Pointers the pool never gave are ignored and return 0. */
int hy_results_release(hy_context *ctx, void *ptr);

/* Unmap what is kept. */
void hy_results_trim(hy_context *ctx);

/* Plain array of results: reserved, counted and handed out in one go. */
hybrid_status hy_results_array(hy_context *ctx, int64_t count, size_t size,
                               const char *what, void **out);

#ifdef __cplusplus
}
#endif
#endif /* HY_RESULTS_H */
