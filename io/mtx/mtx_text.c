/* io/mtx/mtx_text.c - formats rows of a sparse matrix as lines of a Matrix Market file.

   Entries are cut into pieces of equal size, and pieces are grouped into batches. Workers
   format the pieces of a batch, each into its own part of the buffer. Meanwhile one
   worker writes the previous batch, in order. Values read back to the same bits. */
#include <stdio.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/memory/shortage.h"
#include "base/threads/pool.h"
#include "io/mtx/mtx_text.h"
#include "io/text/number.h"

enum {
    PIECE_ENTRIES = 1 << 12,
    INDEX_BYTES   = 11, /* maximum bytes of a row or column index and the separator behind
                           it */
    ENTRY_BYTES = 64,   /* maximum bytes that formatting one entry may write */
    PIECE_BYTES = PIECE_ENTRIES * ENTRY_BYTES
};
_Static_assert(2 * INDEX_BYTES + HY_NUMBER_ROOM <= ENTRY_BYTES, "an entry has no room");

/* Text of a batch of pieces. */
typedef struct batch {
    int64_t begin;  /* number of the batch's first piece */
    int64_t pieces; /* number of pieces; 0: nothing to write */
    char *text;     /* hy_mtx_text.piece_bytes bytes for each piece */
    int64_t *bytes; /* bytes of the text of each piece */
} batch;

struct hy_mtx_text {
    hy_context *ctx;
    const hy_encoder *encoder; /* NULL: the text is not compressed */
    char *plain;               /* with an encoder: PIECE_BYTES bytes for each worker */
    size_t counted;            /* bytes of encoders counted on the meter of host memory */
    int64_t piece_bytes;       /* maximum bytes of a piece of `batches` */
    hy_put_text_fn put;
    void *arg;
    hy_numbers *numbers;
    const hybrid_csr *A;
    int64_t first_row;            /* number of rows of the matrix before the first row of
                                     A */
    int64_t bytes;                /* bytes of the file so far, formatted text included */
    int64_t room;                 /* maximum number of pieces of a batch */
    batch batches[2], *formatted; /* `formatted` points to the batch that workers format,
                                     while the other batch is written */
};

/* ---- formatting ----------------------------------------------------------------- */

/* Returns the row that holds entry k. */
static int64_t find_row(const hybrid_csr *A, int64_t k)
{
    int64_t low = 0, high = A->rows;

    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (hy_offset(A, middle) <= k)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Writes a row or column index, counted from 1, and a blank. */
static char *put_index(char *p, int64_t index)
{
    p    = hy_write_uint(p, (uint64_t)index + 1);
    *p++ = ' ';
    return p;
}

/* Formats a piece and returns the bytes of its text. The text of a row index is made once
   per row. */
static int64_t format_piece(const hy_mtx_text *w, int64_t piece, char *start)
{
    const hybrid_csr *A = w->A;
    const int64_t begin = piece * PIECE_ENTRIES;
    const int64_t end   = hy_min(begin + PIECE_ENTRIES, A->nnz);
    char index[2 * INDEX_BYTES];
    char *p     = start;
    int64_t row = find_row(A, begin);

    for (int64_t k = begin; k < end; row++) {
        const int64_t stop  = hy_min(hy_offset(A, row + 1), end);
        const size_t length = (size_t)(put_index(index, w->first_row + row) - index);
        for (; k < stop; k++) {
            memcpy(p, index, INDEX_BYTES);
            p    = put_index(p + length, hy_cols(A)[k]);
            p    = hy_write_real(p, hy_value_at(A->type, A->val, k), A->type, w->numbers);
            *p++ = '\n';
        }
    }
    return p - start;
}

/* ---- writing -------------------------------------------------------------------- */

static char *text_of(const hy_mtx_text *w, const batch *b, int64_t piece)
{
    return b->text + piece * w->piece_bytes;
}

static hybrid_status put_batch(const hy_mtx_text *w, const batch *b)
{
    for (int64_t i = 0; i < b->pieces; i++)
        HY_TRY(w->put(w->arg, text_of(w, b, i), (size_t)b->bytes[i]));
    return HYBRID_OK;
}

/* Formats piece `item` of the batch, and compresses it. */
static hybrid_status make_piece(const hy_mtx_text *w, const batch *b, int part,
                                int64_t item)
{
    char *to = text_of(w, b, item);

    if (!w->encoder) {
        b->bytes[item] = format_piece(w, b->begin + item, to);
        return HYBRID_OK;
    }
    char *plain    = w->plain + (int64_t)part * PIECE_BYTES;
    const size_t n = (size_t)format_piece(w, b->begin + item, plain);
    b->bytes[item] = (int64_t)w->encoder->pack(plain, n, to);
    return b->bytes[item] > 0 ? HYBRID_OK
                              : hy_memory_refused(w->ctx, "the state of a compressor",
                                                  (int64_t)w->encoder->state_bytes, NULL);
}

/* Item 0 of the loop writes the previous batch. Item i > 0 formats piece i - 1 of the
   next batch. */
static hybrid_status do_items(void *arg, int part, int64_t begin, int64_t end)
{
    const hy_mtx_text *w = arg;
    const batch *next    = w->formatted;
    const batch *before  = next == w->batches ? next + 1 : next - 1;

    for (int64_t item = begin; item < end; item++)
        HY_TRY(item == 0 ? put_batch(w, before) : make_piece(w, next, part, item - 1));
    return HYBRID_OK;
}

/* Returns the number of pieces in the batch that begins with piece `begin`. */
static int64_t pieces_from(const hy_mtx_text *w, int64_t begin)
{
    const int64_t all = (w->A->nnz + PIECE_ENTRIES - 1) / PIECE_ENTRIES;

    return hy_min(all - begin, w->room);
}

/* Estimates the size of the file from the bytes per entry of the first `begin` pieces,
   and tells it to the progress report. */
static void expect_bytes(hy_mtx_text *w, int64_t begin)
{
    const double entries = (double)hy_min(begin * PIECE_ENTRIES, w->A->nnz);

    for (int64_t i = 0; i < w->formatted->pieces; i++)
        w->bytes += w->formatted->bytes[i];
    const double rest = (double)w->bytes / entries * ((double)w->A->nnz - entries);
    hy_progress_resize(&w->ctx->progress, w->bytes + (int64_t)rest);
}

/* Writes all batches. The last round formats nothing and writes the last batch. */
static hybrid_status put_batches(hy_mtx_text *w)
{
    int64_t begin = 0;

    w->batches[1].pieces = 0; /* no text of an earlier call waits to be written */
    for (int which = 0;; which ^= 1) {
        w->formatted         = &w->batches[which];
        w->formatted->begin  = begin;
        w->formatted->pieces = pieces_from(w, begin);
        HY_TRY(hy_pool_for(w->ctx->pool, HY_COMPUTE, 0, 1 + w->formatted->pieces, 1,
                           do_items, w));
        if (w->formatted->pieces == 0)
            return HYBRID_OK;
        begin += w->formatted->pieces;
        if (w->bytes >= 0)
            expect_bytes(w, begin);
    }
}

static hybrid_status open_batch(hy_mtx_text *w, batch *b)
{
    void *array;

    HY_TRY(hy_array(w->ctx, w->room, (size_t)w->piece_bytes, "the text of a matrix",
                    &array));
    b->text = array;
    HY_TRY(hy_array(w->ctx, w->room, sizeof *b->bytes, "lengths of texts", &array));
    b->bytes = array;
    return HYBRID_OK;
}

/* Allocates what workers need to compress, and counts what encoders will allocate. A
   product that runs while its result is formatted may call the reserve. */
static hybrid_status open_encoder(hy_mtx_text *w)
{
    const int threads  = hy_pool_max_threads(w->ctx->pool);
    const size_t bytes = (size_t)threads * w->encoder->state_bytes;
    void *array;

    HY_TRY(hy_array(w->ctx, threads, PIECE_BYTES, "the text of a matrix", &array));
    w->plain = array;
    if (!hy_meter_charge(&w->ctx->memory.meter, bytes))
        return hy_memory_full(w->ctx, "the state of a compressor", (int64_t)bytes, "");
    w->counted = bytes;
    return HYBRID_OK;
}

void hy_mtx_text_close(hy_mtx_text *w)
{
    if (!w)
        return;
    hy_meter_release(&w->ctx->memory.meter, w->counted);
    hy_array_free(w->ctx, w->plain);
    for (int i = 0; i < 2; i++) {
        hy_array_free(w->ctx, w->batches[i].bytes);
        hy_array_free(w->ctx, w->batches[i].text);
    }
    hy_numbers_close(w->ctx, w->numbers);
    hy_array_free(w->ctx, w);
}

hybrid_status hy_mtx_text_open(hy_context *ctx, const hy_encoder *encoder,
                               hy_put_text_fn put, void *arg, hy_mtx_text **out)
{
    hybrid_status status;
    void *memory;

    HY_TRY(hy_array(ctx, 1, sizeof(hy_mtx_text), "the text of a matrix", &memory));
    hy_mtx_text *w = memory;
    *w      = (hy_mtx_text){.ctx = ctx, .encoder = encoder, .put = put, .arg = arg};
    w->room = 2 * (int64_t)hy_pool_threads(ctx->pool);
    w->piece_bytes = encoder ? (int64_t)hy_encoder_room(PIECE_BYTES) : PIECE_BYTES;
    HY_TRY_ELSE_DONE(hy_numbers_open(ctx, &w->numbers));
    if (encoder)
        HY_TRY_ELSE_DONE(open_encoder(w));
    for (int i = 0; i < 2; i++)
        HY_TRY_ELSE_DONE(open_batch(w, &w->batches[i]));
    *out = w;
    return HYBRID_OK;
done:
    hy_mtx_text_close(w);
    return status;
}

hybrid_status hy_mtx_text_put(hy_mtx_text *w, const hybrid_csr *A, int64_t first_row,
                              int64_t bytes)
{
    w->A         = A;
    w->first_row = first_row;
    w->bytes     = bytes;
    return put_batches(w);
}
