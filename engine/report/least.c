/* engine/report/least.c - the bytes of B that chunks need at least.

   A use is a row of B that a chunk touches. The uses of all chunks are listed in order,
   each with the chunk of the row's next use. A replay then goes through the chunks. The
   rows that the device holds are in lists by the chunk of their next use, so the rows of
   the last list make room first.

   Workers list the uses, each those of some chunks. A sample has the rows of B whose
   number has a certain hash, and an equal part of the room. Its replay behaves like that
   of all rows: whether a row is replaced depends on the bytes of other rows that are used
   before the row is needed again. */
#include "engine/report/least.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/memory/memory.h"
#include "base/threads/pool.h"

enum {
    LARGE       = 1 << 22, /* minimum entries of A for which a sample is taken */
    SAMPLE_BITS = 4,       /* a sample has at most 1 in 1 << SAMPLE_BITS rows of B */
    SAMPLE_ROWS = 1 << 16, /* a sample of more rows than that has fewer than 1 in 1 <<
                              SAMPLE_BITS */
    FIRST_USES = 1 << 8,
    NONE       = -1, /* marks the end of a list of rows */
    AWAY       = -2  /* marks a row that the device does not hold */
};

typedef struct use {
    int32_t row;
    int32_t next; /* chunk that uses the row next; the number of chunks if none does */
} use;

/* The uses of a chunk. */
typedef struct use_list {
    use *of;
    int64_t count, capacity; /* capacity: number of uses for which there is memory */
} use_list;

typedef struct replay {
    hy_context *ctx;
    const hybrid_csr *A, *B;
    const hy_chunk *chunks;
    int64_t count; /* number of chunks */
    int bits;      /* one of 1 << bits rows of B is replayed */

    use_list *lists; /* uses of each chunk */

    int64_t room, held, sent; /* bytes of rows of B: that the device has room for; that it
                                 holds now; that were sent so far */
    int64_t last;             /* no held row is used after this chunk */
    int32_t *head; /* for each chunk, the first of the held rows whose next use is in that
                      chunk; NONE if there are none */
    int32_t *link; /* for each row of B, the next row in the same list, or NONE; AWAY if
                      the device does not hold the row */
} replay;

/* ---- uses ---------------------------------------------------------------------- */

/* Returns the bits of the sample of B's rows; 0: all rows are replayed. */
static int sample_bits(const hybrid_csr *A, const hybrid_csr *B)
{
    int bits = SAMPLE_BITS;

    while (B->rows >> bits > SAMPLE_ROWS)
        bits++;
    return A->nnz < LARGE ? 0 : bits;
}

static int is_sampled(const replay *r, int64_t row)
{
    const uint32_t hash = (uint32_t)row * 2654435761u; /* Knuth's multiplicative hash */
    return r->bits == 0 || hash >> (32 - r->bits) == 0;
}

static hybrid_status append(hy_context *ctx, use_list *list, int32_t row)
{
    const int64_t capacity = hy_max(2 * list->capacity, FIRST_USES);
    void *larger;

    if (list->count == list->capacity) {
        HY_TRY(hy_array(ctx, capacity, sizeof *list->of, "uses of rows of B", &larger));
        if (list->count > 0)
            memcpy(larger, list->of, (size_t)list->count * sizeof *list->of);
        hy_array_free(ctx, list->of);
        list->of       = larger;
        list->capacity = capacity;
    }
    list->of[list->count++] = (use){.row = row};
    return HYBRID_OK;
}

/* Lists the rows of B that chunk c touches. All bits of `marks`, one for each row of B,
   are 0 before and after. */
static hybrid_status list_chunk(const replay *r, int64_t c, uint64_t *marks)
{
    const int32_t *cols  = hy_cols(r->A);
    const int64_t stop   = hy_offset(r->A, r->chunks[c].row_end);
    use_list *list       = &r->lists[c];
    hybrid_status status = HYBRID_OK;

    for (int64_t k = hy_offset(r->A, r->chunks[c].row_begin); k < stop; k++) {
        const int32_t row  = cols[k];
        const uint64_t bit = (uint64_t)1 << (row % 64);
        if (!is_sampled(r, row) || marks[row / 64] & bit)
            continue;
        HY_TRY_ELSE_DONE(append(r->ctx, list, row));
        marks[row / 64] |= bit;
    }
done:
    for (int64_t i = 0; i < list->count; i++)
        marks[list->of[i].row / 64] = 0;
    return status;
}

static hybrid_status list_chunks(void *arg, int part, int64_t begin, int64_t end)
{
    const replay *r      = arg;
    const int64_t words  = r->B->rows / 64 + 1;
    hybrid_status status = HYBRID_OK;
    void *marks;

    (void)part;
    HY_TRY(hy_array(r->ctx, words, sizeof(uint64_t), "marks of touched rows", &marks));
    memset(marks, 0, (size_t)words * sizeof(uint64_t));
    for (int64_t c = begin; c < end && status == HYBRID_OK; c++)
        status = list_chunk(r, c, marks);
    hy_array_free(r->ctx, marks);
    return status;
}

/* Lists all uses, then finds the next use of each, from the last chunk to the first. */
static hybrid_status list_uses(replay *r)
{
    HY_TRY(hy_pool_for(r->ctx->pool, HY_PLAN, 0, r->count, 1, list_chunks, r));
    for (int64_t i = 0; i < r->B->rows; i++)
        r->link[i] = (int32_t)r->count;
    for (int64_t c = r->count - 1; c >= 0; c--)
        for (int64_t i = 0; i < r->lists[c].count; i++) {
            use *u          = &r->lists[c].of[i];
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
    for (int64_t i = 0; i < r->lists[c].count; i++) {
        const int32_t row = r->lists[c].of[i].row;
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
    for (int64_t i = 0; i < r->lists[c].count; i++) {
        const use u = r->lists[c].of[i];
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
                            .bits   = sample_bits(A, B)};
    hybrid_status status = HYBRID_OK;
    void *lists = NULL, *head = NULL, *link = NULL;

    HY_TRY_ELSE_DONE(hy_array(ctx, count + 1, sizeof *r.lists, "uses of chunks", &lists));
    memset(lists, 0, (size_t)count * sizeof *r.lists);
    r.lists = lists;
    HY_TRY_ELSE_DONE(hy_array(ctx, count, sizeof *r.head, "rows held for chunks", &head));
    HY_TRY_ELSE_DONE(hy_array(ctx, B->rows, sizeof *r.link, "rows of B held", &link));
    r.head = head;
    r.link = link;
    r.room = room >> r.bits;
    HY_TRY_ELSE_DONE(list_uses(&r));
    play(&r);
    *out = r.sent << r.bits;
done:
    for (int64_t c = 0; c < count && lists; c++)
        hy_array_free(ctx, r.lists[c].of);
    hy_array_free(ctx, link);
    hy_array_free(ctx, head);
    hy_array_free(ctx, lists);
    return status;
}
