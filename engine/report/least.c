/* engine/report/least.c - the bytes of B that chunks need at least.

   A use is a row of B that a chunk touches. The uses of all chunks are listed in order,
   each with the chunk of the row's next use. A replay then goes through the chunks. The
   rows that the device holds are in lists by the chunk of their next use, so the rows of
   the last list make room first.

   Workers list the uses, each those of some pieces of chunks. If A is large, only a
   sample of the rows of B is replayed, one of each group of successive rows, with an
   equal part of the room. Its replay behaves like that of all rows: whether a row is
   replaced depends on the bytes of other rows that are used before the row is needed
   again. */
#include "engine/report/least.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/memory/memory.h"
#include "base/threads/pool.h"

enum {
    LARGE       = 1 << 22, /* minimum entries of A for which a sample is taken */
    SAMPLE_BITS = 4,       /* a sample has 1 in 1 << SAMPLE_BITS rows of B */
    FEW_ROWS    = 1 << 10, /* a sample of fewer rows than that has more of them */
    SAMPLE_ROWS = 1 << 16, /* a sample of more rows than that has fewer of them */
    PIECE       = 1 << 16, /* entries of A whose uses one worker lists at a time, about
                              100 us */
    GROUPS     = 1 << 10,  /* rows of B whose bytes one worker finds at a time */
    FIRST_USES = 1 << 8,
    NONE       = -1, /* marks the end of a list of rows */
    AWAY       = -2  /* marks a row that the device does not hold */
};

/* The use of row sampled_row(`group`) of B. */
typedef struct use {
    int32_t group;
    int32_t next; /* chunk that uses the row next; the number of chunks if none does */
} use;

/* Uses of a part of a chunk, entries [begin, end) of A. */
typedef struct piece {
    int32_t chunk;
    int64_t begin, end;
    use *of;
    int64_t count, capacity; /* capacity: number of uses for which there is memory */
} piece;

typedef struct replay {
    hy_context *ctx;
    const hybrid_csr *A, *B;
    int64_t chunks; /* number of chunks */
    int bits;       /* one row of each group of 1 << bits rows of B is replayed */
    int64_t groups;

    piece *pieces; /* of all chunks, in order */
    int64_t count; /* number of pieces */

    int64_t room, held, sent; /* bytes of rows of B: that the device has room for; that it
                                 holds now; that were sent so far */
    int64_t last;             /* no held row is used after this chunk */
    int32_t *head; /* for each chunk, the first of the held rows whose next use is in that
                      chunk; NONE if there are none */
    int32_t *link; /* for the row of each group, the group of the next row in the same
                      list, or NONE; AWAY if the device does not hold the row */
    int64_t *bytes; /* bytes of the row of each group */
} replay;

/* ---- the sample ---------------------------------------------------------------- */

/* Returns the bits of the sample of B's rows; 0: all rows are replayed. */
static int sample_bits(const hybrid_csr *A, const hybrid_csr *B)
{
    int bits = SAMPLE_BITS;

    while (bits > 0 && B->rows >> bits < FEW_ROWS)
        bits--;
    while (B->rows >> bits > SAMPLE_ROWS)
        bits++;
    return A->nnz < LARGE ? 0 : bits;
}

/* Returns the row of B that stands for a group. Its place in the group comes from Knuth's
   multiplicative hash, so that a regular pattern of A does not hit it regularly. */
static int64_t sampled_row(int bits, int64_t group)
{
    const uint64_t hash = (uint32_t)group * 2654435761u;

    return (group << bits) + (int64_t)(hash << bits >> 32);
}

static hybrid_status size_rows(void *arg, int part, int64_t begin, int64_t end)
{
    const replay *r     = arg;
    const int64_t entry = 4 + (int64_t)hy_value_size(r->B->type);

    (void)part;
    for (int64_t g = begin; g < end; g++) {
        const int64_t row = sampled_row(r->bits, g); /* may lie behind the last */
        if (row < r->B->rows)
            r->bytes[g] = 8 + entry * (hy_offset(r->B, row + 1) - hy_offset(r->B, row));
    }
    return HYBRID_OK;
}

/* ---- uses ---------------------------------------------------------------------- */

static hybrid_status append(hy_context *ctx, piece *list, int32_t group)
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
    list->of[list->count++] = (use){.group = group};
    return HYBRID_OK;
}

/* Lists the sampled rows of B that a piece touches. All bits of `marks`, one for each
   group, are 0 before and after. */
static hybrid_status list_piece(const replay *r, piece *list, uint64_t *marks)
{
    const int32_t *cols  = hy_cols(r->A);
    const int bits       = r->bits;
    hybrid_status status = HYBRID_OK;

    for (int64_t k = list->begin; k < list->end; k++) {
        const int32_t group = cols[k] >> bits;
        const uint64_t bit  = (uint64_t)1 << (group % 64);
        if (cols[k] != sampled_row(bits, group) || marks[group / 64] & bit)
            continue;
        HY_TRY_ELSE_DONE(append(r->ctx, list, group));
        marks[group / 64] |= bit;
    }
done:
    for (int64_t i = 0; i < list->count; i++)
        marks[list->of[i].group / 64] = 0;
    return status;
}

static hybrid_status list_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const replay *r      = arg;
    const int64_t words  = r->groups / 64 + 1;
    hybrid_status status = HYBRID_OK;
    void *marks;

    (void)part;
    HY_TRY(hy_array(r->ctx, words, sizeof(uint64_t), "marks of touched rows", &marks));
    memset(marks, 0, (size_t)words * sizeof(uint64_t));
    for (int64_t k = begin; k < end && status == HYBRID_OK; k++)
        status = list_piece(r, &r->pieces[k], marks);
    hy_array_free(r->ctx, marks);
    return status;
}

/* Finds the next use of each use, from the last chunk to the first. Drops a use if
   another piece of the chunk has it, too. */
static void find_next(replay *r)
{
    for (int64_t g = 0; g < r->groups; g++)
        r->link[g] = (int32_t)r->chunks;
    for (int64_t k = r->count - 1; k >= 0; k--) {
        piece *list        = &r->pieces[k];
        const int64_t uses = list->count;
        list->count        = 0;
        for (int64_t i = 0; i < uses; i++) {
            const int32_t group = list->of[i].group;
            if (r->link[group] == list->chunk)
                continue;
            list->of[list->count++] = (use){.group = group, .next = r->link[group]};
            r->link[group]          = list->chunk;
        }
    }
}

/* Cuts the entries of A in the chunks into pieces. */
static hybrid_status cut_pieces(replay *r, const hy_chunk *chunks)
{
    int64_t most = r->chunks;
    void *pieces;

    for (int64_t c = 0; c < r->chunks; c++)
        most +=
            (hy_offset(r->A, chunks[c].row_end) - hy_offset(r->A, chunks[c].row_begin)) /
            PIECE;
    HY_TRY(hy_array(r->ctx, most, sizeof *r->pieces, "uses of chunks", &pieces));
    r->pieces = pieces;
    for (int64_t c = 0; c < r->chunks; c++) {
        const int64_t stop = hy_offset(r->A, chunks[c].row_end);
        for (int64_t k = hy_offset(r->A, chunks[c].row_begin); k < stop; k += PIECE)
            r->pieces[r->count++] =
                (piece){.chunk = (int32_t)c, .begin = k, .end = hy_min(k + PIECE, stop)};
    }
    return HYBRID_OK;
}

/* ---- replay -------------------------------------------------------------------- */

/* Drops held rows until the others fit the room, first those that are used last. */
static void make_room(replay *r)
{
    while (r->held > r->room && r->last >= 0) {
        const int32_t group = r->head[r->last];
        if (group == NONE) {
            r->last--;
            continue;
        }
        r->head[r->last] = r->link[group];
        r->link[group]   = AWAY;
        r->held -= r->bytes[group];
    }
}

/* Holds the rows that a piece of a chunk uses, unless they are held already. */
static void hold(replay *r, const piece *p)
{
    for (int64_t i = 0; i < p->count; i++) {
        const int32_t group = p->of[i].group;
        if (r->link[group] != AWAY)
            continue;
        r->sent += r->bytes[group];
        r->held += r->bytes[group];
    }
}

/* Puts the rows of a piece into the lists of their next uses, and drops those that no
   later chunk uses. */
static void let_go(replay *r, const piece *p)
{
    for (int64_t i = 0; i < p->count; i++) {
        const use u = p->of[i];
        if (u.next == r->chunks) {
            r->link[u.group] = AWAY;
            r->held -= r->bytes[u.group];
            continue;
        }
        r->link[u.group] = r->head[u.next];
        r->head[u.next]  = u.group;
        r->last          = hy_max(r->last, u.next);
    }
}

/* Replays the chunk whose first piece is `begin`, and returns the piece after its last.
   The chunk's list is emptied first, so that its rows are not replaced while the chunk
   needs them. */
static const piece *play_chunk(replay *r, const piece *begin)
{
    const piece *stop = r->pieces + r->count, *end = begin;

    r->head[begin->chunk] = NONE;
    for (; end < stop && end->chunk == begin->chunk; end++)
        hold(r, end);
    make_room(r);
    for (const piece *p = begin; p < end; p++)
        let_go(r, p);
    return end;
}

static void play(replay *r)
{
    const piece *next = r->pieces;

    for (int64_t c = 0; c < r->chunks; c++)
        r->head[c] = NONE;
    for (int64_t g = 0; g < r->groups; g++)
        r->link[g] = AWAY;
    r->last = -1;
    while (next < r->pieces + r->count)
        next = play_chunk(r, next);
}

/* Allocates the arrays of chunks and of groups. */
static hybrid_status allocate(replay *r)
{
    void *array;

    HY_TRY(hy_array(r->ctx, r->chunks, sizeof *r->head, "rows held for chunks", &array));
    r->head = array;
    HY_TRY(hy_array(r->ctx, r->groups, sizeof *r->link, "rows of B held", &array));
    r->link = array;
    HY_TRY(hy_array(r->ctx, r->groups, sizeof *r->bytes, "bytes of rows of B", &array));
    r->bytes = array;
    return HYBRID_OK;
}

static void release(replay *r)
{
    for (int64_t k = 0; k < r->count; k++)
        hy_array_free(r->ctx, r->pieces[k].of);
    hy_array_free(r->ctx, r->pieces);
    hy_array_free(r->ctx, r->head);
    hy_array_free(r->ctx, r->link);
    hy_array_free(r->ctx, r->bytes);
}

hybrid_status hy_least_sent(hy_context *ctx, const hybrid_csr *A, const hybrid_csr *B,
                            const hy_chunk *chunks, int64_t count, int64_t room,
                            int64_t *out)
{
    const int bits = sample_bits(A, B);
    hybrid_status status;
    replay r = {.ctx    = ctx,
                .A      = A,
                .B      = B,
                .chunks = count,
                .bits   = bits,
                .groups = (B->rows >> bits) + 1,
                .room   = room >> bits};

    HY_TRY_ELSE_DONE(cut_pieces(&r, chunks));
    HY_TRY_ELSE_DONE(allocate(&r));
    HY_TRY_ELSE_DONE(hy_pool_for(ctx->pool, HY_PLAN, 0, r.groups, GROUPS, size_rows, &r));
    HY_TRY_ELSE_DONE(hy_pool_for(ctx->pool, HY_PLAN, 0, r.count, 1, list_pieces, &r));
    find_next(&r);
    play(&r);
    *out = r.sent << bits;
done:
    release(&r);
    return status;
}
