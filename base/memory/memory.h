/* base/memory/memory.h - working memory. */
#ifndef HY_MEMORY_H
#define HY_MEMORY_H

#include "base/contract/state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* count * size bytes, 64-byte aligned, unset. NULL only when count * size is 0.
   Fails with NO_MEMORY and a sentence; `what` names the array in it. */
hybrid_status hy_array(hy_context *ctx, int64_t count, size_t size,
                       const char *what, void **out);
void hy_array_free(hy_context *ctx, void *array); /* NULL is fine */

/* An array that is used again and again; zeroed there is none yet. */
typedef struct hy_reused {
    void *array;
    int64_t bytes;
} hy_reused;

/* Room for so many bytes; what was there is lost where it has to grow. */
hybrid_status hy_array_reuse(hy_context *ctx, hy_reused *reused, int64_t bytes,
                             const char *what);
void hy_array_free_reused(hy_context *ctx, hy_reused *reused);

/* results.c: host memory is short; gives back what the engine keeps of it and nobody uses. */
void hy_memory_relieve(hy_context *ctx);

/* True once per armed failure; every source of memory asks it first. */
int hy_memory_fails(hy_memory *memory);

enum { HY_LINE = 64 }; /* bytes of the caches' lines */

enum { HY_ROWS_AHEAD = 16 }; /* parts of rows are asked for so many rows ahead */

/* memcpy to memory that nobody reads soon: past the caches, which spares reading what is
   overwritten. */
void hy_copy_past(void *dst, const void *src, size_t bytes);

/* The same for `rows` rows of `bytes` bytes, so many bytes apart. Rows of less than two
   lines of the caches are left in them, unless they are lines of them. */
void hy_copy_rows_past(void *dst, size_t dst_step, const void *src, size_t src_step,
                       size_t bytes, size_t rows);

/* The same to rows list[0 .. rows-1] of those from `dst` on. */
void hy_copy_rows_listed(void *dst, size_t dst_step, const int32_t *list, const void *src,
                         size_t src_step, size_t bytes, size_t rows);

/* Bytes [begin, end). */
typedef struct hy_range {
    size_t begin, end;
} hy_range;

/* Ranges of bytes from `dst` on are filled with a value of up to 8 bytes which a line is
   full of, past the caches. */
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

/* The next multiple of 256 bytes: where an array may start inside a block. */
static inline size_t hy_align(size_t bytes)
{
    return (bytes + 255u) & ~(size_t)255u;
}

#ifdef __cplusplus
}
#endif
#endif /* HY_MEMORY_H */
