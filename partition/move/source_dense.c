/* partition/move/source_dense.c - source of an X in memory, row- or column-major.

   A line is a row of a row-major X, or a column of a column-major one. */
#include <inttypes.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/data/hash.h"
#include "base/memory/pinned.h"
#include "base/text/facts.h"
#include "partition/format/pack.h"
#include "partition/move/sources.h"
#include "partition/move/transpose.h"

/* Describes the copy of a rectangle of X to `to`, line by line and without gaps between
   lines. */
static hy_row_copy copy_of(const hybrid_dense *X, const hy_rect *rect, char *to)
{
    const int in_rows  = X->order == HYBRID_ROW_MAJOR;
    const size_t size  = hy_value_size(X->type);
    const size_t bytes = (size_t)(in_rows ? rect->cols : rect->rows) * size;

    return (hy_row_copy){.dst = to,
                         .src = hy_dense_at(X, in_rows ? rect->row * X->ld + rect->col
                                                       : rect->row + rect->col * X->ld),
                         .dst_pitch = bytes,
                         .src_pitch = (size_t)X->ld * size,
                         .bytes     = bytes,
                         .rows      = in_rows ? rect->rows : rect->cols};
}

static hybrid_status fill(const hy_source *self, const hy_rect *rect, const hy_grid *to)
{
    const hybrid_dense *X = self->dense;
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const size_t size     = hy_value_size(X->type);
    /* distance in elements of `to` between neighbours in a line */
    const int64_t step     = in_rows ? to->col : to->row;
    const size_t line      = (size_t)(in_rows ? to->row : to->col) * size;
    const hy_row_copy from = copy_of(X, rect, to->at);

    if (step != 1 && (from.bytes > size || X->ld > 1))
        hy_transpose(from.src, X->ld, in_rows ? rect->cols : rect->rows, from.rows, size,
                     to->at, step);
    else if (from.src_pitch == from.bytes && line == from.bytes)
        memcpy(to->at, from.src, (size_t)from.rows * from.bytes);
    else
        for (int64_t i = 0; i < from.rows; i++)
            memcpy(to->at + (size_t)i * line,
                   (const char *)from.src + (size_t)i * from.src_pitch, from.bytes);
    return HYBRID_OK;
}

/* Returns the index after the last row of the run of consecutive row numbers that begins
   with listed[begin]; at most `end`. */
static int64_t run_end(const int32_t *listed, int64_t begin, int64_t end)
{
    int64_t r = begin + 1;

    while (r < end && listed[r] == listed[r - 1] + 1)
        r++;
    return r;
}

/* cache prefetch: number of rows in advance, and maximum bytes of each row */
enum { DISTANCE = 4, EXPECTED = 512 };

/* Starts fetching a row into the CPU's caches, because the processor cannot predict which
   row is next. */
static void expect(const char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes && at < EXPECTED; at += HY_LINE)
        __builtin_prefetch(from + at);
}

/* Copies columns [col, col + cols) of the listed rows of a row-major X. If at least about
   8/9 of the rows between the first and the last are listed, runs of consecutive rows are
   copied with stores that bypass the caches, because slots of gathered chunks are larger
   than the caches. Otherwise rows are copied one by one. */
static void gather_rows(const hybrid_dense *X, const int32_t *listed, int64_t count,
                        int64_t col, int64_t cols, const hy_grid *to)
{
    const size_t size = hy_value_size(X->type), bytes = (size_t)cols * size;
    const size_t pitch = (size_t)to->row * size;
    const int dense    = count > 0 && listed[count - 1] - listed[0] < count + count / 8;

    for (int64_t r = 0, stop; r < count; r = stop) {
        const char *from = hy_dense_at(X, listed[r] * X->ld + col);
        char *dst        = to->at + (size_t)r * pitch;
        stop             = dense ? run_end(listed, r, count) : r + 1;
        if (!dense && r + DISTANCE < count)
            expect(hy_dense_at(X, listed[r + DISTANCE] * X->ld + col), bytes);
        if (dense)
            hy_copy_rows_past(dst, pitch, from, (size_t)X->ld * size, bytes,
                              (size_t)(stop - r));
        else
            memcpy(dst, from, bytes);
    }
}

static hybrid_status gather(const hy_source *self, const int32_t *listed, int64_t count,
                            int64_t col, int64_t cols, const hy_grid *to)
{
    const hybrid_dense *X = self->dense;
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const int64_t row = in_rows ? X->ld : 1, step = in_rows ? 1 : X->ld;
    const hy_grid from = {hy_dense_at(X, col * step), row, step};

    if (in_rows && to->col == 1)
        gather_rows(X, listed, count, col, cols, to);
    else
        hy_copy_listed(to, &from, listed, count, cols, hy_value_size(X->type));
    return HYBRID_OK;
}

static const char *run(const hy_source *self, hybrid_order order, int array,
                       int64_t begin, int64_t end)
{
    const hybrid_dense *X = self->dense;
    const char *at        = hy_dense_at(X, begin);
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const int has_gaps    = in_rows ? X->ld != X->cols : X->ld != X->rows && X->cols != 1;

    (void)array;
    if (begin == end || has_gaps || (order != X->order && X->cols != 1))
        return NULL;
    return hy_pinned(self->ctx, at, (size_t)(end - begin) * hy_value_size(X->type))
               ? at
               : NULL;
}

/* Describes in *copy how a copy engine can copy the rectangle directly; returns 0 if it
   cannot. The lines of a rectangle of a column-major X are far apart, so all of X must be
   pinned then. */
static int lines(const hy_source *self, const hy_rect *rect, char *to, hy_row_copy *copy)
{
    const hybrid_dense *X = self->dense;
    const int64_t all     = (X->cols - 1) * X->ld + X->rows;

    *copy = copy_of(X, rect, to);
    if (copy->src_pitch > HY_MAX_PITCH)
        return 0;
    return X->order == HYBRID_ROW_MAJOR
               ? hy_pinned_rows(self->ctx, copy, 0)
               : hy_pinned(self->ctx, X->data, (size_t)all * hy_value_size(X->type));
}

/* Adds a checksum of all lines. */
static hybrid_status describe(const hy_source *self, const char *name, hy_facts *facts)
{
    const hybrid_dense *X = self->dense;
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const int64_t count   = in_rows ? X->rows : X->cols;
    const int64_t length  = in_rows ? X->cols : X->rows;
    uint64_t hash         = 0;

    for (int64_t i = 0; i < count; i++)
        hash = hy_hash(hash, hy_dense_at(X, i * X->ld),
                       (size_t)length * hy_value_size(X->type));
    hy_facts_add(facts, "%s is a dense matrix of %lld x %lld with checksum %016" PRIx64,
                 name, (long long)X->rows, (long long)X->cols, hash);
    return HYBRID_OK;
}

static const hy_source_ops ops = {.at_hand  = 1,
                                  .fill     = fill,
                                  .gather   = gather,
                                  .run      = run,
                                  .lines    = lines,
                                  .describe = describe};

hy_source hy_source_dense(hy_context *ctx, const hybrid_dense *X)
{
    const int there = X->space == HYBRID_SPACE_DEVICE && X->rows > 0 && X->cols > 0;

    return (hy_source){.ops       = &ops,
                       .ctx       = ctx,
                       .order     = X->order,
                       .rows      = X->rows,
                       .cols      = X->cols,
                       .dense     = X,
                       .on_device = {.dense = there ? X : NULL}};
}
