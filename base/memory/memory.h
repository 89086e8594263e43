/* base/memory/memory.h - working memory, and copies past the caches.

   A copy past the caches writes with stores that go to memory directly (non-temporal
   stores). */
#ifndef HY_MEMORY_H
#define HY_MEMORY_H

#include "base/contract/state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates count * size bytes, aligned to 64 bytes, unset. *out is NULL only if
   there are no bytes. Fails with NO_MEMORY and a sentence, in which `what` names the
   array. */
hybrid_status hy_array(hy_context *ctx, int64_t count, size_t size, const char *what,
                       void **out);
void hy_array_free(hy_context *ctx, void *array); /* accepts NULL */

/* An array for repeated use. A zeroed struct has no array yet. */
typedef struct hy_reused {
    void *array;
    int64_t bytes;
} hy_reused;

/* Makes room for `bytes` bytes. The contents are lost if the array has to grow. */
hybrid_status hy_array_reuse(hy_context *ctx, hy_reused *reused, int64_t bytes,
                             const char *what);
void hy_array_free_reused(hy_context *ctx, hy_reused *reused);

/* Frees idle host memory of the engine. Called when host memory is short. Defined in
   results.c. */
void hy_memory_relieve(hy_context *ctx);

/* Returns 1 when a test has armed a failure and this allocation is to fail, else 0. Every
   allocator calls it first. */
int hy_memory_fails(hy_memory *memory);

enum { HY_LINE = 64 }; /* bytes of a cache line of the host */

/* Copies of rows with gaps ask the CPU to load the ends of the row that is this number of
   rows ahead (cache prefetch). */
enum { HY_ROWS_AHEAD = 16 };

/* memcpy() past the caches, for memory that is not read soon. It saves reading the lines
   that are overwritten. */
void hy_copy_past(void *dst, const void *src, size_t bytes);

/* Copies `rows` rows of `bytes` bytes, which begin dst_step and src_step bytes apart,
   past the caches. Rows shorter than two cache lines go through the caches, unless they
   are whole lines. */
void hy_copy_rows_past(void *dst, size_t dst_step, const void *src, size_t src_step,
                       size_t bytes, size_t rows);

/* Copies as hy_copy_rows_past() does, but row i goes to row list[i] of `dst`. */
void hy_copy_rows_listed(void *dst, size_t dst_step, const int32_t *list, const void *src,
                         size_t src_step, size_t bytes, size_t rows);

/* Bytes [begin, end) of an array. */
typedef struct hy_range {
    size_t begin, end;
} hy_range;

/* Fills `count` ranges of bytes from `dst` on, past the caches. `line` consists of
   repetitions of the value, which has up to 8 bytes. */
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

/* Rounds up to a multiple of 256 bytes, where an array may start inside a block. */
static inline size_t hy_align(size_t bytes)
{
    return (bytes + 255u) & ~(size_t)255u;
}

#ifdef __cplusplus
}
#endif
#endif /* HY_MEMORY_H */
