/* engine/report/least.c - the bytes of B that chunks need at least.

   A use is a row of B that a chunk touches. The uses of all chunks are listed in order,
   each with the chunk of the row's next use. A replay then goes through the chunks. The
   rows that the device holds are in lists by the chunk of their next use, so the rows of
   the last list make room first.

   A sample has the rows of B whose number has a certain hash, and an equal part of the
   room. Its replay behaves like that of all rows: whether a row is replaced depends on
   the bytes of other rows that are used before the row is needed again. */
#include "engine/report/least.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/memory/memory.h"
#include "partition/pattern/touched.h"

enum {
    LARGE      = 1 << 22, /* minimum entries of A for which a sample is taken */
    SAMPLE     = 16,      /* a sample has 1 in SAMPLE rows of B */
    FIRST_USES = 1 << 12,
    NONE       = -1, /* marks the end of a list of rows */
    AWAY       = -2  /* marks a row that the device does not hold */
};

typedef struct use {
    int32_t row;
    int32_t next; /* chunk that uses the row next; the number of chunks if none does */
} use;

typedef struct replay {
    hy_context *ctx;
    const hybrid_csr *A, *B;
    const hy_chunk *chunks;
    int64_t count; /* number of chunks */
    int64_t step;  /* one of `step` rows of B is replayed */

    use *uses;
    int64_t used, capacity; /* used: number of listed uses; capacity: number of uses for
                               which there is memory */
    int64_t *begin;         /* uses [begin[c], begin[c + 1]) are those of chunk c */

    int64_t room, held, sent; /* bytes of rows of B: that the device has room for; that it
                                 holds now; that were sent so far */
    int64_t last;             /* no held row is used after this chunk */
    int32_t
        *head; /* for each chunk, the first held row with its next use in that chunk */
    int32_t *link; /* for each row of B, the next row in the same list, or NONE; AWAY if
                      the device does not hold the row */
} replay;

/* ---- uses ---------------------------------------------------------------------- */

static int is_sampled(const replay *r, int64_t row)
{
    const uint32_t hash = (uint32_t)row * 2654435761u; /* Knuth's multiplicative hash */
    return r->step == 1 || hash >> 28 == 0;
}

static hybrid_status reserve(replay *r, int64_t more)
{
    const int64_t wanted = r->used + more;
    void *larger;

    if (wanted <= r->capacity)
        return HYBRID_OK;
    const int64_t capacity = hy_max(hy_max(wanted, 2 * r->capacity), FIRST_USES);
    HY_TRY(hy_array(r->ctx, capacity, sizeof *r->uses, "uses of rows of B", &larger));
    if (r->used > 0)
        memcpy(larger, r->uses, (size_t)r->used * sizeof *r->uses);
    hy_array_free(r->ctx, r->uses);
    r->uses     = larger;
    r->capacity = capacity;
    return HYBRID_OK;
}

/* Appends the rows of B that chunk c touches. */
static hybrid_status list_chunk(replay *r, int64_t c)
{
    hybrid_status status;
    hy_touched touched;

    HY_TRY_ELSE_DONE(hy_touched_find(r->ctx, r->A, r->chunks[c].row_begin,
                                     r->chunks[c].row_end, &touched));
    HY_TRY_ELSE_DONE(reserve(r, touched.count));
    for (int64_t i = 0; i < touched.count; i++)
        if (is_sampled(r, touched.rows[i]))
            r->uses[r->used++] = (use){.row = touched.rows[i]};
    r->begin[c + 1] = r->used;
done:
    hy_touched_free(r->ctx, &touched);
    return status;
}

/* Lists all uses, then finds the next use of each, from the last chunk to the first. */
static hybrid_status list_uses(replay *r)
{
    r->begin[0] = 0;
    for (int64_t c = 0; c < r->count; c++)
        HY_TRY(list_chunk(r, c));
    for (int64_t i = 0; i < r->B->rows; i++)
        r->link[i] = (int32_t)r->count;
    for (int64_t c = r->count - 1; c >= 0; c--)
        for (int64_t i = r->begin[c]; i < r->begin[c + 1]; i++) {
            use *u          = &r->uses[i];
            u->next         = r->link[u->row];
            r->link[u->row] = (int32_t)c;
        }
    return HYBRID_OK;
}

/* ---- replay -------------------------------------------------------------------- */

static int64_t row_bytes(const replay *r, int64_t row)
{
    const int64_t entries = hy_offset(r->B, row + 1) - hy_offset(r->B, row);
    return 8 + entries * (4 + (int64_t)hy_value_size(r->B->type));
}

/* Drops held rows until the others fit the room, first those that are used last. */
static void make_room(replay *r)
{
    while (r->held > r->room && r->last >= 0) {
        const int32_t row = r->head[r->last];
        if (row == NONE) {
            r->last--;
            continue;
        }
        r->head[r->last] = r->link[row];
        r->link[row]     = AWAY;
        r->held -= row_bytes(r, row);
    }
}

/* Holds the rows that chunk c uses. All of them leave the lists while the chunk needs
   them, so that they are not replaced. */
static void hold(replay *r, int64_t c)
{
    r->head[c] = NONE;
    for (int64_t i = r->begin[c]; i < r->begin[c + 1]; i++) {
        const int32_t row = r->uses[i].row;
        if (r->link[row] != AWAY)
            continue;
        r->sent += row_bytes(r, row);
        r->held += row_bytes(r, row);
    }
    make_room(r);
}

/* Puts the rows of chunk c into the lists of their next uses, and drops those that no
   later chunk uses. */
static void let_go(replay *r, int64_t c)
{
    for (int64_t i = r->begin[c]; i < r->begin[c + 1]; i++) {
        const use u = r->uses[i];
        if (u.next == r->count) {
            r->link[u.row] = AWAY;
            r->held -= row_bytes(r, u.row);
            continue;
        }
        r->link[u.row]  = r->head[u.next];
        r->head[u.next] = u.row;
        r->last         = hy_max(r->last, u.next);
    }
}

static void play(replay *r)
{
    for (int64_t c = 0; c < r->count; c++)
        r->head[c] = NONE;
    for (int64_t i = 0; i < r->B->rows; i++)
        r->link[i] = AWAY;
    r->last = -1;
    for (int64_t c = 0; c < r->count; c++) {
        hold(r, c);
        let_go(r, c);
    }
}

hybrid_status hy_least_sent(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                            const hy_chunk *chunks, int64_t count, int64_t room,
                            int64_t *out)
{
    replay r             = {.ctx    = ctx,
                            .A      = A,
                            .B      = B,
                            .chunks = chunks,
                            .count  = count,
                            .step   = A->nnz < LARGE ? 1 : SAMPLE};
    hybrid_status status = HYBRID_OK;
    void *begin = NULL, *head = NULL, *link = NULL;

    HY_TRY_ELSE_DONE(hy_array(ctx, count + 1, sizeof *r.begin, "uses of chunks", &begin));
    HY_TRY_ELSE_DONE(hy_array(ctx, count, sizeof *r.head, "rows held for chunks", &head));
    HY_TRY_ELSE_DONE(hy_array(ctx, B->rows, sizeof *r.link, "rows of B held", &link));
    r.begin = begin;
    r.head  = head;
    r.link  = link;
    r.room  = room / r.step;
    HY_TRY_ELSE_DONE(list_uses(&r));
    play(&r);
    *out = r.sent * r.step;
done:
    hy_array_free(ctx, r.uses);
    hy_array_free(ctx, link);
    hy_array_free(ctx, head);
    hy_array_free(ctx, begin);
    return status;
}
