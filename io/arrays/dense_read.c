/* io/arrays/dense_read.c - reads dense matrices: NumPy .npy or Matrix Market array
   files. */
#include <string.h>

#include "base/data/csr.h"
#include "base/threads/pool.h"
#include "base/memory/results.h"
#include "io/text/foreign.h"
#include "io/mtx/mtx.h"
#include "io/arrays/npy.h"

enum { PIECE_VALUES = 1 << 18 };

/* ---- .npy ----------------------------------------------------------------------- */

typedef struct conversion {
    hy_context *ctx;
    hy_input *input;
    const char *from; /* values to convert, in the window (the part of the file in
                         memory), perhaps not aligned */
    char *to;
    int64_t before; /* number of elements in the windows before the present one */
    hy_number_kind kind;
    hybrid_type type; /* type of the converted values, which are stored at `to` */
} conversion;

static hybrid_status convert(void *arg, int part, int64_t begin, int64_t end)
{
    const conversion *c = arg;
    const char *from    = c->from + begin * c->kind.size;
    const size_t at     = (size_t)(c->before + begin) * hy_value_size(c->type);
    (void)part;

    hy_input_took(c->ctx, c->input, (end - begin) * c->kind.size);
    const int64_t fit =
        hy_convert_values(c->kind, from, end - begin, c->type, c->to + at);
    if (fit == end - begin)
        return HYBRID_OK;
    double value;
    hy_convert_values(c->kind, from + fit * c->kind.size, 1, HYBRID_F64, &value);
    const int64_t element = c->before + begin + fit;
    return hy_fail(c->ctx, HYBRID_BAD_FILE,
                   "%s: value %g of element %lld is too large for 32 bits",
                   c->input->path, value, (long long)element);
}

/* Converts all values of a .npy file, one window (part of the file in memory) after
   another. */
static hybrid_status convert_all(conversion *c, const hy_npy_header *h)
{
    const size_t size = (size_t)c->kind.size;

    for (;;) {
        const hy_input *s   = c->input;
        const int64_t found = s->text + s->bytes - c->from;
        const int64_t count = found / (int64_t)size;
        HY_TRY(hy_npy_check_bytes(c->ctx, s, h, c->before * (int64_t)size + found));
        HY_TRY(hy_pool_for(c->ctx->pool, HY_COMPUTE, 0, count, PIECE_VALUES, convert, c));
        if (s->last)
            return HYBRID_OK;
        c->before += count;
        HY_TRY(hy_input_next(c->ctx, c->input, c->from + (size_t)count * size));
        c->from = s->text;
    }
}

static hybrid_status read_npy(hy_context *ctx, hy_input *input, hybrid_type type,
                              hybrid_dense *out)
{
    hy_npy_header h;
    conversion c = {.ctx = ctx, .input = input, .type = type};
    void *values;

    HY_TRY(hy_npy_read_header(ctx, input, &h));
    c.from = h.data;
    c.kind = h.kind;
    HY_TRY(hy_results_array(ctx, h.rows * h.cols, hy_value_size(type),
                            "values of a matrix", &values));
    c.to                       = values;
    const hybrid_status status = convert_all(&c, &h);
    if (status != HYBRID_OK) {
        hy_results_release(ctx, values);
        return status;
    }
    *out = (hybrid_dense){.rows  = h.rows,
                          .cols  = h.cols,
                          .ld    = h.order == HYBRID_ROW_MAJOR ? h.cols : h.rows,
                          .order = h.order,
                          .data  = values,
                          .type  = type,
                          .space = HYBRID_SPACE_HOST};
    return HYBRID_OK;
}

/* ---- Matrix Market -------------------------------------------------------------- */

static hybrid_status read_array(hy_context *ctx, hy_input *input, hybrid_type type,
                                hybrid_dense *out)
{
    hy_mtx_header header;

    HY_TRY(hy_mtx_read_header(ctx, input, &header));
    if (!header.array)
        return hy_mtx_fail(ctx, input, input->text,
                           "a coordinate file is sparse; a dense matrix needs the format "
                           "'array' or a .npy file");
    return hy_mtx_read_array(ctx, input, &header, type, out);
}

/* ---- either format -------------------------------------------------------------- */

static hybrid_status refuse(hy_context *ctx, const hy_input *input)
{
    HY_TRY(hy_foreign_refuse(ctx, input, 1));
    return hy_fail(ctx, HYBRID_BAD_FILE,
                   "%s: is neither a .npy file nor a Matrix Market file", input->path);
}

static hybrid_status read_input(hy_context *ctx, hy_input *input, hybrid_type type,
                                hybrid_dense *out)
{
    hybrid_status status;

    hy_input_begin(ctx, input);
    if (hy_npy_is(input))
        status = read_npy(ctx, input, type, out);
    else if (input->bytes > 0 && input->text[0] != '%')
        status = refuse(ctx, input);
    else
        status = read_array(ctx, input, type, out);
    hy_input_close(ctx, input);
    return status;
}

hybrid_status hy_read_dense(hy_context *ctx, const char *path, hybrid_type type,
                            hybrid_dense *out)
{
    hy_input input;

    HY_TRY(hy_input_open(ctx, path, &input));
    return read_input(ctx, &input, type, out);
}

hybrid_status hy_read_dense_memory(hy_context *ctx, const char *name, const void *data,
                                   size_t bytes, hybrid_type type, hybrid_dense *out)
{
    hy_input input;

    HY_TRY(hy_input_copy(ctx, name, data, bytes, &input));
    return read_input(ctx, &input, type, out);
}
