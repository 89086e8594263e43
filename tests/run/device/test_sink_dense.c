/* tests/run/device/test_sink_dense.c - the contract of a sink for dense results.

   Y = alpha * sums + beta * Y. Parts of the sums, which cover all rows of Y or some, are
   reserved and stored in any order by two threads at once, in every layout. Each element
   of Y is compared with the formula. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>

#include "base/memory/pinned.h"
#include "engine/api/engine.h"
#include "pipeline/sink/sink_dense.h"
#include "support/inputs/cases.h"
#include "support/fake/fake_backend.h"
#include "support/fake/fake_spmm.h"

enum {
    ROWS   = 1500, /* rows of Y; so many that workers share the rows without sums */
    COLS   = 40,
    HEIGHT = 80, /* maximum number of rows of a part */
    WIDTH  = 24, /* maximum number of columns of a part */
    PARTS  = (ROWS + HEIGHT - 1) / HEIGHT * 2
};

typedef struct layout {
    hybrid_type type;
    hybrid_order order;
    int64_t gap;
    double alpha, beta;
    int subset;
    hybrid_order part; /* order in which the elements of a part are stored */
} layout;

typedef struct piece {
    hy_chunk chunk;
    hy_part part;
    int taken; /* 1: the part was copied directly to Y */
} piece;

typedef struct world {
    hy_context *ctx;
    layout l;
    hybrid_dense sums, Y, before;
    hy_touched subset; /* the rows of Y that have sums, if not all do */
    int64_t rows;      /* number of rows of Y that have sums */
    hy_dense_sink dense;
    piece pieces[PARTS];
    int count;
} world;

static size_t value_bytes(hybrid_type type)
{
    return type == HYBRID_F64 ? 8 : 4;
}

/* Returns 1 if the row of Y has sums. With a subset two of three rows have, and none of
   the last 130, so that whole words of the set's bits are 0. */
static int has_sums(const world *w, int64_t row)
{
    return !w->l.subset || (row % 3 != 1 && row < ROWS - 130);
}

static void find_subset(world *w)
{
    int64_t row_ptr[ROWS + 1] = {0};
    int32_t col[ROWS]         = {0};

    for (int64_t i = 0; i < ROWS; i++)
        row_ptr[i + 1] = row_ptr[i] + has_sums(w, i);
    const hybrid_csr A = {.rows        = ROWS,
                          .cols        = 1,
                          .nnz         = row_ptr[ROWS],
                          .offset_type = HYBRID_I64,
                          .row_ptr     = row_ptr,
                          .col         = col,
                          .type        = w->l.type};
    assert_int_equal(hy_touched_rows(w->ctx, &A, &w->subset), HYBRID_OK);
    assert_int_equal(hy_touched_list(w->ctx, &w->subset), HYBRID_OK);
    w->rows = row_ptr[ROWS];
}

/* Returns a new array with the sums of a chunk in the order of l.part, without gaps. */
static void *sums_of(const world *w, const hy_chunk *c)
{
    const int64_t rows = c->row_end - c->row_begin, width = c->col_end - c->col_begin;
    void *sums = malloc((size_t)(rows * width) * value_bytes(w->l.type));

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < width; j++)
            value_set(sums, w->l.type,
                      w->l.part == HYBRID_COL_MAJOR ? i + j * rows : i * width + j,
                      dense_at(&w->sums, c->row_begin + i, c->col_begin + j));
    return sums;
}

static void cut(world *w)
{
    for (int64_t row = 0; row < w->rows; row += HEIGHT)
        for (int64_t col = 0; col < COLS; col += WIDTH) {
            piece *p = &w->pieces[w->count++];
            p->chunk =
                (hy_chunk){.row_begin = row,
                           .row_end   = row + HEIGHT < w->rows ? row + HEIGHT : w->rows,
                           .col_begin = col,
                           .col_end   = col + WIDTH < COLS ? col + WIDTH : COLS};
            p->part = (hy_part){.chunk    = &p->chunk,
                                .rows     = {.val = sums_of(w, &p->chunk)},
                                .order    = w->l.part,
                                .by_lines = 1};
        }
}

/* Makes sums, Y and a dense sink in the layout. If beta is 0, Y is full of NaN, because
   it must not be read. */
static void open_world(hy_context *ctx, const layout *l, world *w)
{
    const test_kind kind   = {l->type, HYBRID_I64, 1};
    const hy_update update = {&w->Y, l->alpha, l->beta};

    *w = (world){.ctx = ctx, .l = *l, .rows = ROWS};
    dense_make(ROWS, COLS, 0, HYBRID_ROW_MAJOR, 5, kind, &w->sums);
    dense_make(ROWS, COLS, l->gap, l->order, 6, kind, &w->Y);
    if (l->beta == 0)
        dense_set(&w->Y, NAN);
    dense_copy(&w->Y, &w->before);
    if (l->subset)
        find_subset(w);
    cut(w);
    if (l->subset)
        hy_subset_sink_open(ctx, &update, &w->subset, &w->dense);
    else
        hy_dense_sink_open(ctx, &update, &w->dense);
    assert_int_equal(w->dense.sink.in_order, 0);
    assert_int_equal(w->dense.sink.reads, l->beta != 0);
    assert_true(w->dense.sink.own_bytes == (ROWS - w->rows) * COLS *
                                               (int64_t)value_bytes(l->type) *
                                               (l->beta != 0 ? 2 : 1));
}

static void close_world(world *w)
{
    for (int i = 0; i < w->count; i++)
        free(w->pieces[i].part.rows.val);
    if (w->l.subset)
        hy_touched_free(w->ctx, &w->subset);
    dense_free(&w->sums);
    dense_free(&w->Y);
    dense_free(&w->before);
}

/* ---- storing ---- */

static void copy(const hy_landing *to)
{
    const hy_row_copy *r = &to->rows;

    assert_int_equal(to->piece, 0); /* 0: the address is in the caller's Y, not in memory
                                       that the sink must store in Y afterwards */
    for (int64_t i = 0; i < r->rows; i++)
        memcpy((char *)r->dst + (size_t)i * r->dst_pitch,
               (const char *)r->src + (size_t)i * r->src_pitch, r->bytes);
}

static void put(hy_sink *sink, piece *p)
{
    const hy_direct to = sink->ops->direct(sink, &p->part);

    for (int i = 0; i < to.count; i++)
        copy(&to.to[i]);
    p->taken = to.count > 0;
    if (p->taken) {
        assert_int_equal(to.all, 1);
        return;
    }
    p->part.count = p->part.nnz;
    assert_int_equal(sink->ops->store(sink, &p->part), HYBRID_OK);
}

typedef struct half {
    world *w;
    int begin;
} half;

/* Stores every second part, from the last to the first, as one of two threads. */
static void *put_half(void *arg)
{
    const half *h = arg;

    for (int i = h->w->count - 1 - h->begin; i >= 0; i -= 2)
        put(&h->w->dense.sink, &h->w->pieces[i]);
    return NULL;
}

static void put_all(world *w)
{
    half mine = {w, 0}, other = {w, 1};
    pthread_t thread;

    for (int i = 0; i < w->count; i++) { /* reserves the parts in a mixed order, which
                                            this sink permits */
        piece *p = &w->pieces[(i * 5 + 3) % w->count];
        assert_int_equal(w->dense.sink.ops->reserve(&w->dense.sink, &p->part), HYBRID_OK);
        assert_true(p->part.nnz == (p->chunk.row_end - p->chunk.row_begin) *
                                       (p->chunk.col_end - p->chunk.col_begin));
    }
    assert_int_equal(pthread_create(&thread, NULL, put_half, &other), 0);
    put_half(&mine);
    pthread_join(thread, NULL);
}

/* ---- checks ---- */

static void check(const world *w)
{
    const layout *l = &w->l;
    int64_t k       = 0; /* number of rows with sums so far, which is the row of
                            `sums` */

    for (int64_t i = 0; i < ROWS; i++) {
        const int has = has_sums(w, i);
        for (int64_t j = 0; j < COLS; j++) {
            const double old = l->beta != 0 ? l->beta * dense_at(&w->before, i, j) : 0;
            const double sum = has ? l->alpha * dense_at(&w->sums, k, j) : 0;
            assert_true(dense_at(&w->Y, i, j) == sum + old);
        }
        k += has;
    }
    assert_true(dense_gaps_intact(&w->Y));
}

static int taken(const world *w)
{
    int count = 0;

    for (int i = 0; i < w->count; i++)
        count += w->pieces[i].taken;
    return count;
}

static void pass(hy_context *ctx, const layout *l)
{
    world w;

    open_world(ctx, l, &w);
    assert_int_equal(w.count % 5 != 0, 1); /* so that the order of put_all() has each
                                              part once */
    put_all(&w);
    assert_int_equal(w.dense.sink.ops->finish(&w.dense.sink), HYBRID_OK);
    check(&w);
    assert_int_equal(taken(&w), 0); /* no part was copied directly, because Y is not
                                       pinned */
    close_world(&w);
}

/* Calls `fn` for every layout. alpha, beta and the elements are small numbers, so that
   all results are exact. */
static void each_layout(hy_context *ctx, void (*fn)(hy_context *, const layout *))
{
    static const double scales[][2] = {{1, 0}, {-2, 0}, {1, 1}, {0.5, -2}};

    for (int bits = 0; bits < 32; bits++)
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
            const layout l = {.type   = bits & 1 ? HYBRID_F64 : HYBRID_F32,
                              .order  = bits & 2 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR,
                              .gap    = bits & 4 ? 3 : 0,
                              .alpha  = scales[s][0],
                              .beta   = scales[s][1],
                              .subset = (bits & 8) != 0,
                              .part   = bits & 16 ? HYBRID_COL_MAJOR : HYBRID_ROW_MAJOR};
            fn(ctx, &l);
        }
}

static void with_engine(void (*fn)(hy_context *, const layout *))
{
    hybrid_engine *engine = fake_spmm(0);

    each_layout(&engine->ctx, fn);
    hybrid_engine_destroy(engine);
    assert_int_equal(fake_alive(), 0);
}

static void parts_are_stored(void **state)
{
    (void)state;
    with_engine(pass);
}

/* Y is pinned. A part is copied directly only if it has Y's order, alpha is 1, beta is
   0, all rows of Y have sums, and one copy for each line is allowed (hy_part.by_lines)
   unless one copy is enough. */
static void pass_pinned(hy_context *ctx, const layout *l)
{
    const int along = l->order == l->part;
    const int as_is = l->alpha == 1 && l->beta == 0 && !l->subset;

    for (int by_lines = 0; by_lines < 2; by_lines++) {
        world w;
        open_world(ctx, l, &w);
        const int64_t lines = l->order == HYBRID_COL_MAJOR ? COLS : ROWS;
        assert_int_equal(
            hy_pins_add(ctx, w.Y.data, (size_t)(lines * w.Y.ld) * value_bytes(l->type)),
            HYBRID_OK);
        for (int i = 0; i < w.count; i++)
            w.pieces[i].part.by_lines = by_lines;
        put_all(&w);
        assert_int_equal(w.dense.sink.ops->finish(&w.dense.sink), HYBRID_OK);
        check(&w);
        assert_int_equal(taken(&w), along && as_is && by_lines ? w.count : 0);
        assert_int_equal(hy_pins_remove(ctx, w.Y.data), HYBRID_OK);
        close_world(&w);
    }
}

static void pinned_parts_land(void **state)
{
    (void)state;
    with_engine(pass_pinned);
}

/* If a part is missing, finish() must fail. The abort must wait for all workers and
   leave missing parts of Y unchanged. */
static void abort_one(hy_context *ctx, const layout *l)
{
    world w;

    open_world(ctx, l, &w);
    hy_sink *sink = &w.dense.sink;
    piece *p      = &w.pieces[w.count / 2];
    assert_int_equal(sink->ops->reserve(sink, &p->part), HYBRID_OK);
    put(sink, p);
    assert_int_equal(sink->ops->finish(sink), HYBRID_BAD_STATE);
    assert_non_null(strstr(ctx->message.text, "elements of Y were not computed"));
    hy_message_clear(&ctx->message);
    sink->ops->abort(sink);
    /* the part that was not stored has row 0; without beta, Y may be anything */
    for (int64_t j = 0; j < COLS && l->beta != 0; j++)
        assert_true(dense_at(&w.Y, 0, j) == dense_at(&w.before, 0, j));
    assert_true(dense_gaps_intact(&w.Y));
    close_world(&w);
}

static void abort_unfinished(hy_context *ctx, const layout *l)
{
    world w;

    open_world(ctx, l, &w);
    w.dense.sink.ops->abort(&w.dense.sink);
    close_world(&w);
}

static void what_is_missing_is_found(void **state)
{
    (void)state;
    with_engine(abort_one);
    with_engine(abort_unfinished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_stored),
        cmocka_unit_test(pinned_parts_land),
        cmocka_unit_test(what_is_missing_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
