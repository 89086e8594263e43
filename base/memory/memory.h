/* base/memory/memory.h - working memory, and copies past the caches.

   A copy past the caches writes with stores that go to memory directly (non-temporal
   stores). */
#ifndef HY_MEMORY_H
#define HY_MEMORY_H

#include "base/contract/state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates count * size bytes, aligned to 64 bytes, with undefined contents. *out is
   NULL only if count * size is 0. Fails with NO_MEMORY and a sentence, in which `what`
   names the array. */
hybrid_status hy_array(hy_context *ctx, int64_t count, size_t size, const char *what,
                       void **out);
void hy_array_free(hy_context *ctx, void *array); /* does nothing if array is NULL */

/* An array that several calls use one after the other. A zeroed struct has no array
   yet. */
typedef struct hy_reused {
    void *array;
    int64_t bytes;
} hy_reused;

/* Makes the array at least `bytes` bytes large. If it must grow, its contents are
   lost. */
hybrid_status hy_array_reuse(hy_context *ctx, hy_reused *reused, int64_t bytes,
                             const char *what);
void hy_array_free_reused(hy_context *ctx, hy_reused *reused);

/* Frees idle host memory of the engine, because host memory is short. results.c defines
   it. */
void hy_memory_relieve(hy_context *ctx);

/* Counts `bytes` of host memory against the budget (on the meter) and returns 1. If the
   budget does not allow that, frees idle memory, then reads the limit again, which may
   have grown. Returns 0, and counts nothing, if neither is enough. */
int hy_memory_count(hy_context *ctx, size_t bytes);

/* Returns 1 if the budget of host memory is at least `bytes`. Reads the limit again before
   it returns 0. */
int hy_memory_holds(hy_context *ctx, int64_t bytes);

/* Returns 1 if the budget has room for `bytes` more bytes. Frees idle memory, which counts
   as used, before it returns 0. */
int hy_memory_has_room(hy_context *ctx, int64_t bytes);

/* Returns 1 if a test wants this allocation to fail (hy_memory.failures), else 0. Every
   allocator calls it first. */
int hy_memory_fails(hy_memory *memory);

enum { HY_LINE = 64 }; /* bytes of a cache line of the host */

/* When a copy of rows with gaps reaches row i, it asks the CPU to load the ends of row i
   + HY_ROWS_AHEAD (cache prefetch). */
enum { HY_ROWS_AHEAD = 16 };

/* memcpy() past the caches, for memory that is not read soon. The CPU then need not read
   the cache lines that it overwrites. Less than 4096 bytes are copied through the
   caches. */
void hy_copy_past(void *dst, const void *src, size_t bytes);

/* Copies `rows` rows of `bytes` bytes past the caches. Rows begin dst_step bytes apart in
   `dst` and src_step bytes apart in `src`. Rows shorter than two cache lines go through
   the caches, unless they are whole lines, and so do all rows if they have less than 4096
   bytes together. */
void hy_copy_rows_past(void *dst, size_t dst_step, const void *src, size_t src_step,
                       size_t bytes, size_t rows);

/* Copies as hy_copy_rows_past() does, but row i goes to row list[i] of `dst`. */
void hy_copy_rows_listed(void *dst, size_t dst_step, const int32_t *list, const void *src,
                         size_t src_step, size_t bytes, size_t rows);

/* Bytes [begin, end) of an array. */
typedef struct hy_range {
    size_t begin, end;
} hy_range;

/* Fills `count` ranges of bytes past the caches; `dst` is byte 0. `line` is one cache
   line full of the value, which has up to 8 bytes. */
void hy_fill_past(void *dst, const hy_range *ranges, size_t count,
                  const char line[HY_LINE]);

static inline size_t hy_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline size_t hy_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rounds up to a multiple of 256 bytes, at which an array may begin inside a block. */
static inline size_t hy_align(size_t bytes)
{
    return (bytes + 255u) & ~(size_t)255u;
}

#ifdef __cplusplus
}
#endif
#endif /* HY_MEMORY_H */
