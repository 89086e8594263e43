/* base/memory/results.h - pages for arrays that the caller will own.

   Touching fresh pages costs more than the PCIe copy that fills them. Results therefore
   live in mappings that are reserved by an upper bound (address space is free), use huge
   pages, are prefaulted by idle workers, and are pooled when freed. Mappings that are
   used again can be pinned, piece by piece, so that a device copies to them directly.
   They stay pinned until they are unmapped. */
#ifndef HY_RESULTS_H
#define HY_RESULTS_H

#include "base/contract/context.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hy_backend;

/* One array whose address space is reserved, before its size is known. */
typedef struct hy_span {
    char *ptr;      /* address of the array, at a page boundary; NULL if bytes is 0 */
    size_t bytes;   /* bytes of reserved address space */
    size_t touched; /* leading bytes that lie in pages known to be present */
    size_t counted; /* leading bytes that count against the budget of host memory (on its
                       meter) */
    size_t piece;   /* bytes that are pinned together; 0: the span cannot be pinned */
    unsigned char *pinned; /* one flag for each `piece` bytes: 1 once they are pinned;
                              atomic */
    const char *what;      /* name of the array in messages */
    size_t total;          /* for messages: bytes of the whole result, or an estimate of
                              them; 0: unknown */
    const char *remedy;    /* for messages: further advice if memory is short, or NULL */
    int64_t *reached;      /* points to the number of leading bytes beyond which no page
                              is present; atomic */
} hy_span;

hybrid_status hy_results_create(hy_context *ctx, hy_results **out);
/* Unmaps all mappings, including those of the caller. Does nothing if `results` is
   NULL. */
void hy_results_destroy(hy_context *ctx, hy_results *results);

/* Unmaps the results in a forked child process. Takes no lock and frees nothing else,
   because threads of the parent may have held locks when it forked. */
void hy_results_leave(const hy_results *results);

/* Reserves address space for `bytes` bytes. Takes the smallest pooled mapping that is
   large enough, except one with more than 4 times the pages that `bytes` needs. If there
   is none, maps new pages. The bytes are not counted yet. `what`, a static string, names
   the array in messages. NO_MEMORY, with a sentence, if the system has no address space
   left. */
hybrid_status hy_results_reserve(hy_context *ctx, size_t bytes, const char *what,
                                 hy_span *out);

/* Counts the pages, huge or small, that hold the first `bytes` bytes of the span. Call
   this before writing to them. NO_MEMORY, with a sentence, if the budget of host memory
   would be exceeded. */
hybrid_status hy_results_use(hy_context *ctx, hy_span *span, size_t bytes);

/* Records in *span->reached that pages up to byte `end` may be present from now on. Any
   thread may call it. */
void hy_span_reach(const hy_span *span, size_t end);

/* Makes the pages of [begin, end) present, in the calling thread. Bytes outside the
   reservation and pages known to be present are skipped. */
void hy_results_touch(const hy_span *span, size_t begin, size_t end);

/* Asks for the fresh pages that hold bytes [begin, end) of the span from one NUMA node. A
   page that also holds bytes before `begin` stays as it is. Pages known to be present do
   not move. */
void hy_results_place(const hy_context *ctx, const hy_span *span, size_t begin, size_t end,
                      int node);

/* From now on, hy_results_pin() may pin pages of results for `device`; NULL: it pins
   none. `several` is 1 if the engine has more devices, which write to pinned pages, too.
   Unmaps pooled mappings; no other mapping may exist. */
void hy_results_pin_for(hy_context *ctx, struct hy_backend *device, int several);

/* Returns 1 if only one thread at a time should pin, because pages are pinned for several
   devices: while CUDA pins, copies of all devices wait, and more threads do not pin
   faster (docs/lab/neighbours.md). */
int hy_results_pin_alone(const hy_context *ctx);

/* Pins piece `k` of the span from the calling thread, if its first page is known to be
   present and the piece is not pinned yet. With a budget that the caller set
   (hy_memory.strict), all its pages must be known to be present. Does nothing if the
   system refuses. */
void hy_results_pin(hy_context *ctx, const hy_span *span, size_t k);

/* Returns 1 if all bytes [begin, end) of the span are pinned. */
int hy_results_pinned(const hy_span *span, size_t begin, size_t end);

/* Ends the use of a complete span. Its first `used` bytes hold data. The mapping is
   handed to the caller, and hy_results_release() finds it by its pointer. */
void hy_results_hand_out(hy_context *ctx, hy_span *span, size_t used);

/* Takes back a span that was reserved or handed out, and pools its mapping. The mappings
   that were released last stay pooled: at most 32, which take at most half of the budget
   of host memory. Returns 1, or 0 if ptr is NULL or not a result. */
int hy_results_release(hy_context *ctx, void *ptr);

/* Returns the bytes of pooled mappings that count against the budget of host memory; they
   can be freed when memory is short. */
int64_t hy_results_pooled_bytes(const hy_results *results);

/* Unmaps all pooled mappings. */
void hy_results_trim(hy_context *ctx);

/* Undoes the failed public call ctx->call. Every span that the call reserved must have
   been released. Pooled mappings become as they were before the call, and mappings that
   the call made are unmapped. */
void hy_results_undo(hy_context *ctx);

/* Reserves, counts and hands out an array of results at once. */
hybrid_status hy_results_array(hy_context *ctx, int64_t count, size_t size,
                               const char *what, void **out);

#ifdef __cplusplus
}
#endif
#endif /* HY_RESULTS_H */
