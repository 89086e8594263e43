/* io/mtx_write.c - Matrix Market coordinate file of a sparse matrix.

   Workers format pieces of equally many entries, each into a buffer of its own; the
   buffers are written in order, a batch at a time. Values read back to the same bits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/csr.h"
#include "base/pool.h"
#include "io/io.h"
#include "io/number.h"

enum { PIECE_ENTRIES = 1 << 13 };
enum { ENTRY_BYTES = 64 }; /* 10 and 10 digits, a value of up to 24, separators, a pad */

typedef struct writer {
    const hybrid_csr *A;
    hy_numbers *numbers; /* and the C locale: a value has a point, never a comma */
    int64_t begin;       /* first entry of the batch */
    char *buffer;
    int64_t *bytes; /* filled, of each piece's part of the buffer */
} writer;

/* ---- formatting ----------------------------------------------------------------- */

static char *put_uint(char *p, uint64_t x)
{
    char digits[20];
    int n = 0;

    do {
        digits[n++] = (char)('0' + x % 10);
        x /= 10;
    } while (x > 0);
    while (n > 0)
        *p++ = digits[--n];
    return p;
}

/* Equal bits, but for the payload of a NaN. */
static int reads_back(const char *text, double value, hybrid_type type,
                      const hy_numbers *numbers)
{
    double back = 0;

    hy_parse_real(text, numbers, &back);
    return type == HYBRID_F64 ? back == value : (float)back == (float)value;
}

/* An integer without point, else the digits that every decimal survives or, if they do
   not bring the value back, those that every value survives. */
static char *put_value(char *p, double value, hybrid_type type, const hy_numbers *numbers)
{
    if (fabs(value) < 9007199254740992.0 && value == trunc(value)) {
        if (signbit(value))
            *p++ = '-';
        return put_uint(p, (uint64_t)fabs(value));
    }
    int n = snprintf(p, 32, "%.*g", type == HYBRID_F64 ? 15 : 6, value);
    if (!reads_back(p, value, type, numbers))
        n = snprintf(p, 32, "%.*g", type == HYBRID_F64 ? 17 : 9, value);
    return p + n;
}

static double value_at(const hybrid_csr *A, int64_t k)
{
    return A->type == HYBRID_F64 ? ((const double *)A->val)[k]
                                 : ((const float *)A->val)[k];
}

/* The row that holds entry k. */
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

static int64_t format_piece(const writer *w, int64_t piece)
{
    const hybrid_csr *A = w->A;
    const int64_t begin = w->begin + piece * PIECE_ENTRIES;
    const int64_t stop  = begin + PIECE_ENTRIES;
    const int64_t end   = stop < A->nnz ? stop : A->nnz;
    char *start         = w->buffer + piece * PIECE_ENTRIES * ENTRY_BYTES;
    char *p             = start;
    int64_t row         = find_row(A, begin);

    for (int64_t k = begin; k < end; k++) {
        while (hy_offset(A, row + 1) <= k)
            row++;
        p    = put_uint(p, (uint64_t)row + 1);
        *p++ = ' ';
        p    = put_uint(p, (uint64_t)hy_cols(A)[k] + 1);
        *p++ = ' ';
        p    = put_value(p, value_at(A, k), A->type, w->numbers);
        *p++ = '\n';
    }
    return p - start;
}

static hybrid_status format_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const writer *w         = arg;
    const locale_t previous = uselocale(w->numbers->c);
    (void)part;

    for (int64_t piece = begin; piece < end; piece++)
        w->bytes[piece] = format_piece(w, piece);
    uselocale(previous);
    return HYBRID_OK;
}

/* ---- writing -------------------------------------------------------------------- */

static hybrid_status write_batch(hy_context *ctx, writer *w, int64_t pieces,
                                 hy_output *output)
{
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, pieces, 1, format_pieces, w));
    for (int64_t piece = 0; piece < pieces; piece++)
        HY_TRY(hy_output_write(ctx, output,
                               w->buffer + piece * PIECE_ENTRIES * ENTRY_BYTES,
                               (size_t)w->bytes[piece]));
    return HYBRID_OK;
}

static hybrid_status write_entries(hy_context *ctx, const hybrid_csr *A,
                                   hy_output *output)
{
    const int64_t room   = 2 * (int64_t)hy_pool_threads(ctx->pool); /* pieces a batch */
    writer w             = {.A = A};
    hybrid_status status = HYBRID_OK;
    void *array;

    HY_TRY(hy_numbers_open(ctx, &w.numbers));
    HY_TRY_ELSE_DONE(
        hy_array(ctx, room * PIECE_ENTRIES, ENTRY_BYTES, "text of a matrix", &array));
    w.buffer = array;
    HY_TRY_ELSE_DONE(hy_array(ctx, room, sizeof *w.bytes, "lengths of texts", &array));
    w.bytes = array;
    for (; w.begin < A->nnz; w.begin += room * PIECE_ENTRIES) {
        const int64_t left   = (A->nnz - w.begin + PIECE_ENTRIES - 1) / PIECE_ENTRIES;
        const int64_t pieces = left < room ? left : room;
        HY_TRY_ELSE_DONE(write_batch(ctx, &w, pieces, output));
    }
done:
    hy_array_free(ctx, w.bytes);
    hy_array_free(ctx, w.buffer);
    hy_numbers_close(ctx, w.numbers);
    return status;
}

hybrid_status hy_write_mtx(hy_context *ctx, const char *path, const hybrid_csr *A)
{
    char header[128];
    hy_output output;

    HY_TRY(hy_csr_check_header(ctx, A, "A"));
    const int length =
        snprintf(header, sizeof header,
                 "%%%%MatrixMarket matrix coordinate real general\n"
                 "%lld %lld %lld\n",
                 (long long)A->rows, (long long)A->cols, (long long)A->nnz);
    HY_TRY(hy_output_open(ctx, path, &output));
    hybrid_status status = hy_output_write(ctx, &output, header, (size_t)length);
    if (status == HYBRID_OK)
        status = write_entries(ctx, A, &output);
    return hy_output_finish(ctx, &output, status);
}
